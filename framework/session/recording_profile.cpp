// What a recording tells the profiling database.
#include <algorithm>

#include "framework/session/host_clock.h"
#include "framework/session/recording.h"

namespace reprise {

std::vector<std::pair<Kernel, KernelInfo>> CapturedGraph::Recording::kernels() const {
  std::vector<std::pair<Kernel, KernelInfo>> list;
  const StepList& steps = plan_->steps;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Kernel& kernel = steps[s].kernel;
    const bool known = std::ranges::any_of(list, [&](const auto& k) { return k.first == kernel; });
    if (!known) {
      if (const auto info = core_->device().backend().kernel_info(kernel)) {
        list.emplace_back(kernel, *info);
      }
    }
  }
  return list;
}

void CapturedGraph::Recording::profile(std::uint64_t session, const FinishReport& report,
                                       std::string key_json) {
  if (core_->profile() == nullptr) {
    return;
  }
  core_->profile()->clocks();
  profile_session_ = session;
  key_json_ = std::move(key_json);
  profile_recording(report);
  for (SlotEntry& entry : slots_) {
    entry.profile_id = profile_id_;
  }
  if (last_launch_ != nullptr) {
    profile_watched(entry_of(*last_launch_));
    profile_replays(*last_launch_);
  }
}

void CapturedGraph::Recording::profile_recording(const FinishReport& report) {
  SessionProfile* profile = core_->profile();
  RecordingRecord record;
  record.id = profile_id_ = profile_id_ == 0 ? first_id_ : profile->next_id();
  record.session = profile_session_;
  record.plan = plan_;
  record.key_json = key_json_;
  record.kernels = kernels();
  for (std::size_t p = 0; p < memory_.buffers().size(); ++p) {
    const std::shared_ptr<Buffer>& buffer = memory_.buffers()[p];
    record.pool_buffers.push_back(
        buffer == nullptr ? 0 : profile->buffer(buffer, plan_->pools[p].kind));
  }
  record.record_ns = report.record_ns;
  record.plan_ns = report.plan_ns;
  record.encode_ns = report.encode_ns;
  record.time_ns = now_ns();
  profile->sink().recording(std::move(record));
  profile->memory();
}

void CapturedGraph::Recording::profile_replays(const Slot& slot) noexcept {
  for (std::uint32_t i = 0; i < slot.iterations(); ++i) {
    profile_replay(slot, i, i < slot.ran() ? ReplayStatus::ran : ReplayStatus::skipped);
  }
}

void CapturedGraph::Recording::profile_replay(const Slot& slot, std::uint32_t iteration,
                                              ReplayStatus status) noexcept {
  const SubmissionTimes& times = slot.times();
  ReplayRecord record;
  record.recording = slots_[slot.index()].profile_id;
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
  record.warm_up = slot.sequence() == 0;
  record.status = status;
  if (status == ReplayStatus::ran) {
    const DeviceTime device = slot.device_time(iteration);
    record.device_start_ns = device.start_ns;
    record.device_ns = device.duration_ns;
    record.state = slot.state_words(iteration);
    record.step_ticks = slot.step_ticks(iteration);
  }
  core_->profile()->sink().replay(record);
}

}  // namespace reprise
