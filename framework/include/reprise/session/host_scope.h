// HostScope: a stretch of host time in the profiling database, with a name of the user's.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace reprise {

class ExecutorCore;

/// A stretch from construction to destruction, on one thread. Does nothing without a profiling
/// database.
class [[nodiscard]] HostScope {
 public:
  HostScope(std::shared_ptr<ExecutorCore> core, std::string name);
  HostScope(const HostScope&) = delete;
  HostScope& operator=(const HostScope&) = delete;
  ~HostScope();

 private:
  std::shared_ptr<ExecutorCore> core_;
  std::string name_;
  std::int64_t start_ns_;
};

}  // namespace reprise
