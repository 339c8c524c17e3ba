// GraphExecutor: opens direct and recorded sessions on one device.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "reprise/profile/profile_sink.h"
#include "reprise/session/graph_session.h"
#include "reprise/session/host_scope.h"

namespace reprise {

struct ExecutorOptions {
  std::filesystem::path profile{};  // profiling database to write; empty: none
  RunInfo run{};                    // stored with it
  LogCallback log{};
  TimingMode timing = TimingMode::replay;  // of graphs that do not choose their own
  /// Of every session. Direct sessions and replays give the same bits in either one.
  Precision precision = Precision::exact;
};

/// Any number of sessions may be open, each used by one thread. Sessions and graphs keep what they
/// need of the executor; it may be destroyed before them.
class GraphExecutor {
 public:
  /// Throws io if the profiling database cannot be opened.
  explicit GraphExecutor(Device device, ExecutorOptions options = {});
  const Device& device() const;

  /// Ops are encoded as they are called; finish() submits once and waits once.
  GraphSession begin(SessionOptions options = {});
  /// Ops are captured; finish() plans, encodes, runs once and hands out the graph.
  GraphSession begin_recorded(SessionOptions options = {});

  /// From the next launch on; may be called while graphs are replayed, from any thread. Node mode
  /// replays through a second encoding with timestamps, made at its first use.
  void set_timing(TimingMode mode) const;
  /// auto scope = executor.host_scope("tokenize");
  HostScope host_scope(std::string name) const;
  /// What the writer of the profiling database did so far; empty without one.
  std::optional<ProfileHealth> profile_health() const;

 private:
  std::shared_ptr<ExecutorCore> core_;
};

}  // namespace reprise
