// The experts of an executable graph: where they are, and what its routers chose.
#include <algorithm>

#include "framework/session/executable_instance.h"
#include "framework/session/expert_recording.h"
#include "framework/session/host_clock.h"

namespace reprise {

ExpertResidency& ExecutableInstance::residency() const {
  if (residency_ == nullptr) {
    throw_invalid_argument("The executable '" + program_->options().name +
                           "' has no experts; see ExecutableOptions::experts.");
  }
  return *residency_;
}

std::size_t ExecutableInstance::layer_of(std::string_view layer) const {
  const ExpertStore& store = residency().setup().store;
  return static_cast<std::size_t>(&store.layer(layer) - store.layers().data());
}

void ExecutableInstance::set_resident_experts(std::string_view layer,
                                              const std::vector<bool>& resident) {
  require_free();
  residency().set_resident(layer_of(layer), resident);
}

void ExecutableInstance::set_resident_experts(const std::vector<bool>& resident) {
  require_free();
  for (std::size_t layer = 0; layer < residency().layer_count(); ++layer) {
    residency_->set_resident(layer, resident);
  }
}

std::vector<bool> ExecutableInstance::resident_experts(std::string_view layer) const {
  return residency().resident(layer_of(layer));
}

void ExecutableInstance::end_expert_run(std::uint64_t recording) {
  std::vector<ExpertResidency::LayerRun> layers;
  for (const ExpertCall& call : program_->expert_calls()) {
    layers.push_back({layer_of(call.layer), call.rows, call.used});
  }
  const std::uint64_t run = residency_->runs();
  residency_->end_run(layers);
  SessionProfile* profile = program_->core()->profile();
  if (profile == nullptr) {
    return;
  }
  for (const auto& layer : layers) {
    const ExpertStats& stats = residency_->last(layer.layer);
    profile->sink().experts({.recording = recording,
                             .run = run,
                             .layer = stats.layer,
                             .tokens_device = stats.tokens_device,
                             .tokens_host = stats.tokens_host,
                             .calls_device = stats.calls_device,
                             .calls_host = stats.calls_host,
                             .hits = stats.hits,
                             .misses = stats.misses,
                             .promotions = stats.promotions,
                             .demotions = stats.demotions,
                             .bytes_moved = stats.bytes_moved,
                             .stall_ns = stats.stall_ns,
                             .time_ns = now_ns()});
  }
}

std::vector<ExpertStats> ExecutableInstance::expert_stats(bool take) {
  std::vector<ExpertStats> all, since;
  taken_.resize(residency().layer_count());
  for (std::size_t layer = 0; layer < residency_->layer_count(); ++layer) {
    const ExpertStats& now = residency_->total(layer);
    const ExpertStats& before = taken_[layer];
    all.push_back(now);
    since.push_back({.layer = now.layer,
                     .runs = now.runs - before.runs,
                     .tokens_device = now.tokens_device - before.tokens_device,
                     .tokens_host = now.tokens_host - before.tokens_host,
                     .calls_device = now.calls_device - before.calls_device,
                     .calls_host = now.calls_host - before.calls_host,
                     .hits = now.hits - before.hits,
                     .misses = now.misses - before.misses,
                     .promotions = now.promotions - before.promotions,
                     .demotions = now.demotions - before.demotions,
                     .bytes_moved = now.bytes_moved - before.bytes_moved,
                     .stall_ns = now.stall_ns - before.stall_ns});
  }
  if (take) {
    taken_ = all;
  }
  return take ? since : all;
}

void ExecutableInstance::capture_routes(std::uint32_t runs) {
  require_free();
  const std::uint64_t now = residency().runs();
  std::vector<NamedTensor> rings;
  for (const ExpertCall& call : program_->expert_calls()) {
    if (runs != 0) {
      const std::string name = expert_routes_name(call.layer);
      rings.push_back({name, program_->core()->device().zeros({runs, call.rows * call.used},
                                                              DType::i32, name)});
    }
  }
  route_rings_ = std::move(rings);
  route_runs_ = runs;
  routes_from_ = now;
  made_.clear();
}

RouteCapture ExecutableInstance::take_routes() {
  const std::uint64_t end = residency().runs();
  if (route_runs_ == 0) {
    throw_invalid_argument("The executable '" + program_->options().name +
                           "' captures no routes; call capture_routes() before its runs.");
  }
  RouteCapture capture;
  const std::uint64_t kept = std::min<std::uint64_t>(end - routes_from_, route_runs_);
  capture.dropped = end - routes_from_ - kept;
  std::vector<std::vector<std::byte>> rings;
  for (const NamedTensor& ring : route_rings_) {
    rings.push_back(program_->core()->device().to_host(ring.tensor));
  }
  for (std::uint64_t run = end - kept; run < end; ++run) {
    for (std::size_t i = 0; i < rings.size(); ++i) {
      const ExpertCall& call = program_->expert_calls()[i];
      RoutedRun routed{.run = run, .layer = call.layer, .rows = call.rows, .used = call.used};
      routed.ids.resize(static_cast<std::size_t>(call.rows * call.used));
      const auto row = std::span(routed.ids);
      std::ranges::copy(
          std::span(rings[i]).subspan(run % route_runs_ * row.size_bytes(), row.size_bytes()),
          std::as_writable_bytes(row).begin());
      capture.runs.push_back(std::move(routed));
    }
  }
  routes_from_ = end;
  return capture;
}

}  // namespace reprise
