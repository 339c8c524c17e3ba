// StateBound: between which values the fields of a state block are when the next launch begins, as
// far as the host can know without waiting. What is in flight may still move them.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "framework/core/op.h"
#include "reprise/graph/compute_graph.h"
#include "reprise/graph/state_layout.h"

namespace reprise {

/// What every run of the nodes from `first` to before `end` adds to state fields.
std::vector<StateGrowth> growths_of(const ComputeGraph& graph, std::uint32_t first,
                                    std::uint32_t end);
/// The same of a whole graph.
std::vector<StateGrowth> growths_of(const ComputeGraph& graph);

/// What the host sends with a launch: values of host fields, and of carried ones in the mask.
struct SentState {
  std::span<const std::uint32_t> host;
  std::uint32_t patch_mask = 0;
  std::span<const std::uint32_t> patches;
};

/// Not thread-safe: the block's mutex guards it.
class StateBound {
 public:
  explicit StateBound(const StateLayout& layout);

  struct Violation {
    std::uint32_t word;
    std::int64_t low, high;      // where the value may be; equal if it is known
    std::uint64_t wait_for = 0;  // a submission that has to be complete to know more; 0: none
  };
  /// A field that may leave its range in the first iteration of a launch; empty if none can.
  std::optional<Violation> check(const SentState& sent) const;
  /// A launch was submitted. `exact`: every iteration of it runs.
  void submitted(std::uint64_t submission, const SentState& sent,
                 std::span<const StateGrowth> growths, std::uint32_t iterations, bool exact);
  /// The block after a submission, when that is complete.
  void returned(std::uint64_t submission, std::span<const std::uint32_t> words);
  /// The block itself, read after everything up to that submission.
  void read(std::uint64_t submission, std::span<const std::uint32_t> words);

 private:
  struct Interval {
    std::int64_t low = 0, high = 0;
  };
  struct Launch {
    std::uint64_t submission = 0;
    std::uint32_t patch_mask = 0;
    std::array<std::int32_t, StateLayout::kMaxCarried> patches{};
    std::array<Interval, StateLayout::kMaxCarried> adds{};  // by carried field
  };
  /// Carried fields after everything in flight, host fields as sent, and what derives from both.
  std::span<const Interval> words_now(const SentState& sent) const;
  static Interval evaluate(const StateExpression& e, std::span<const Interval> words);

  std::vector<StateFieldInfo> fields_;
  std::vector<std::pair<std::uint32_t, StateExpression>> derivations_;
  std::uint32_t host_count_, carried_count_;
  bool limited_ = false;  // a carried or derived field has a range: without one nothing is tracked
  std::vector<std::int32_t> base_;  // the block after base_submission_
  std::uint64_t base_submission_ = 0;
  std::vector<Launch> in_flight_;        // after that
  mutable std::vector<Interval> words_;  // of words_now(): no allocation per launch
};

}  // namespace reprise
