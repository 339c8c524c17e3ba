#include "framework/session/recording.h"

#include <algorithm>

#include "framework/session/capture_pool_memory.h"
#include "framework/session/host_clock.h"
#include "framework/session/warm_up.h"

namespace reprise {

CapturedGraph::Recording::Recording(std::shared_ptr<ExecutorCore> core,
                                    std::shared_ptr<const RecordedGraph> recorded, StateBlock state,
                                    const IterationRows& rows, std::vector<Port> outputs,
                                    const FinishOptions& options, FinishReport& report)
    : core_(std::move(core)),
      recorded_(std::move(recorded)),
      state_(std::move(state)),
      rows_(rows),
      outputs_(std::move(outputs)),
      growths_(growths_of(recorded_->graph)),
      pool_(options.pool),
      state_buffers_(state_.buffers()),
      limits_(limits_of(recorded_->graph.extents)),
      inputs_(recorded_->graph.inputs.size()),
      first_id_(core_->profile() == nullptr ? 0 : core_->profile()->next_id()) {
  const DriverWork work = driver_work();
  const std::size_t slots = options.slots;
  if (slots < 1 || slots > kMaxSlots) {
    throw_invalid_argument("A recording has 1 to " + std::to_string(kMaxSlots) + " slots, but (" +
                           std::to_string(slots) + ") are asked for.");
  }
  const ExecutionPlan& plan = recorded_->plan;
  const Device& device = core_->device();
  for (const Pool& planned : plan.pools) {
    pools_.push_back(planned.buffer);
  }
  if (pool_ && !recorded_->graph.host_steps.empty()) {
    throw_invalid_argument(
        "The graph '" + recorded_->graph.name +
        "' has host steps, between which other graphs of a pool could use its arena; finish it "
        "without a pool.");
  }
  if (pool_) {
    pools_[ExecutionPlan::kArena] =
        pool_.memory().admit(device, recorded_->graph.name, plan.arena_bytes, pools_);
  } else if (plan.arena_bytes > 0) {
    pools_[ExecutionPlan::kArena] =
        device.backend().allocate("arena of '" + recorded_->graph.name + "'", plan.arena_bytes,
                                  BufferKind::device, MemoryPurpose::arenas);
  }
  if (rows) {
    write_grids(device, rows.iteration, plan.steps.grids(), recorded_->graph.extents);
  }
  const std::int64_t begin = now_ns();
  HostStaging host_staging;
  for (std::uint32_t s = 0; s < plan.steps.size(); ++s) {
    if (is_host_step(plan.steps[s])) {
      host_steps_.emplace_back(device, recorded_->graph, plan.steps, s, host_staging);
    }
  }
  if (options.joined_host_steps && !host_steps_.empty()) {
    host_signal_ = device.backend().host_signal();
    segments_.resize(host_steps_.size());
  }
  if (replays()) {
    plain_ = encode_body(TimingMode::off, pools_);
  }
  const auto exchanges = [&](const std::vector<Port>& ports) {
    std::vector<Exchange> list;
    list.reserve(ports.size());
    for (const Port& port : ports) {
      list.push_back(exchange(port));
    }
    return list;
  };
  for (std::size_t i = 0; i < slots; ++i) {
    Staging staging;
    slots_.push_back({std::make_unique<Slot>(device, state_, exchanges(recorded_->graph.inputs),
                                             exchanges(outputs_), rows, staging, *this,
                                             static_cast<std::uint32_t>(i)),
                      std::vector<std::uint64_t>(inputs_.size())});
  }
  report.encode_ns = static_cast<std::uint64_t>(now_ns() - begin);
  report.steps = static_cast<std::uint32_t>(plan.steps.size());
  report.barriers =
      static_cast<std::uint32_t>(core_->serialize() ? plan.steps.size() : plan.barriers.size());
  report.arena_bytes = plan.arena_bytes;
  report.live_peak_bytes = plan.live_peak_bytes;
  report.replays = replays();
}

CapturedGraph::Recording::~Recording() {
  if (profile_id_ == 0) {
    return;  // what is in flight keeps what it uses
  }
  try {
    if (last_launch_ != nullptr) {
      last_launch_->release();
    }
    for (const SlotEntry& entry : slots_) {
      try {
        entry.slot->reclaim();  // its replay is not in the database yet
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): failed() entered it
      }
    }
    if (pools_[ExecutionPlan::kArena] != nullptr && !pool_) {
      core_->profile()->buffer_freed(*pools_[ExecutionPlan::kArena]);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a record
  }
}

const Body& CapturedGraph::Recording::body_for(TimingMode mode, std::uint32_t iterations) {
  const bool by_node = mode != TimingMode::off && mode != TimingMode::replay;
  if (!replays()) {
    const TimingMode stamped = by_node ? mode : TimingMode::off;
    once_ = encode_body(stamped, pools_);
    for (std::uint32_t i = 1; i < iterations; ++i) {
      once_.next.push_back(encode_body(stamped, pools_, once_.stamps).encoding);
    }
    return once_;
  }
  if (!by_node) {
    return plain_;
  }
  Body& timed = mode == TimingMode::node ? timed_ : serialised_;
  if (timed.encoding == nullptr) {
    if (SessionProfile* profile = core_->profile()) {
      profile->timestamp_bias();
    }
    timed = encode_body(mode, pools_);
  }
  return timed;
}

Exchange CapturedGraph::Recording::exchange(const Port& port) const {
  const GraphTensor& t = recorded_->graph.tensors[port.tensor];
  const Place& place = recorded_->plan.places[t.storage];
  return {port.name, t.spec, pools_[place.pool], place.offset + t.offset, 0};
}

void CapturedGraph::Recording::set_input(std::string_view name, DType dtype,
                                         std::span<const std::byte> bytes) {
  const std::vector<Exchange>& known = slots_[0].slot->inputs();
  const Exchange& input = find_exchange(known, graph_name(), "input", name);
  require_values(name, input.spec, dtype, bytes);
  Input& value = inputs_[static_cast<std::size_t>(&input - known.data())];
  value.bytes.assign(bytes.begin(), bytes.end());
  ++value.version;
  if (!input.spec.shape.fixed()) {
    const auto set = std::ranges::find(limits_, input.name, &ExtentLimit::input);
    if (set == limits_.end()) {
      limits_.push_back(limit_of(input.name, input.spec, bytes));
    } else {
      set->max = rows_given(input.spec, bytes);
    }
  }
}

void CapturedGraph::Recording::released() noexcept {
  { const std::lock_guard lock(release_mutex_); }  // not between the look and the wait below
  slot_released_.notify_all();
}

bool CapturedGraph::Recording::wait_for_slot(std::chrono::nanoseconds timeout) {
  const auto found = [&] {
    return last_launch_ != nullptr || std::ranges::any_of(slots_, [](const SlotEntry& entry) {
             return !entry.reserved && entry.slot->phase() != Slot::Phase::held;
           });
  };
  if (timeout <= std::chrono::nanoseconds(0)) {
    return found();
  }
  // An hour is as good as for ever, and no clock overflows.
  std::unique_lock lock(release_mutex_);
  return slot_released_.wait_for(
      lock, std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(1)), found);
}

CapturedGraph::Recording::SlotEntry* CapturedGraph::Recording::acquire(bool may_wait) {
  SlotEntry* oldest = nullptr;
  for (SlotEntry& entry : slots_) {
    Slot& slot = *entry.slot;
    if (slot.phase() == Slot::Phase::held || entry.reserved) {
      continue;
    }
    if (slot.phase() == Slot::Phase::idle || slot.done()) {
      slot.reclaim();
      return &entry;
    }
    if (oldest == nullptr || slot.sequence() < oldest->slot->sequence()) {
      oldest = &entry;
    }
  }
  if (oldest == nullptr) {
    throw Error(ErrorCode::busy,
                "All (" + std::to_string(slots_.size()) + ") slots of the graph '" +
                    recorded_->graph.name +
                    "' are held by tickets; release one, or finish the session with more slots.");
  }
  if (!may_wait) {
    return nullptr;
  }
  oldest->slot->reclaim();
  return oldest;
}

void CapturedGraph::Recording::begin_run() {
  if (in_host_step_) {
    throw_invalid_argument("The graph '" + recorded_->graph.name +
                           "' is launched by one of its own host steps.");
  }
  require_not_stale();
  if (last_launch_ != nullptr) {
    std::exchange(last_launch_, nullptr)->release();
  }
  ++runs_;
}

Slot* CapturedGraph::Recording::submit(const LaunchOptions& options, bool may_wait,
                                       AfterSubmit then) {
  if (options.iterations < 1 || options.iterations > rows_.capacity) {
    throw_invalid_argument("The graph '" + recorded_->graph.name + "' is launched with (" +
                           std::to_string(options.iterations) + ") iterations, but 1 to " +
                           std::to_string(rows_.capacity) +
                           " are possible; begin its session with more max_iterations.");
  }
  core_->require_running();
  begin_run();
  if (may_wait) {
    wait_for_slot(options.slot_timeout);
  }
  SlotEntry* entry = acquire(may_wait);
  if (entry == nullptr) {
    return nullptr;
  }
  const std::int64_t begin = now_ns();
  Slot& slot = *entry->slot;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (entry->versions[i] != inputs_[i].version) {
      entry->versions[i] = inputs_[i].version;
      std::ranges::copy(inputs_[i].bytes, slot.input_bytes(slot.inputs()[i]));
    }
  }
  start(*entry, options, then, begin);
  return &slot;
}

void CapturedGraph::Recording::start(SlotEntry& entry, const LaunchOptions& options,
                                     AfterSubmit then, std::int64_t begin_ns) {
  entry.watched = take_watch(options.iterations);
  const TimingMode mode = entry.watched ? TimingMode::off : core_->timing_mode(timing_);
  const Body& body = entry.watched ? entry.watched->body() : body_for(mode, options.iterations);
  entry.profile_id = profile_id_;
  const SlotLaunch launch{.body = body,
                          .growths = growths_,
                          .mode = mode,
                          .iterations = options.iterations,
                          .sequence = sequence_,
                          .begin_ns = begin_ns,
                          .then = then,
                          .limits = limits_};
  try {
    submit_segments(*entry.slot, launch, all_steps());
  } catch (const Error& cause) {
    entry.watched.reset();
    const Error error = entry.slot->placed(cause, sequence_);
    report(error);
    require_not_stale();  // another thread may have freed a buffer since
    throw error;
  }
  ++sequence_;
}

Slot* CapturedGraph::Recording::reserve(bool may_wait) {
  core_->require_running();
  begin_run();
  SlotEntry* entry = acquire(may_wait);
  if (entry == nullptr) {
    return nullptr;
  }
  entry->reserved = true;
  std::ranges::fill(entry->versions, 0);
  return entry->slot.get();
}

void CapturedGraph::Recording::give_back(const Slot& slot) { entry_of(slot).reserved = false; }

std::span<std::byte> CapturedGraph::Recording::input_memory(const Slot& slot,
                                                            std::size_t input_index) const {
  const Exchange& input = slot.inputs()[input_index];
  return {slot.input_bytes(input), input.spec.bytes()};
}

Ticket CapturedGraph::Recording::submit_reserved(Slot& slot, AfterSubmit then) {
  SlotEntry& entry = entry_of(slot);
  entry.reserved = false;
  require_not_stale();
  start(entry, {}, then, now_ns());
  return Ticket({shared_from_this(), &slot});
}

void CapturedGraph::Recording::launch(const LaunchOptions& options) {
  Slot* slot = submit(options, true, AfterSubmit::will_wait);
  try {
    slot->wait();
  } catch (...) {
    slot->release();
    throw;
  }
  last_launch_ = slot;
}

std::optional<Ticket> CapturedGraph::Recording::launch_async(const LaunchOptions& options,
                                                             bool may_wait) {
  Slot* slot = submit(options, may_wait, AfterSubmit::will_continue);
  if (slot == nullptr) {
    return std::nullopt;
  }
  return Ticket({shared_from_this(), slot});
}

std::size_t CapturedGraph::Recording::held_slots() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      slots_, [](const SlotEntry& e) { return e.slot->phase() == Slot::Phase::held; }));
}

bool CapturedGraph::Recording::in_use() {
  return std::ranges::any_of(slots_, [](const SlotEntry& e) {
    const Slot::Phase phase = e.slot->phase();
    return phase == Slot::Phase::held || (phase == Slot::Phase::released && !e.slot->done());
  });
}

std::uint64_t CapturedGraph::Recording::bytes() const {
  const std::shared_ptr<Buffer>& arena = pools_[ExecutionPlan::kArena];
  std::uint64_t sum = arena == nullptr || pool_ ? 0 : arena->bytes();  // a pool is shared
  for (const SlotEntry& entry : slots_) {
    sum += entry.slot->bytes();
  }
  return sum;
}

const Slot& CapturedGraph::Recording::last_launch() const {
  if (last_launch_ == nullptr) {
    throw_invalid_argument(
        "The graph '" + recorded_->graph.name +
        "' holds no outputs: there was no launch(), or a later launch took them. Tickets hold "
        "those of launch_async().");
  }
  return *last_launch_;
}

std::uint64_t CapturedGraph::Recording::upload() {
  require_not_stale();
  if (is_uploaded()) {
    return 0;
  }
  const auto running = core_->hold_running();
  const DriverWork work = driver_work();
  uploaded_ = true;
  return warm_up(core_->device().backend(), recorded_->plan.steps).ns;
}

void CapturedGraph::Recording::completed(const Slot& slot) {
  replays_.fetch_add(slot.ran(), std::memory_order_relaxed);
  if (profile_id_ != 0) {
    profile_watched(entry_of(slot));
    profile_replays(slot);
  }
}

void CapturedGraph::Recording::failed(const Slot& slot, const Error& error) noexcept {
  if (profile_id_ != 0 && error.code() == ErrorCode::device_lost) {
    profile_replay(slot, 0, ReplayStatus::failed);  // after a timeout it may still complete
  }
  report(error);
}

void CapturedGraph::Recording::report(const Error& error) const noexcept {
  if (profile_id_ != 0) {
    core_->profile()->error(error, 0, profile_id_);
  }
}

}  // namespace reprise
