#include "framework/session/executor/executor_core.h"

#include <algorithm>

#include "framework/session/executor/host_clock.h"

namespace reprise {
ExecutorCore::ExecutorCore(Device device, const ExecutorOptions& options)
    : device_(std::move(device)),
      log_(options.log),
      traits_(device_.backend().traits()),
      empty_state_(device_.zeros({StateLayout::kMaxWords}, DType::i32, "empty state")),
      can_time_(device_.info().timestamp_valid_bits != 0),
      timing_mode_(options.timing),
      serialize_(options.serialize),
      arenas_(options.arenas) {
  traits_.precision = options.precision;
  idle_arenas_.reserve(std::min(arenas_.max_idle, ArenaOptions().max_idle));
  if (!options.profile.empty()) {
    profile_.emplace(
        open_profile(options.profile, options.run, options.log, options.profile_limits), device_);
    if (auto messages = device_.backend().driver_messages()) {
      driver_events_ = std::make_unique<DriverEvents>(std::move(messages), profile_->shared_sink());
    }
  }
  if (!options.watches.empty()) {
    set_watches(options.watches);
  }
}

void ExecutorCore::set_watches(std::vector<TensorWatch> watches) {
  if (!profile_) {
    throw_invalid_argument(
        "Tensors are watched for a profiling database, but this executor writes none; set "
        "ExecutorOptions::profile.");
  }
  for (const TensorWatch& watch : watches) {
    if (watch.every < 1 || (watch.tensors.empty() && !watch.rows_outside)) {
      throw_invalid_argument("The tensors '", watch.tensors, "' are watched every (", watch.every,
                             ") launches; a pattern and 1 or more are needed.");
    }
  }
  auto shared = std::make_shared<const std::vector<TensorWatch>>(std::move(watches));
  const std::lock_guard lock(mutex_);
  watches_ = std::move(shared);
  watch_version_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const std::vector<TensorWatch>> ExecutorCore::watches() {
  const std::lock_guard lock(mutex_);
  return watches_;
}

TimingMode ExecutorCore::timing_mode(std::optional<TimingMode> wanted) const {
  const TimingMode mode = wanted.value_or(timing_mode_.load(std::memory_order_relaxed));
  if (!can_time_) {
    return TimingMode::off;
  }
  const bool overlaps = traits_.overlaps_dispatches;
  return mode == TimingMode::node && overlaps ? TimingMode::node_serialised : mode;
}

void ExecutorCore::warn(const char* source, const char* code, const std::string& message,
                        std::uint64_t recording) {
  if (log_) {
    log_(LogLevel::warning, message);
  }
  if (profile_) {
    profile_->sink().send(EventRecord{.severity = LogLevel::warning,
                                      .source = source,
                                      .code = code,
                                      .message = message,
                                      .recording = recording,
                                      .time_ns = now_ns()});
  }
}

void ExecutorCore::shutdown() {
  running_ = false;
  { const std::unique_lock nobody_submits(submitting_); }
  device_.synchronize();
  if (driver_events_) {
    driver_events_->report_repeats();
  }
  if (profile_) {
    profile_->memory();
    profile_->sink().flush();
  }
}

std::vector<std::unique_ptr<DirectArena>> ExecutorCore::take_idle_arenas() {
  std::vector<std::unique_ptr<DirectArena>> taken;
  const std::lock_guard lock(mutex_);
  for (std::unique_ptr<DirectArena>& arena : idle_arenas_) {
    if (device_.backend().complete(arena->in_use_until)) {
      taken.push_back(std::move(arena));
    }
  }
  std::erase(idle_arenas_, nullptr);
  return taken;
}

void ExecutorCore::keep_arena(std::unique_ptr<DirectArena> arena) {
  const std::lock_guard lock(mutex_);
  if (idle_arenas_.size() < arenas_.max_idle) {
    idle_arenas_.push_back(std::move(arena));
  }
}

void ExecutorCore::trim() {
  take_idle_arenas().clear();
  device_.trim();
}

void ExecutorCore::defragment() {
  for (std::unique_ptr<DirectArena>& arena : take_idle_arenas()) {
    arena->join_chunks(device_);
    keep_arena(std::move(arena));
  }
}

void ExecutorCore::require_running() const {
  if (!running_) {
    throw Error(ErrorCode::shut_down,
                "The executor was shut down; nothing of it can be recorded or launched any more.");
  }
}

std::shared_lock<std::shared_mutex> ExecutorCore::hold_running() {
  std::shared_lock lock(submitting_);
  require_running();
  return lock;
}

std::uint64_t ExecutorCore::next_owner() {
  // Serials are unique in the process: a tensor of one executor is foreign to every other.
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

GraphSizes ExecutorCore::last_sizes() {
  const std::lock_guard lock(mutex_);
  return last_sizes_;
}

void ExecutorCore::set_last_sizes(const GraphSizes& sizes) {
  constexpr std::size_t kMaxNodes = 4096;
  const std::lock_guard lock(mutex_);
  last_sizes_ = sizes.nodes <= kMaxNodes ? sizes : GraphSizes();
}

ExecutorCore::ArenaLoan ExecutorCore::borrow_arena(const std::shared_ptr<ExecutorCore>& core) {
  std::unique_ptr<DirectArena> arena;
  {
    const std::lock_guard lock(core->mutex_);
    auto& idle = core->idle_arenas_;
    const auto usable = [&](const auto& a) {
      return core->device_.backend().complete(a->in_use_until) ? a->bytes() + 1 : 0;
    };
    const auto largest = std::ranges::max_element(idle, {}, usable);
    if (largest != idle.end() && usable(*largest) != 0) {
      arena = std::move(*largest);
      idle.erase(largest);
    }
  }
  if (arena == nullptr) {
    arena = std::make_unique<DirectArena>(core->arenas_.first_chunk_bytes);
  }
  return {arena.release(), [core](DirectArena* returned) {
            std::unique_ptr<DirectArena> kept(returned);
            kept->reset();
            core->keep_arena(std::move(kept));
          }};
}

}  // namespace reprise
