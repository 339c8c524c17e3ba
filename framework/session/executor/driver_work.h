// DriverWork: what a thread has the driver do for one executor, so that what the driver says while
// it does it finds its graph and its node.
#pragma once
#include <utility>

#include "reprise/graph/compute_graph.h"

namespace reprise {

class DriverEvents;

/// On the stack of the thread that encodes or submits. Costs nothing if nobody listens.
class DriverWork {
 public:
  /// In the profiling database; 0: none.
  struct Ids {
    std::uint64_t session = 0, recording = 0;
  };
  /// `events`: who listens; null: nobody.
  DriverWork(const DriverEvents* events, const ComputeGraph& graph, const Ids& ids)
      : events_(events), graph_(graph), ids_(ids) {
    if (events_ != nullptr) {
      outer_ = std::exchange(innermost_, this);
    }
  }
  DriverWork(const DriverWork&) = delete;
  DriverWork& operator=(const DriverWork&) = delete;
  ~DriverWork() {
    if (events_ != nullptr) {
      innermost_ = outer_;
    }
  }
  /// Which node it is about from now on.
  void at(std::uint32_t node) { node_ = node; }

  const ComputeGraph& graph() const { return graph_; }
  const Ids& ids() const { return ids_; }
  std::uint32_t node() const { return node_; }  // kNoIndex: none in particular
  /// The innermost of this thread; null if there is none, or it is another executor's.
  static const DriverWork* current(const DriverEvents& events) {
    return innermost_ != nullptr && innermost_->events_ == &events ? innermost_ : nullptr;
  }

 private:
  static inline constinit thread_local const DriverWork* innermost_ = nullptr;

  const DriverEvents* events_;
  const ComputeGraph& graph_;
  Ids ids_;
  std::uint32_t node_ = kNoIndex;
  const DriverWork* outer_ = nullptr;
};

}  // namespace reprise
