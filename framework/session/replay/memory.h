// Memory: which buffer each pool of a plan is, for one recording.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/session/executor/executor_core.h"
#include "framework/session/replay/pass_plan.h"
#include "reprise/session/capture_pool.h"
#include "reprise/session/state_block.h"

namespace reprise {

/// A copy shares the buffers.
/// Threads: the recording's. Lifetime: encodings keep what they use.
class Memory {
 public:
  /// Where the buffers are from that the plan does not bring.
  struct Sources {
    StateBlock state{};
    std::span<const NamedTensor> own{};  // of every name that the graph has an own storage of
    CapturePool pool{};                  // of the arena; empty: it is the recording's
  };
  /// Errors: out_of_memory; stale if one is freed; invalid_argument for a sealed or foreign pool.
  Memory(ExecutorCore& core, const PassPlan& plan, const Sources& sources);

  /// By Binding::pool; null: an arena of no bytes.
  const std::vector<std::shared_ptr<Buffer>>& buffers() const { return buffers_; }
  const std::shared_ptr<Buffer>& buffer_of(std::uint32_t storage) const {
    return buffers_[plan_->places[storage].pool];
  }
  const IterationRows& rows() const { return rows_; }
  const StateBlock& state() const { return state_; }
  const CapturePool& pool() const { return pool_; }
  /// The arena, if it is the recording's alone.
  const Buffer* own_arena() const { return pool_ ? nullptr : buffers_[0].get(); }
  /// The first buffer that was freed; null, and one load, while nothing is freed anywhere.
  const Buffer* first_freed();

  /// The same with the buffer of `to` in place of that of `from`.
  /// Errors: see CapturedGraph::rebind.
  Memory rebound(const TensorRef& from, const TensorRef& to) const;
  /// After that: tells the pool. Errors: invalid_argument if a sealed one would grow.
  void keep_rebound(const Buffer& from, const std::shared_ptr<Buffer>& to) const;

 private:
  std::shared_ptr<Buffer> source_of(const ExecutorCore& core, std::uint32_t pool,
                                    const Sources& sources) const;
  StorageOrigin origin_of(std::uint32_t pool) const;
  std::uint32_t pool_of(const Buffer& buffer) const;
  std::string caller_buffers() const;
  std::uint32_t pool_to_rebind(const TensorRecord& from, const TensorRecord& to) const;

  Device device_;
  std::shared_ptr<const ExecutionPlan> plan_;
  StateBlock state_;
  CapturePool pool_;
  IterationRows rows_;
  std::vector<std::shared_ptr<Buffer>> buffers_, state_buffers_;
  std::uint64_t fresh_at_ = ~std::uint64_t{0};  // Backend::free_count when nothing was freed
};

}  // namespace reprise
