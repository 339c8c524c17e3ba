// Judges what a case produced against its oracles: `exact` where there is one, else `outputs`, by
// the kinds of comparison tests/golden/README.md lists. Runs nothing.
#pragma once
#include <map>

#include "reprise/core/kernel_choice.h"
#include "tests/golden_runner/case_file.h"

namespace golden {

/// Bytes by output name, in the order and dtype of the case's outputs.
using Results = std::map<std::string, std::vector<std::byte>>;

struct Verdict {
  bool passed = true;
  // Of the first output, then the worst of the others: "nmse 1.2e-15, limit 1e-09", "exact_bits".
  std::string measure;
  std::string reason;  // of a failure
};

/// Every output has to pass. Fast products of weights in blocks have no exact oracle: their cases
/// are held to what ggml computed, which rounds activations to 8 bits too. Throws invalid_argument
/// if an output is missing or has another size, unsupported for another kind of comparison or a
/// dtype it cannot compare by value.
Verdict judge(const GoldenCase& c, const Results& results, reprise::Precision precision);

/// sum((reference - x)^2) / sum(reference^2) over the finite elements of reference; infinity if an
/// element is finite in one only, or not finite and different.
double nmse(std::span<const float> reference, std::span<const float> x);

/// Of every dtype that can be decoded to f32.
std::vector<float> to_floats(reprise::DType dtype, std::span<const std::byte> bytes);

}  // namespace golden
