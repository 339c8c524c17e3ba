// One op row on one device: builds it in a session, runs it several times with fresh values, and
// returns every output of every run.
#pragma once
#include "framework/graph/plan_fingerprint.h"
#include "reprise/session/support.h"
#include "tests/ops/op_cases.h"
#include "tests/testing.h"

namespace reprise::testing {

struct CaseOutput {
  DType dtype;
  std::vector<std::byte> bytes;
  bool operator==(const CaseOutput&) const = default;
};
/// Per run, the tensors the row returned, then the state fields as one i32 tensor.
using CaseOutputs = std::vector<std::vector<CaseOutput>>;

/// Direct: a session per run. Recorded: one graph, replayed.
CaseOutputs run_case(const Device& device, const OpCase& row, bool recorded, std::uint64_t seed);

/// As recorded, but launched from a file that the graph was saved to. Expects that its plan is the
/// saved one.
CaseOutputs run_saved_case(const Device& device, const OpCase& row, std::uint64_t seed);

/// What a recording of the row runs on a device: kernels with their constants, steps, grids,
/// memory, barriers. Devices with equal plans run the row in the same way.
std::vector<FingerprintPart> plan_of_case(const Device& device, const OpCase& row);

/// What `supports` says of the nodes of a row.
std::vector<NodeSupport> support_of_case(const Device& device, const OpCase& row);

/// Within the limit of the row; bits where it is 0.
void expect_close(const CaseOutputs& expected, const CaseOutputs& actual, const OpCase& row);

}  // namespace reprise::testing
