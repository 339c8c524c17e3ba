// GraphExecutor: opens direct and recorded sessions on one device.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "reprise/profile/profile_sink.h"
#include "reprise/session/graph_session.h"

namespace reprise {

struct ExecutorOptions {
  std::filesystem::path profile{};  // profiling database to write; empty: none
  RunInfo run{};                    // stored with it
  LogCallback log{};
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

 private:
  std::shared_ptr<ExecutorCore> core_;
};

}  // namespace reprise
