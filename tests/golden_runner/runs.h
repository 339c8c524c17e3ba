// Runs one golden case on one device and returns its outputs. Knows no oracle.
#pragma once
#include <stdexcept>

#include "reprise/reprise.h"
#include "tests/golden_runner/compare.h"

namespace golden {

enum class Mode { direct, recorded };

struct How {
  Mode mode = Mode::direct;
  reprise::Precision precision = reprise::Precision::exact;
};

/// The case needs something this version does not have. what() says what.
class Skip : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Skip unless `tensor` has one of `supported`.
void need_dtype(const GoldenTensor& tensor, std::initializer_list<reprise::DType> supported);

/// One op. Direct: one session. Recorded: one graph and three replays, the first and the last on
/// the inputs of the case, the one between on zeros, so that nothing stale can pass; both must
/// repeat the run inside finish() bit by bit. Tables written in place stand between guard bands.
/// Throws Skip for ops and attributes this version does not have, invalid_argument for cases that
/// lack an input or parameter, and if a replay, a guard band or a row that must stay differs.
Results run_op_case(const reprise::Device& device, const GoldenCase& c, const How& how);

/// A whole decoder, greedily. Direct: a session per step. Recorded: one graph, a launch per step,
/// then all steps again from the start, which must repeat the first pass bit by bit.
Results run_decode_case(const reprise::Device& device, const GoldenCase& c, const How& how);

}  // namespace golden
