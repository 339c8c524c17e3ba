#include "reprise/session/graph_executor.h"

#include <sstream>
#include <thread>

#include "framework/session/device_clock.h"
#include "framework/session/executor_core.h"
#include "reprise/session/results.h"

namespace reprise {
namespace {

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

ExecutorCore::ExecutorCore(Device device, ExecutorOptions options)
    : device_(std::move(device)),
      empty_state_(device_.zeros({StateLayout::kMaxWords}, DType::i32, "empty state")),
      can_time_(device_.info().timestamp_valid_bits != 0),
      timing_mode_(options.timing) {
  if (!options.profile.empty()) {
    profile_ = open_profile(options.profile, options.run, std::move(options.log));
    profile_->device(device_.info());
    profile_clock();
  }
}

TimingMode ExecutorCore::timing_mode(std::optional<TimingMode> wanted) const {
  const TimingMode mode = wanted.value_or(timing_mode_.load(std::memory_order_relaxed));
  if (!can_time_) {
    return TimingMode::off;
  }
  const bool overlaps = device_.backend().traits().overlaps_dispatches;
  return mode == TimingMode::node && overlaps ? TimingMode::node_serialised : mode;
}

void ExecutorCore::profile_clock() {
  if (profile_ != nullptr) {
    if (const auto record = compare_clocks(device_.backend())) {
      profile_->clock(*record);
    }
  }
}

void ExecutorCore::profile_timestamp_bias() {
  if (profile_ != nullptr) {
    std::call_once(bias_measured_,
                   [this] { profile_->timestamp_bias(measure_timestamp_bias(device_.backend())); });
  }
}

void ExecutorCore::profile_host_scope(HostScopeRecord record) {
  if (profile_ != nullptr) {
    record.id = record.id == 0 ? profile_->next_id() : record.id;
    std::ostringstream thread;
    thread << std::this_thread::get_id();
    record.thread = thread.str();
    profile_->host_scope(std::move(record));
  }
}

void ExecutorCore::profile_error(const Error& error, std::uint64_t session,
                                 std::uint64_t recording) noexcept {
  if (profile_ == nullptr) {
    return;
  }
  try {
    profile_->event({.severity = LogLevel::error,
                     .source = session == 0 ? "launch" : "session",
                     .code = std::string(name_of(error.code())),
                     .message = error.what(),
                     .session = session,
                     .recording = recording,
                     .time_ns = now_ns()});
  } catch (...) {  // NOLINT(bugprone-empty-catch): the user gets the error itself
  }
}

void ExecutorCore::profile_session(SessionRecord record, const FinishReport& report,
                                   std::string outcome) {
  if (profile_ == nullptr) {
    return;
  }
  record.end_ns = now_ns();
  record.ops = report.ops;
  record.barriers = report.barriers;
  record.submits = outcome == "finished" ? 1 : 0;
  record.arena_growths = report.arena_growths;
  record.encode_ns = report.encode_ns;
  record.submit_ns = report.submit_ns;
  record.wait_ns = report.wait_ns;
  record.device_ns = report.device_ns;
  record.outcome = std::move(outcome);
  const std::uint64_t whole = profile_->next_id();
  profile_host_scope({.id = whole,
                      .name = record.name,
                      .category = "session",
                      .start_ns = record.begin_ns,
                      .duration_ns = static_cast<std::uint64_t>(record.end_ns - record.begin_ns)});
  std::int64_t start = record.begin_ns;
  const std::pair<const char*, std::uint64_t> parts[] = {{"record", report.record_ns},
                                                         {"plan", report.plan_ns},
                                                         {"encode", report.encode_ns},
                                                         {"submit", report.submit_ns},
                                                         {"wait", report.wait_ns}};
  for (const auto& [name, duration] : parts) {
    if (duration != 0) {
      profile_host_scope({.parent = whole,
                          .name = name,
                          .category = "session",
                          .start_ns = start,
                          .duration_ns = duration});
      start += static_cast<std::int64_t>(duration);
    }
  }
  profile_->session(std::move(record));
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
  constexpr std::size_t kMostNodes = 4096;
  const std::lock_guard lock(mutex_);
  last_sizes_ = sizes.nodes <= kMostNodes ? sizes : GraphSizes();
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
    arena = std::make_unique<DirectArena>();
  }
  return {arena.release(), [core](DirectArena* returned) {
            returned->reset();
            const std::lock_guard lock(core->mutex_);
            core->idle_arenas_.emplace_back(returned);
          }};
}

std::uint64_t ExecutorCore::profile_buffer(const std::shared_ptr<Buffer>& buffer,
                                           std::string_view kind) {
  const std::lock_guard lock(mutex_);
  std::uint64_t& id = buffer_ids_[{buffer.get(), buffer->created_ns()}];
  if (id == 0) {
    id = profile_->next_id();
    profile_->buffer(
        {id, buffer->name(), std::string(kind), buffer->bytes(), buffer->created_ns()});
  }
  return id;
}

void ExecutorCore::profile_buffer_freed(const Buffer& buffer) {
  const std::lock_guard lock(mutex_);
  const auto it = buffer_ids_.find({&buffer, buffer.created_ns()});
  if (it != buffer_ids_.end()) {
    profile_->buffer_freed(it->second, now_ns());
    buffer_ids_.erase(it);
  }
}

GraphExecutor::GraphExecutor(Device device, ExecutorOptions options)
    : core_(std::make_shared<ExecutorCore>(std::move(device), std::move(options))) {}

const Device& GraphExecutor::device() const { return core_->device(); }

void GraphExecutor::set_timing(TimingMode mode) const { core_->set_timing_mode(mode); }

HostScope GraphExecutor::host_scope(std::string name) const {
  return {core_->profile() == nullptr ? nullptr : core_, std::move(name)};
}

std::optional<ProfileHealth> GraphExecutor::profile_health() const {
  return core_->profile() == nullptr ? std::nullopt : std::optional(core_->profile()->health());
}

HostScope::HostScope(std::shared_ptr<ExecutorCore> core, std::string name)
    : core_(std::move(core)), name_(std::move(name)), start_ns_(now_ns()) {}

HostScope::~HostScope() {
  if (core_ != nullptr) {
    core_->profile_host_scope({.name = std::move(name_),
                               .category = "user",
                               .start_ns = start_ns_,
                               .duration_ns = static_cast<std::uint64_t>(now_ns() - start_ns_)});
  }
}

GraphSession GraphExecutor::begin(SessionOptions options) {
  return {core_, GraphSession::Mode::direct, std::move(options)};
}

GraphSession GraphExecutor::begin_recorded(SessionOptions options) {
  return {core_, GraphSession::Mode::recorded, std::move(options)};
}

}  // namespace reprise
