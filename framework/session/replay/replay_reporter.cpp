#include "framework/session/replay/replay_reporter.h"

#include <algorithm>

#include "framework/session/executor/device_clock.h"
#include "framework/session/executor/host_clock.h"

namespace reprise {

RecordingRecord record_of(std::shared_ptr<const ExecutionPlan> plan, const Backend& backend) {
  RecordingRecord record;
  const StepList& steps = plan->steps;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Kernel& kernel = steps[s].kernel;
    const bool known =
        std::ranges::any_of(record.kernels, [&](const auto& k) { return k.first == kernel; });
    if (const auto info = known ? std::nullopt : backend.kernel_info(kernel)) {
      record.kernels.emplace_back(kernel, *info);
    }
    if (steps[s].kind == StepKind::call) {
      record.references.resize(steps.size());
      record.references[s] = backend.support(steps, s).kind == SupportKind::lowered;
    }
  }
  record.plan = std::move(plan);
  return record;
}

ReplayReporter::ReplayReporter(ExecutorCore& core, std::shared_ptr<const ExecutionPlan> plan,
                               std::size_t slots)
    : core_(core),
      plan_(std::move(plan)),
      first_id_(core.profile() == nullptr ? 0 : core.profile()->next_id()),
      in_flight_(slots) {}

void ReplayReporter::enter(std::uint64_t session, const FinishReport& report, const Memory& memory,
                           std::string key_json) {
  if (core_.profile() == nullptr) {
    return;
  }
  core_.profile()->clocks();
  session_ = session;
  key_json_ = std::move(key_json);
  send_recording(report, memory.buffers());
  for (InFlight& launch : in_flight_) {
    launch.recording = id_;
  }
  if (unreported_ != nullptr) {
    completed(*unreported_);
  }
}

void ReplayReporter::enter_direct(std::uint64_t session, const FinishReport& report,
                                  std::span<const std::shared_ptr<Buffer>> pools) {
  core_.profile()->refresh_clocks();
  session_ = session;
  direct_ = true;
  send_recording(report, pools);
  in_flight_.front().recording = id_;
}

void ReplayReporter::enter_again(const FinishReport& report, const Memory& memory) {
  if (id_ != 0) {
    send_recording(report, memory.buffers());
  }
}

void ReplayReporter::send_recording(const FinishReport& report,
                                    std::span<const std::shared_ptr<Buffer>> pools) {
  SessionProfile* profile = core_.profile();
  RecordingRecord record = reprise::record_of(plan_, core_.device().backend());
  record.id = id_ = id_ == 0 ? first_id_ : profile->next_id();
  record.session = session_;
  record.key_json = key_json_;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    record.pool_buffers.push_back(
        pools[p] == nullptr ? 0 : profile->buffer(pools[p], plan_->pools[p].kind));
  }
  record.record_ns = report.record_ns;
  record.plan_ns = report.plan_ns;
  record.encode_ns = report.encode_ns;
  record.time_ns = now_ns();
  record.direct = direct_;
  record.precision = core_.traits().precision;
  profile->sink().send(std::move(record));
  profile->memory();
}

void ReplayReporter::ended(std::string_view evicted, std::string_view stale) const {
  if (const std::uint64_t id = id_; id != 0) {
    core_.profile()->sink().send(
        RecordingEndRecord{id, now_ns(), std::string(evicted), std::string(stale)});
  }
}

void ReplayReporter::launched(const Slot& slot, std::unique_ptr<WatchInFlight> watched) {
  in_flight_[slot.index()].recording = id_;
  in_flight_[slot.index()].watched = std::move(watched);
}

void ReplayReporter::completed(const Slot& slot) noexcept {
  if (first_id_ == 0) {
    return;
  }
  if (id_ == 0) {
    unreported_ = &slot;
    return;
  }
  send_watched(slot);
  for (std::uint32_t i = 0; i < slot.iterations(); ++i) {
    send_replay(slot, i, i < slot.ran() ? ReplayStatus::ran : ReplayStatus::skipped);
  }
}

void ReplayReporter::completed_direct(const Slot& slot, TimingMode mode,
                                      std::span<const std::uint64_t> ticks) noexcept {
  ReplayRecord record =
      record_of(slot, 0, slot.ran() == 0 ? ReplayStatus::skipped : ReplayStatus::ran);
  if (!ticks.empty() && record.status == ReplayStatus::ran) {
    const DeviceClock clock(core_.device().info());
    record.timing_mode = mode;
    record.step_ticks = ticks;
    record.device_start_ns = clock.moment_ns(ticks.front());
    record.device_ns = clock.between_ns(ticks.front(), ticks.back());
  }
  core_.profile()->sink().replay(record);
}

void ReplayReporter::failed(const Slot& slot, const Error& cause) noexcept {
  if (id_ != 0 && cause.code() == ErrorCode::device_lost) {
    send_replay(slot, 0, ReplayStatus::failed);  // after a timeout it may still complete
  }
  error(cause);
}

void ReplayReporter::error(const Error& error) const noexcept {
  if (id_ != 0) {
    core_.profile()->error(error, direct_ ? session_ : 0, id_);
  }
}

void ReplayReporter::send_watched(const Slot& slot) noexcept {
  InFlight& launch = in_flight_[slot.index()];
  const std::unique_ptr<WatchInFlight> watched = std::move(launch.watched);
  if (watched == nullptr) {
    return;
  }
  try {
    TensorsRecord record = watched->read(slot);
    record.recording = launch.recording;
    if (!record.tensors.empty()) {
      core_.profile()->sink().tensors(std::move(record));
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory, and nobody else to tell
  }
}

ReplayRecord ReplayReporter::record_of(const Slot& slot, std::uint32_t iteration,
                                       ReplayStatus status) const {
  const SubmissionTimes& times = slot.times();
  ReplayRecord record;
  record.recording = in_flight_[slot.index()].recording;
  record.sequence = slot.sequence();
  record.submission = times.submission;
  record.iteration = iteration;
  record.slot = slot.index();
  record.submit_time_ns = times.submit_time_ns;
  if (iteration == 0) {  // what the host did was done once for all of them
    record.prepare_ns = times.prepare_ns;
    record.submit_ns = times.submit_ns;
    record.wait_ns = times.wait_ns;
  }
  record.timing_mode = slot.timing_mode();
  record.warm_up = slot.sequence() == 0 && !direct_;  // every direct session is a first one
  record.status = status;
  if (status == ReplayStatus::ran) {
    const DeviceTime device = slot.device_time(iteration);
    record.device_start_ns = device.start_ns;
    record.device_ns = device.duration_ns;
    record.state = slot.state_words(iteration);
    record.step_ticks = slot.step_ticks(iteration);
  }
  return record;
}

void ReplayReporter::send_replay(const Slot& slot, std::uint32_t iteration,
                                 ReplayStatus status) noexcept {
  core_.profile()->sink().replay(record_of(slot, iteration, status));
}

}  // namespace reprise
