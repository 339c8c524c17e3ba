#include "framework/session/replay/watched_launches.h"

#include <algorithm>

#include "framework/session/executor/host_clock.h"

namespace reprise {

WatchInFlight::WatchInFlight(std::shared_ptr<WatchedLaunch> launch,
                             std::shared_ptr<const ExecutionPlan> plan)
    : launch_(std::move(launch)), plan_(std::move(plan)) {
  launch_->in_flight.store(true, std::memory_order_relaxed);
}

TensorsRecord WatchInFlight::read(const Slot& slot) const {
  TensorsRecord record;
  if (slot.ran() == 0 || slot.ran() != slot.iterations()) {
    return record;
  }
  record.sequence = slot.sequence();
  record.iteration = slot.ran() - 1;
  record.plan = plan_;
  record.contents = launch_->watch.contents;
  record.not_finite = launch_->watch.not_finite;
  record.time_ns = now_ns();
  record.bytes.reserve(launch_->list.bytes);
  for (const Tap& tap : launch_->list.taps) {
    const std::span<const std::uint32_t> state = slot.state_words(record.iteration);
    const TensorSpec spec = settled(plan_->graph->tensors[tap.tensor].spec, state);
    record.tensors.push_back({tap.tensor, tap.node, spec, record.bytes.size()});
    if (tap.table != kNoIndex) {
      record.tensors.back().rows = rows_of(*plan_, tap, state);
    }
    const std::byte* begin = launch_->staging->mapped() + tap.staging_offset;
    record.bytes.insert(record.bytes.end(), begin, begin + spec.bytes());
  }
  return record;
}

void WatchedLaunches::find(ExecutorCore& core, const ExecutionPlan& plan, std::uint64_t recording) {
  const std::string graph = "the graph '" + plan.graph->name + "'";
  const std::uint64_t max_bytes =
      std::min(kMaxWatchedBytes, core.profile()->sink().max_tensor_bytes());
  launches_.clear();
  std::size_t left_out = 0;
  try {
    for (const TensorWatch& watch : *core.watches()) {
      auto launch = std::make_shared<WatchedLaunch>();
      launch->watch = watch;
      launch->list = find_taps(plan, watch, max_bytes);
      left_out += launch->list.left_out;
      if (!launch->list.taps.empty()) {
        launch->staging = core.device().backend().allocate(
            "watched tensors", launch->list.bytes, BufferKind::download, MemoryPurpose::exchange);
        launches_.push_back(std::move(launch));
      }
    }
    if (left_out > 0) {
      core.warn("watch", "watch_too_large",
                "(" + std::to_string(left_out) + ") watched results of " + graph +
                    " are left out: all of them would be more than (" + std::to_string(max_bytes) +
                    ") bytes of one launch.",
                recording);
    }
  } catch (const std::exception& error) {
    core.warn("watch", "watch_failed", "T" + graph.substr(1) + " is not watched: " + error.what(),
              recording);
  }
}

std::unique_ptr<WatchInFlight> WatchedLaunches::take(
    std::uint64_t sequence, ExecutorCore& core, const std::shared_ptr<const ExecutionPlan>& plan,
    std::uint64_t recording, const EncodeBody& encode) {
  if (version_ != core.watch_version()) {
    version_ = core.watch_version();
    find(core, *plan, recording);
  }
  std::shared_ptr<WatchedLaunch> next;
  for (const std::shared_ptr<WatchedLaunch>& launch : launches_) {
    const bool may = launch->due <= sequence && !launch->in_flight.load(std::memory_order_acquire);
    if (may && (next == nullptr || launch->due < next->due)) {
      next = launch;
    }
  }
  if (next == nullptr) {
    return nullptr;
  }
  if (!core.traits().replays || next->body.encoding == nullptr) {
    next->body = encode({next->list.taps, next->staging});
  }
  next->due = (sequence / next->watch.every + 1) * next->watch.every;
  return std::make_unique<WatchInFlight>(next, plan);
}

void WatchedLaunches::forget_bodies() {
  for (const auto& launch : launches_) {
    launch->body = Body();
  }
}

}  // namespace reprise
