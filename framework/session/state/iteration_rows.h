// IterationRows: where a graph that runs several iterations per launch reads whether it runs, and
// leaves what each of them did.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "reprise/backend/step.h"
#include "reprise/graph/compute_graph.h"
#include "reprise/session/device.h"

namespace reprise {

class Recorder;

/// Empty (no iteration): the graph runs once per launch.
struct IterationRows {
  std::uint32_t capacity = 1;  // iterations of a launch at most
  Tensor iteration;            // i32: see core/step.h
  Tensor rows;                 // i32 [capacity, words]: the state block, then small outputs
  std::vector<std::uint32_t> output_words;  // first word of each output in a row; kNoIndex: none
  explicit operator bool() const { return static_cast<bool>(iteration); }
  std::uint64_t row_bytes() const;
};

/// The iteration, with room for the grids of any plan. Over no memory.
Tensor make_iteration();
/// The rows: the first `state_words` of the state block, then each output that is small enough.
/// Over no memory.
void make_rows(std::uint32_t state_words, std::span<const TensorSpec> outputs, IterationRows& rows);
/// Records what fills a row at the end of a graph, and makes the rows.
void record_rows(Recorder& recorder, std::uint32_t state_words, std::span<const Tensor> outputs,
                 IterationRows& rows);
/// Puts the grids of a plan where its steps read them, and a row for each extent, so that no rows
/// are seen where no grid depends on them. `state`: an iteration that stopped goes on, its grids
/// are those that the state asks for, and the number of iterations stays.
/// Errors: unsupported if there are too many.
void write_grids(const Device& device, const Tensor& iteration, std::span<const GridRow> of_steps,
                 std::span<const GraphExtent> extents,
                 std::optional<std::span<const std::uint32_t>> state = {});

}  // namespace reprise
