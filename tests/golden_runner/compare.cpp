#include "tests/golden_runner/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "reprise/backend/decode.h"
#include "reprise/core/error.h"

namespace golden {
namespace {

using reprise::DType;

struct Oracle {
  const GoldenTensor& reference;
  std::string kind;
  double limit;
};

bool is_integer(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

/// ggml rounds activations to 8 bits where it multiplies weights in blocks.
bool is_rounded(const GoldenCase& c) {
  return (c.op == "mul_mat" || c.op == "mul_mat_id" || c.op == "llama_decode") &&
         std::ranges::any_of(c.inputs, [](const GoldenTensor& t) {
           return reprise::info_of(t.dtype).block_elements > 1;
         });
}

/// The first output is held to `exact`, unless fast kernels round as ggml does. The others have
/// only what ggml computed; where it did not round, the tighter limit of the case holds for them
/// too.
Oracle oracle_of(const GoldenCase& c, std::size_t output, reprise::Precision precision) {
  const GoldenTensor& tensor = c.outputs[output];
  if (is_integer(tensor.dtype)) {
    return {tensor, output == 0 && c.compare == "set_int" ? c.compare : "exact_int", 0};
  }
  if (reprise::info_of(tensor.dtype).block_elements > 1) {
    return {tensor, "exact_bits", 0};  // encoded as ggml does it, whatever the case would forgive
  }
  const bool rounded = is_rounded(c);
  if (output == 0 && c.exact && !(rounded && precision == reprise::Precision::fast)) {
    return {*c.exact, c.compare, *c.tol_vs_exact};
  }
  if (output == 0) {
    return {tensor, c.compare, c.tol};
  }
  return {tensor, "nmse", rounded ? c.tol : std::min(c.tol, c.tol_vs_exact.value_or(c.tol))};
}

double error_of(const Oracle& o, DType dtype, std::span<const std::byte> bytes) {
  const auto reference = to_floats(o.reference.dtype, o.reference.bytes);
  const auto values = to_floats(dtype, bytes);
  if (o.kind != "nmse_per_step") {
    return nmse(reference, values);
  }
  const auto row = static_cast<std::size_t>(o.reference.ne[0]);
  double worst = 0;
  for (std::size_t at = 0; at < reference.size(); at += row) {
    worst = std::max(
        worst, nmse(std::span(reference).subspan(at, row), std::span(values).subspan(at, row)));
  }
  return worst;
}

/// The integers of each row, in order.
std::vector<std::int32_t> sorted_rows(std::span<const std::byte> bytes, std::int64_t columns) {
  std::vector<std::int32_t> values(bytes.size() / sizeof(std::int32_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (auto row = values.begin(); row != values.end(); row += columns) {
    std::sort(row, row + columns);
  }
  return values;
}

struct Measured {
  bool passed;
  double ratio;  // of the error to its limit
  std::string text;
};

Measured measure(const Oracle& o, DType dtype, std::span<const std::byte> bytes) {
  if (o.kind == "exact_bits" || o.kind == "exact_int") {
    return {std::ranges::equal(bytes, o.reference.bytes), 0, o.kind};
  }
  if (o.kind == "set_int" && dtype == DType::i32) {
    const std::int64_t columns = o.reference.ne[0];
    return {sorted_rows(bytes, columns) == sorted_rows(o.reference.bytes, columns), 0, o.kind};
  }
  if (o.kind != "nmse" && o.kind != "nmse_per_step" && o.kind != "nmse_dequant") {
    throw reprise::Error(reprise::ErrorCode::unsupported,
                         "The comparison is (" + o.kind + "), which is not supported.");
  }
  const double error = error_of(o, dtype, bytes);
  std::array<char, 80> numbers{};
  std::snprintf(numbers.data(), numbers.size(), " %.3g, limit %.3g", error, o.limit);
  return {error <= o.limit, error == 0 ? 0 : error / o.limit, o.kind + numbers.data()};
}

}  // namespace

std::vector<float> to_floats(DType dtype, std::span<const std::byte> bytes) {
  const reprise::Decode decode = reprise::decoder_of(dtype);
  if (decode == nullptr) {
    throw reprise::Error(
        reprise::ErrorCode::unsupported,
        "Values of (" + std::string(name_of(dtype)) + ") cannot be compared as numbers.");
  }
  const auto& info = reprise::info_of(dtype);
  std::vector<float> values(bytes.size() / info.block_bytes * info.block_elements);
  decode(bytes.data(), values.size(), values.data());
  return values;
}

double nmse(std::span<const float> reference, std::span<const float> x) {
  double difference = 0;
  double total = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double r = static_cast<double>(reference[i]);
    const double v = static_cast<double>(x[i]);
    if (std::isfinite(r) && std::isfinite(v)) {
      difference += (r - v) * (r - v);
      total += r * r;
    } else if (!(std::isnan(r) && std::isnan(v)) && !(r == v)) {
      return std::numeric_limits<double>::infinity();
    }
  }
  if (difference == 0) {
    return 0;
  }
  return total == 0 ? std::numeric_limits<double>::infinity() : difference / total;
}

Verdict judge(const GoldenCase& c, const Results& results, reprise::Precision precision) {
  Verdict verdict;
  double worst = 0;  // error / limit of the outputs after the first
  std::string worst_measure;
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    const GoldenTensor& output = c.outputs[i];
    const auto found = results.find(output.name);
    if (found == results.end() || found->second.size() != output.bytes.size()) {
      reprise::throw_invalid_argument(
          "The output '" + output.name + "' has (" +
          std::to_string(found == results.end() ? 0 : found->second.size()) +
          ") bytes, but the case has " + std::to_string(output.bytes.size()) + ".");
    }
    const Oracle oracle = oracle_of(c, i, precision);
    const Measured measured = measure(oracle, output.dtype, found->second);
    if (!measured.passed) {
      verdict.passed = false;
      verdict.reason += " '" + output.name + "' differs: " + measured.text + ".";
    }
    if (i == 0) {
      verdict.measure = measured.text;
    } else if (measured.ratio > worst) {
      worst = measured.ratio;
      worst_measure = "; " + output.name + ": " + measured.text;
    }
  }
  verdict.measure += worst_measure;
  return verdict;
}

}  // namespace golden
