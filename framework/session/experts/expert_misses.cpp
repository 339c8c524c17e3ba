// The results of experts that have no cell, computed by the CPU backend from the host's weights.
#include <algorithm>

#include "framework/session/experts/expert_residency.h"
#include "framework/session/record/repeated_calls.h"

namespace reprise {

const Tensor& ExpertResidency::on_cpu(Layer& layer, std::size_t projection) {
  layer.on_cpu.resize(layer.of->projections.size());
  Tensor& tensor = layer.on_cpu[projection];
  if (!tensor) {
    constexpr std::uintptr_t kPage = 4096;
    const ExpertStore::Projection& p = layer.of->projections[projection];
    const Device& cpu = cpu_->device();
    if (reinterpret_cast<std::uintptr_t>(p.bytes.data()) % kPage == 0) {
      if (auto buffer = cpu.import(p.name, p.bytes, p.owner)) {
        tensor = Tensor::over(std::move(buffer), p.spec, 0, p.name);
      }
    }
    if (!tensor) {
      tensor = cpu.from_host(p.spec.shape, p.spec.dtype, p.bytes, p.name);
    }
  }
  return tensor;
}

void ExpertResidency::compute_misses(std::size_t of_layer, const RepeatedCalls& calls,
                                     HostStepCall& call) {
  Layer& layer = layers_[of_layer];
  const std::span<const std::int32_t> ids = call.input<std::int32_t>(0);
  count(layer, ids, call.input_spec(0).shape.dim(0));
  count_uses(layer, ids);
  // Experts by their number, but for those whose products the device computes.
  std::vector<std::int32_t> table;
  for (std::size_t e = 0; e < layer.cell_of.size(); ++e) {
    table.push_back(layer.cell_of[e] == kNone ? static_cast<std::int32_t>(e) : kNone);
  }
  const auto missing = [&](std::int32_t id) {
    return id >= 0 && static_cast<std::size_t>(id) < table.size() &&
           table[static_cast<std::size_t>(id)] != kNone;
  };
  if (std::ranges::none_of(ids, missing)) {
    return;
  }
  GraphSession s = cpu_->begin({.name = "missing experts"});
  std::vector<Tensor> given{
      s.input("ids", call.input_spec(0).shape, DType::i32, call.input(0)),
      s.input("table", {static_cast<std::int64_t>(table.size())}, std::span(table))};
  for (std::size_t p = 0; p < layer.of->projections.size(); ++p) {
    given.push_back(on_cpu(layer, p));
  }
  for (std::size_t i = 1; i < call.input_count(); ++i) {
    const TensorSpec& spec = call.input_spec(i);
    given.push_back(s.input("x" + std::to_string(i), spec.shape, spec.dtype, call.input(i)));
  }
  s.output("y", calls.replay(s, given));
  const FinishResult result = s.finish();
  const std::span<const std::byte> computed = result.outputs().find("y").bytes;
  const std::span<std::byte> y = call.in_place();
  const std::size_t row = y.size() / ids.size();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (missing(ids[i])) {
      std::ranges::copy(computed.subspan(i * row, row), y.subspan(i * row, row).begin());
    }
  }
}

}  // namespace reprise
