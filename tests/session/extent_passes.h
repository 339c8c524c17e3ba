// Passes over rows that the state counts, which use every op that takes an extent, and three ways
// to run them: a session of exactly so many rows, a direct one with an extent, a graph for all of
// them.
#pragma once
#include <functional>
#include <map>

#include "tests/testing.h"

namespace reprise::testing {

/// x and y: f32 [rows, 24]; ids: i32 [rows], rows of a table of 40.
struct ExtentInputs {
  Tensor x, y, ids;
};
/// Names outputs.
struct ExtentPass {
  std::string name;
  std::function<void(GraphSession&, const ExtentInputs&)> record;
};

/// "cpu", "reference", "vulkan", or "vulkan_" and the name of a family of kernels.
Device extent_device(const std::string& name);

class ExtentRuns {
 public:
  static constexpr std::int64_t kBucket = 20;
  static constexpr std::int64_t kContext = 24;  // rows of the tables that passes write
  using Outputs = std::map<std::string, std::vector<std::byte>>;

  ExtentRuns(const Device& device, std::uint64_t seed);
  std::vector<ExtentPass> passes() const;

  /// Outputs, and the tables as they are after `rows` rows at `position`.
  Outputs fixed(const ExtentPass& pass, std::int32_t rows, std::int32_t position);
  Outputs direct(const ExtentPass& pass, std::int32_t rows, std::int32_t position);
  CapturedGraph graph(const ExtentPass& pass, std::uint32_t max_iterations = 1,
                      const PassOptions& passes = {});
  Outputs replay(CapturedGraph& graph, std::int32_t rows, std::int32_t position);

  /// With fewer rows than that, the device may choose other kernels than for the bucket.
  std::int32_t fewest_rows_of_same_kernels() const;

  GraphExecutor& executor() { return executor_; }
  const StateBlock& state() const { return state_; }
  /// The first so many rows of them.
  std::vector<NamedInput> inputs(std::int64_t rows) const;
  Outputs tables() const;
  /// By name, for those who load a graph.
  std::map<std::string, Tensor, std::less<>> tensors() const;
  /// Sets the state, and the tables to what they were at first.
  void prepare(std::int32_t rows, std::int32_t position);

 private:
  Outputs run(const ExtentPass& pass, bool fixed, std::int32_t rows, std::int32_t position);

  Device device_;
  GraphExecutor executor_;
  StateBlock state_;
  std::vector<float> x_, y_;
  std::vector<std::int32_t> ids_;
  Tensor weights_, scale_, bias_, embedding_, keys_, values_, half_keys_, marks_, cells_;
  std::vector<std::byte> table_bytes_;
};

}  // namespace reprise::testing
