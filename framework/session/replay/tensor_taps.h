// Taps: where a body is left for a moment to copy what its nodes computed or were given, before
// that memory is used again.
#pragma once
#include "reprise/backend/backend.h"
#include "reprise/graph/execution_plan.h"
#include "reprise/session/executor_options.h"

namespace reprise {

struct Tap {
  std::uint32_t tensor = 0, node = 0;  // rows of the graph; the node that computed it
  std::uint32_t after_step = 0;
  std::uint32_t pool = 0;
  std::uint64_t offset = 0, bytes = 0;  // in the pool
  std::uint64_t staging_offset = 0;
  std::uint32_t table = kNoIndex;  // of row numbers: what the node takes them as rows of
};

struct TapList {
  std::vector<Tap> taps;  // in the order of steps
  std::uint64_t bytes = 0;
  std::size_t left_out = 0;  // they would have been more bytes than allowed
};

/// What a run left in its tapped tensors.
struct TappedRun {
  struct Tensor {
    Tap tap;
    TensorSpec spec;  // of fixed shape
    std::vector<std::byte> bytes;
  };
  std::vector<Tensor> tensors;  // in the order in which they were computed
};

/// Taps and where they go; nothing by default.
struct TapStaging {
  std::span<const Tap> taps{};
  std::shared_ptr<Buffer> staging{};
};

/// Of the row numbers of a tap: how many rows there are.
std::int64_t rows_of(const ExecutionPlan& plan, const Tap& tap,
                     std::span<const std::uint32_t> state);

/// What a watch looks at: contiguous transient results of nodes that run, if their name matches its
/// pattern, and the row numbers that nodes are given, if they are asked for.
TapList find_taps(const ExecutionPlan& plan, const TensorWatch& watch, std::uint64_t max_bytes);

/// Copies what is tapped after a step, if anything is, and takes it off the list.
void encode_taps(Encoder& encoder, TapStaging& rest, std::uint32_t step,
                 std::span<const std::shared_ptr<Buffer>> pools);

}  // namespace reprise
