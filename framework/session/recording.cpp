#include "framework/session/recording.h"

#include <algorithm>

#include "framework/session/host_clock.h"
#include "framework/session/warm_up.h"

namespace reprise {

namespace {

std::vector<Port> chosen(const std::vector<Port>& ports,
                         const std::optional<std::vector<std::uint32_t>>& which) {
  std::vector<Port> list;
  for (std::uint32_t i = 0; i < ports.size(); ++i) {
    if (!which || std::ranges::count(*which, i) != 0) {
      list.push_back(ports[i]);
    }
  }
  return list;
}

}  // namespace

CapturedGraph::Recording::Recording(std::shared_ptr<ExecutorCore> core, const PassPlan& plan,
                                    const Memory::Sources& sources, const Options& options,
                                    FinishReport& report)
    : core_(std::move(core)),
      plan_(plan.execution),
      memory_(*core_, plan, sources),
      outputs_(chosen(graph().outputs, options.outputs)),
      rows_(memory_.rows()),
      growths_(growths_of(graph())),
      context_(options.context),
      limits_(limits_of(graph().extents)),
      inputs_(graph().inputs.size()),
      first_id_(core_->profile() == nullptr ? 0 : core_->profile()->next_id()) {
  const DriverWork work = driver_work();
  const Device& device = core_->device();
  if (rows_ && options.outputs) {
    std::vector<std::uint32_t> words;
    for (const std::uint32_t i : *options.outputs) {
      words.push_back(rows_.output_words[i]);
    }
    rows_.output_words = std::move(words);
  }
  const std::int64_t begin = now_ns();
  HostStaging host_staging;
  const StepList& steps = plan_->steps;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    if (is_host_step(steps[s])) {
      host_steps_.emplace_back(device, graph(), plan.functions.at(steps[s].node), steps, s,
                               host_staging);
    }
  }
  if (options.joined_host_steps && !host_steps_.empty()) {
    host_signal_ = device.backend().host_signal();
    segments_.resize(host_steps_.size());
  }
  if (replays()) {
    plain_ = encode_body(TimingMode::off);
  }
  const auto exchanges = [&](const std::vector<Port>& ports) {
    std::vector<Exchange> list;
    list.reserve(ports.size());
    for (const Port& port : ports) {
      list.push_back(exchange(port));
    }
    return list;
  };
  for (std::size_t i = 0; i < options.slots; ++i) {
    Staging staging;
    slots_.push_back(
        {std::make_unique<Slot>(device, state(), exchanges(graph().inputs), exchanges(outputs_),
                                rows_, staging, *this, static_cast<std::uint32_t>(i)),
         std::vector<std::uint64_t>(inputs_.size())});
  }
  report.encode_ns = static_cast<std::uint64_t>(now_ns() - begin);
  report.steps = static_cast<std::uint32_t>(steps.size());
  report.barriers =
      static_cast<std::uint32_t>(core_->serialize() ? steps.size() : plan_->barriers.size());
  report.arena_bytes = plan_->arena_bytes;
  report.live_peak_bytes = plan_->live_peak_bytes;
  report.replays = replays();
}

std::shared_ptr<CapturedGraph::Recording> CapturedGraph::Recording::make(
    std::shared_ptr<ExecutorCore> core, const PassPlan& plan, const Memory::Sources& sources,
    const Options& options, FinishReport& report) {
  if (options.slots < 1 || options.slots > kMaxSlots) {
    throw_invalid_argument("A recording has 1 to " + std::to_string(kMaxSlots) + " slots, but (" +
                           std::to_string(options.slots) + ") are asked for.");
  }
  auto recording = std::make_shared<Recording>(std::move(core), plan, sources, options, report);
  recording->require_not_stale();  // also where nothing encodes with the buffer yet
  return recording;
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
    if (const Buffer* arena = memory_.own_arena()) {
      core_->profile()->buffer_freed(*arena);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a record
  }
}

const Body& CapturedGraph::Recording::body_for(TimingMode mode, std::uint32_t iterations) {
  const bool by_node = mode != TimingMode::off && mode != TimingMode::replay;
  if (!replays()) {
    const TimingMode stamped = by_node ? mode : TimingMode::off;
    once_ = encode_body(stamped);
    for (std::uint32_t i = 1; i < iterations; ++i) {
      once_.next.push_back(encode_body(stamped, once_.stamps).encoding);
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
    timed = encode_body(mode);
  }
  return timed;
}

Exchange CapturedGraph::Recording::exchange(const Port& port) const {
  const GraphTensor& t = graph().tensors[port.tensor];
  return {port.name, t.spec, memory_.buffer_of(t.storage),
          plan_->places[t.storage].offset + t.offset, 0};
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
                "All (" + std::to_string(slots_.size()) + ") slots of the graph '" + graph().name +
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
    throw_invalid_argument("The graph '" + graph().name +
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
    throw_invalid_argument("The graph '" + graph().name + "' is launched with (" +
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
  const Buffer* arena = memory_.own_arena();
  std::uint64_t sum = arena == nullptr ? 0 : arena->bytes();
  for (const SlotEntry& entry : slots_) {
    sum += entry.slot->bytes();
  }
  return sum;
}

const Slot& CapturedGraph::Recording::last_launch() const {
  if (last_launch_ == nullptr) {
    throw_invalid_argument(
        "The graph '" + graph().name +
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
  return warm_up(core_->device().backend(), plan_->steps).ns;
}

std::optional<std::string> CapturedGraph::Recording::stale() {
  const Buffer* freed = memory_.first_freed();
  if (freed == nullptr) {
    return std::nullopt;
  }
  if (SessionProfile* profile = core_->profile()) {
    profile->buffer_freed(*freed);  // nobody told the executor earlier
  }
  return "The graph '" + graph().name + "' is stale: its buffer (" + freed->name() +
         ") was freed. Record it again, or rebind() it to the tensor that took its place.";
}

void CapturedGraph::Recording::require_not_stale() {
  if (const auto reason = stale()) {
    throw Error(ErrorCode::stale, *reason);
  }
}

void CapturedGraph::Recording::rebind(const TensorRef& from, const TensorRef& to) {
  Memory memory = memory_.rebound(from, to);
  const std::shared_ptr<Buffer> old = from->buffer;
  if (old == to->buffer) {
    return;
  }
  const std::int64_t begin = now_ns();
  // With another buffer freed nothing can be launched: the rebind that replaces the last one
  // encodes.
  Body body = memory.first_freed() == nullptr
                  ? encode_steps(all_steps(), TimingMode::off, memory.buffers())
                  : Body();
  memory.keep_rebound(*old, to->buffer);
  for (const SlotEntry& entry : slots_) {
    entry.slot->rebind(*old, to->buffer);
  }
  memory_ = std::move(memory);
  plain_ = replays() ? std::move(body) : Body();
  timed_ = serialised_ = {};
  watched_.forget_bodies();
  if (profile_id_ != 0) {
    FinishReport report;  // a recording is an encoded plan, so this is another one
    report.encode_ns = static_cast<std::uint64_t>(now_ns() - begin);
    profile_recording(report);
  }
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
