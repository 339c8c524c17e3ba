#include "framework/session/experts/expert_runs.h"

#include <algorithm>

#include "framework/session/executor/host_clock.h"

namespace reprise {

ExpertRuns::ExpertRuns(std::shared_ptr<ExecutorCore> core, const ExpertSetup& setup,
                       std::span<const ExpertCall> calls)
    : core_(std::move(core)), residency_(core_->device(), setup), taken_(residency_.layer_count()) {
  for (const ExpertCall& call : calls) {
    layers_.push_back({.layer = residency_.layer_of(call.layer),
                       .rows = call.rows,
                       .used = call.used,
                       .stops = !call.stops.empty(),
                       .counts_rows = call.counts_rows});
  }
}

bool ExpertRuns::stops() const {
  return std::ranges::any_of(layers_, &ExpertResidency::LayerRun::stops);
}

void ExpertRuns::end_run(const Run& ended) {
  const std::uint64_t run = residency_.runs();
  for (std::size_t call = 0; call < layers_.size(); ++call) {
    layers_[call].idle_ns = ended.idle_ns[call];
    layers_[call].iterations = ended.iterations;
    if (layers_[call].counts_rows) {
      layers_[call].rows = ended.rows;
    }
  }
  residency_.end_run(layers_);
  SessionProfile* profile = core_->profile();
  if (profile == nullptr) {
    return;
  }
  for (const auto& layer : layers_) {
    const ExpertStats& stats = residency_.last(layer.layer);
    profile->sink().send(ExpertRecord{.recording = ended.recording,
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

std::vector<ExpertStats> ExpertRuns::stats(bool take) {
  std::vector<ExpertStats> all, since;
  for (std::size_t layer = 0; layer < residency_.layer_count(); ++layer) {
    all.push_back(residency_.total(layer));
    since.push_back(all.back() - taken_[layer]);
  }
  if (take) {
    taken_ = all;
  }
  return take ? since : all;
}

}  // namespace reprise
