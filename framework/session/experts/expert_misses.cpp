// The products of experts that have no cell, computed by the CPU backend from the host's weights.
#include <algorithm>

#include "framework/session/experts/expert_residency.h"
#include "reprise/ops/matmul_experts.h"

namespace reprise {

const Tensor& ExpertResidency::on_cpu(const Product& product) {
  const ExpertStore::Layer& layer = *layers_[product.layer].of;
  std::vector<Tensor>& tensors = weights_on_cpu_[product.layer];
  tensors.resize(layer.projections.size());
  Tensor& tensor = tensors[product.projection];
  if (!tensor) {
    constexpr std::uintptr_t kPage = 4096;
    const ExpertStore::Projection& p = layer.projections[product.projection];
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

void ExpertResidency::compute_misses(const Product& product, const TensorSpec& x_spec,
                                     std::span<const std::byte> x, const TensorSpec& ids_spec,
                                     std::span<const std::int32_t> ids, std::span<float> y) {
  Layer& layer = layers_[product.layer];
  if (product.first) {
    count(layer, ids, ids_spec.shape.dim(0));
    count_uses(layer, ids);
  }
  // Experts by their number, but for those whose products the device computes.
  std::vector<std::int32_t> table;
  for (std::size_t e = 0; e < layer.cell_of.size(); ++e) {
    table.push_back(layer.cell_of[e] == kNone ? static_cast<std::int32_t>(e) : kNone);
  }
  const bool any = std::ranges::any_of(ids, [&](std::int32_t id) {
    return id >= 0 && static_cast<std::size_t>(id) < table.size() &&
           table[static_cast<std::size_t>(id)] != kNone;
  });
  if (any) {
    GraphSession s = cpu_->begin({.name = "missing experts"});
    const Tensor rows = s.input("x", x_spec.shape, x_spec.dtype, x);
    const Tensor chosen = s.input("ids", ids_spec.shape, DType::i32, std::as_bytes(ids));
    const Tensor places =
        s.input("table", {static_cast<std::int64_t>(table.size())}, std::span(table));
    s.output("y", matmul_experts(s, rows, on_cpu(product), chosen, places));
    const FinishResult result = s.finish();
    std::ranges::copy(result.outputs().find("y").bytes, std::as_writable_bytes(y).begin());
  } else {
    std::ranges::fill(y, 0.0F);
  }
}

}  // namespace reprise
