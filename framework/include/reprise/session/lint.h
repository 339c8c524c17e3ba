// lint: finds what a recording of a pass would bake: numbers, memory and sizes that the host chose
// while recording. A replay would not see them change.
#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "reprise/session/graph_executor.h"

namespace reprise {

struct LintOptions {
  /// Options of every recording; max_iterations counts as 1.
  SessionOptions session{};
  /// The differences between recordings: each run sets state fields and variables of the host as
  /// they would be before some launch of the graph. At least 2. None: the pass is recorded twice as
  /// it is, which finds what changes by itself, like counters.
  std::vector<std::function<void()>> runs{};
};

/// One value that differs between two recordings.
struct LintFinding {
  static constexpr std::uint32_t kNoNode = 0xFFFFFFFF;
  /// Names a finding about one recording alone: several arguments of a call are calls themselves,
  /// add(s, neg(s, x), exp(s, y)). C++ leaves their order open, so a different compiler may record
  /// a different graph. Ops that are called inside of functions are not seen.
  static constexpr std::string_view kOrder = "order of arguments";
  /// Names a finding about one recording alone: an op counts a different number of rows than
  /// set_rows writes at the same position. This happens if the rows of the prompt are still set
  /// while decoding. `first` is what it counts, `other` what is written.
  static constexpr std::string_view kRows = "rows at a position";
  /// Names a finding about one recording alone: an op reads rows of a cache up to `first`, but the
  /// last ones written there end at `other`.
  static constexpr std::string_view kUsedRows = "rows in use";
  std::uint32_t node = kNoNode;  // in the order of recording; kNoNode: no op
  std::string op{};              // name of the op; "input" or "output" without a node
  std::string scope{};           // "layer.3/attn"
  /// The difference:
  /// - an attribute by its name;
  /// - of operands and results, by their names in the op: "shape of x", "strides of x", "dtype of
  ///   x", "offset of x" (bytes into its memory), "buffer of x" (the memory of a different tensor),
  ///   "operand x" (given or absent); the same of "input 'ids'" and "output 'y'";
  /// - "copy bytes" that a copy, gather or cache write moves;
  /// - "grid", "kernel", "push constants", "bytes of x", "steps" of the plan;
  /// - "op": a different op, or none; nothing behind it was compared;
  /// - "inputs", "outputs": their number.
  std::string field{};
  std::string first{}, other{};  // values in run 0 and in `run`; or see kOrder, kRows, kUsedRows
  std::uint32_t run = 1;         // the first run in which it differs
  SourceLocation where{};        // the line that called the op
  /// Whether it follows from another finding: the grid of a node whose operand has a different
  /// shape, or the shape of what such a node computes.
  bool follows = false;
  /// Returns "op 3 rope (layer.0/attn), model.cpp:41: position is (4) in run 0 and (5) in run 1".
  std::string text() const;
};

struct LintReport {
  std::string name{};                   // of the session
  std::uint32_t runs = 0;               // recordings
  std::uint32_t nodes = 0;              // of the first one
  std::vector<LintFinding> findings{};  // in order of nodes; a field of a node once
  bool clean() const { return findings.empty(); }
  /// Returns a summary line, and one per finding that follows from no other, 16 at most.
  std::string text() const;
};

/// Records a pass once per run and compares the graphs and their plans for this device. Nothing
/// runs, and device memory is neither allocated nor read nor written. Values that ops read from the
/// state block are not part of a graph and may differ. Names, scopes, values of inputs and the
/// functions of host steps are not compared.
///
/// Inside of a run, StateBlock::get returns what that run set, as it would after a launch. Every
/// run starts with the state as it is now, which is restored afterwards. Variables of the host stay
/// as the last run left them.
/// Errors: invalid_argument for one run; those of the pass and of runs.
/// Threads: nothing else may use the state block meanwhile.
LintReport lint(GraphExecutor& executor, const RecordFunction& pass,
                const LintOptions& options = {});

}  // namespace reprise
