#include "reprise/session/host_scope.h"

#include "framework/session/executor/executor_core.h"
#include "framework/session/executor/host_clock.h"

namespace reprise {

HostScope::HostScope(std::shared_ptr<ExecutorCore> core, std::string name)
    : core_(std::move(core)), name_(std::move(name)), start_ns_(now_ns()) {}

HostScope::~HostScope() {
  if (SessionProfile* profile = core_->profile()) {
    try {
      profile->host_scope({.name = std::move(name_),
                           .category = "user",
                           .start_ns = start_ns_,
                           .duration_ns = static_cast<std::uint64_t>(now_ns() - start_ns_)});
    } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a record
    }
  }
}

}  // namespace reprise
