#include "framework/session/recording.h"

#include <algorithm>

#include "framework/session/host_clock.h"
#include "framework/session/labels.h"

namespace reprise {
namespace {}  // namespace

CapturedGraph::Recording::Recording(std::shared_ptr<ExecutorCore> core,
                                    std::shared_ptr<const RecordedGraph> recorded, StateBlock state,
                                    const std::vector<Port>& inputs,
                                    const std::vector<Port>& outputs, std::size_t slots,
                                    FinishReport& report)
    : core_(std::move(core)),
      recorded_(std::move(recorded)),
      state_(std::move(state)),
      inputs_(inputs.size()) {
  if (slots < 1 || slots > kMaxSlots) {
    invalid("A recording has 1 to " + std::to_string(kMaxSlots) + " slots, but (" +
            std::to_string(slots) + ") are asked for.");
  }
  const ExecutionPlan& plan = recorded_->plan;
  const Device& device = core_->device();
  for (const Pool& pool : plan.pools) {
    pools_.push_back(pool.buffer);
  }
  if (plan.arena_bytes > 0) {
    pools_[ExecutionPlan::kArena] = device.backend().allocate(
        "arena of '" + recorded_->graph.name + "'", plan.arena_bytes, BufferKind::device);
  }
  const std::int64_t begin = now_ns();
  plain_ = encode_body(TimingMode::off);
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
    slots_.push_back({std::make_unique<Slot>(device, state_, exchanges(inputs), exchanges(outputs),
                                             staging, *this, static_cast<std::uint32_t>(i)),
                      std::vector<std::uint64_t>(inputs.size())});
  }
  report.encode_ns = static_cast<std::uint64_t>(now_ns() - begin);
  report.steps = static_cast<std::uint32_t>(plan.steps.size());
  report.barriers = static_cast<std::uint32_t>(plan.barriers.size());
  report.arena_bytes = plan.arena_bytes;
  report.live_peak_bytes = plan.live_peak_bytes;
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
    if (pools_[ExecutionPlan::kArena] != nullptr) {
      core_->profile()->buffer_freed(*pools_[ExecutionPlan::kArena]);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a record
  }
}

Body CapturedGraph::Recording::encode_body(TimingMode mode) const {
  const ExecutionPlan& plan = recorded_->plan;
  const ComputeGraph& graph = recorded_->graph;
  const auto steps = static_cast<std::uint32_t>(plan.steps.size());
  Backend& backend = core_->device().backend();
  Body body;
  const auto encoder = backend.encoder({.name = graph.name, .reusable = true});
  if (mode != TimingMode::off) {
    body.stamps = backend.timestamps(steps + 1);
    encoder->reset(body.stamps);
    encoder->stamp(body.stamps, 0);
  }
  Labels labels(*encoder);
  auto barrier = plan.barriers.begin();
  for (std::uint32_t s = 0; s < steps; ++s) {
    labels.enter(graph.names, graph.nodes[plan.steps[s].node].scope);
    const bool waits = barrier != plan.barriers.end() && barrier->before_step == s;
    barrier += waits ? 1 : 0;
    if (waits || mode == TimingMode::node_serialised) {
      encoder->barrier();
    }
    encoder->step(plan.steps, s, pools_);
    if (body.stamps != nullptr) {
      encoder->stamp(body.stamps, s + 1);
    }
  }
  labels.close();
  body.encoding = encoder->finish();
  return body;
}

const Body& CapturedGraph::Recording::body_for(TimingMode mode) {
  if (mode == TimingMode::off || mode == TimingMode::replay) {
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
  const GraphTensor& t = recorded_->graph.tensors[port.tensor];
  const Place& place = recorded_->plan.places[t.storage];
  return {port.name, t.spec, pools_[place.pool], place.offset + t.offset, 0};
}

void CapturedGraph::Recording::set_input(std::string_view name, DType dtype,
                                         std::span<const std::byte> bytes) {
  const std::vector<Exchange>& known = slots_[0].slot->inputs();
  const Exchange& input = find_exchange(known, "input", name);
  if (input.spec.dtype != dtype || input.spec.bytes() != bytes.size()) {
    invalid("The input '" + input.name + "' is " + to_string(input.spec) + " (" +
            std::to_string(input.spec.bytes()) + " bytes), but was set to (" +
            std::to_string(bytes.size()) + ") bytes of " + std::string(name_of(dtype)) + ".");
  }
  Input& value = inputs_[static_cast<std::size_t>(&input - known.data())];
  value.bytes.assign(bytes.begin(), bytes.end());
  ++value.version;
}

CapturedGraph::Recording::SlotEntry* CapturedGraph::Recording::acquire(bool may_wait) {
  SlotEntry* oldest = nullptr;
  for (SlotEntry& entry : slots_) {
    Slot& slot = *entry.slot;
    if (slot.phase() == Slot::Phase::held) {
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
    invalid("All (" + std::to_string(slots_.size()) + ") slots of the graph '" +
            recorded_->graph.name +
            "' are held by tickets; release one, or finish the session with more slots.");
  }
  if (!may_wait) {
    return nullptr;
  }
  oldest->slot->reclaim();
  return oldest;
}

Slot* CapturedGraph::Recording::submit(bool may_wait, Follow follow) {
  if (last_launch_ != nullptr) {
    std::exchange(last_launch_, nullptr)->release();
  }
  SlotEntry* entry = acquire(may_wait);
  if (entry == nullptr) {
    return nullptr;
  }
  const TimingMode mode = core_->timing_mode(timing_);
  const Body& body = body_for(mode);
  const std::int64_t begin = now_ns();
  Slot& slot = *entry->slot;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (entry->versions[i] != inputs_[i].version) {
      entry->versions[i] = inputs_[i].version;
      std::ranges::copy(inputs_[i].bytes, slot.input_bytes(slot.inputs()[i]));
    }
  }
  try {
    slot.submit(body, mode, sequence_, begin, follow);
  } catch (const Error& error) {
    report(error);
    throw;
  }
  ++sequence_;
  return &slot;
}

void CapturedGraph::Recording::launch() {
  Slot* slot = submit(true, Follow::wait);
  try {
    slot->wait();
  } catch (...) {
    slot->release();
    throw;
  }
  last_launch_ = slot;
}

std::optional<Ticket> CapturedGraph::Recording::launch_async(bool may_wait) {
  Slot* slot = submit(may_wait, Follow::other_work);
  if (slot == nullptr) {
    return std::nullopt;
  }
  return Ticket({shared_from_this(), slot});
}

const Slot& CapturedGraph::Recording::last_launch() const {
  if (last_launch_ == nullptr) {
    invalid("The graph '" + recorded_->graph.name +
            "' holds no outputs: there was no launch(), or a later launch took them. Tickets hold "
            "those of launch_async().");
  }
  return *last_launch_;
}

OutputView CapturedGraph::Recording::output(std::string_view name) const {
  return last_launch().output(name);
}

std::uint64_t CapturedGraph::Recording::upload() {
  if (is_uploaded()) {
    return 0;
  }
  const std::int64_t begin = now_ns();
  Backend& backend = core_->device().backend();
  const StepList& steps = recorded_->plan.steps;
  const auto encoder = backend.encoder({.name = "upload"});
  std::vector<Kernel> seen;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].kind == StepKind::dispatch && std::ranges::count(seen, steps[s].kernel) == 0) {
      seen.push_back(steps[s].kernel);
      encoder->step(steps.only(s, {0, 0, 0}), 0, pools_);
    }
  }
  const EncodingRef list[] = {encoder->finish()};
  backend.wait(backend.submit(list, Follow::wait));
  uploaded_ = true;
  return static_cast<std::uint64_t>(now_ns() - begin);
}

void CapturedGraph::Recording::completed(const Slot& slot) {
  replays_.fetch_add(1, std::memory_order_relaxed);
  if (profile_id_ != 0) {
    profile_replay(slot, kRan);
  }
}

void CapturedGraph::Recording::failed(const Slot& slot, const Error& error) noexcept {
  if (profile_id_ != 0 && error.code() == ErrorCode::device_lost) {
    profile_replay(slot, kFailed);  // after a timeout it may still complete
  }
  report(error);
}

void CapturedGraph::Recording::report(const Error& error) const noexcept {
  if (profile_id_ != 0) {
    core_->profile()->error(error, 0, profile_id_);
  }
}

void CapturedGraph::Recording::profile(std::uint64_t session, const FinishReport& report) {
  SessionProfile* profile = core_->profile();
  if (profile == nullptr) {
    return;
  }
  profile->clocks();
  RecordingRecord record;
  record.id = profile_id_ = profile->next_id();
  record.session = session;
  record.recorded = recorded_;
  const StepList& steps = recorded_->plan.steps;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Kernel& kernel = steps[s].kernel;
    const bool known =
        std::ranges::any_of(record.kernels, [&](const auto& k) { return k.first == kernel; });
    if (!known) {
      if (const auto info = core_->device().backend().kernel_info(kernel)) {
        record.kernels.emplace_back(kernel, *info);
      }
    }
  }
  for (std::size_t p = 0; p < pools_.size(); ++p) {
    record.pool_buffers.push_back(
        pools_[p] == nullptr ? 0 : profile->buffer(pools_[p], recorded_->plan.pools[p].kind));
  }
  record.record_ns = report.record_ns;
  record.plan_ns = report.plan_ns;
  record.encode_ns = report.encode_ns;
  record.time_ns = now_ns();
  profile->sink().recording(std::move(record));
  if (last_launch_ != nullptr) {
    profile_replay(*last_launch_, kRan);
  }
}

void CapturedGraph::Recording::profile_replay(const Slot& slot, std::uint32_t status) noexcept {
  const SubmissionTimes& times = slot.times();
  ReplayRecord record;
  record.recording = profile_id_;
  record.sequence = slot.sequence();
  record.submission = times.submission;
  record.slot = slot.index();
  record.submit_time_ns = times.submit_time_ns;
  record.prepare_ns = times.prepare_ns;
  record.submit_ns = times.submit_ns;
  record.wait_ns = times.wait_ns;
  record.device_start_ns = times.device_start_ns;
  record.device_ns = times.device_ns;
  record.timing_mode = slot.timing_mode();
  record.warm_up = slot.sequence() == 0;
  record.status = status;
  if (status == kRan) {
    record.state = slot.state_words();
    record.step_ticks = slot.step_ticks();
  }
  core_->profile()->sink().replay(record);
}

}  // namespace reprise
