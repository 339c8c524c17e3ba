#include "reprise/session/graph_executor.h"

#include "framework/session/executor_core.h"

namespace reprise {

GraphExecutor::GraphExecutor(Device device, ExecutorOptions options)
    : core_(std::make_shared<ExecutorCore>(std::move(device), std::move(options))) {}

const Device& GraphExecutor::device() const { return core_->device(); }

void GraphExecutor::set_timing(TimingMode mode) const { core_->set_timing_mode(mode); }

HostScope GraphExecutor::host_scope(std::string name) const { return {core_, std::move(name)}; }

std::optional<ProfileHealth> GraphExecutor::profile_health() const {
  SessionProfile* profile = core_->profile();
  return profile == nullptr ? std::nullopt : std::optional(profile->sink().health());
}

GraphSession GraphExecutor::begin(SessionOptions options) {
  return {core_, GraphSession::Mode::direct, std::move(options)};
}

GraphSession GraphExecutor::begin_recorded(SessionOptions options) {
  return {core_, GraphSession::Mode::recorded, std::move(options)};
}

}  // namespace reprise
