// Rows of op tests. A row builds its call through a CaseContext; the runner repeats it on every
// backend, direct and recorded, and compares full outputs with the float64 reference.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reprise/core/recorder.h"

namespace reprise::testing {

class CaseContext {
 public:
  virtual ~CaseContext() = default;
  virtual Recorder& recorder() = 0;
  /// Fresh random values, the same on every backend and in every run of one test.
  virtual Tensor input(const Shape& shape, DType dtype = DType::f32, double low = -1,
                       double high = 1) = 0;
  /// Random distinct integers in [low, high).
  virtual Tensor ids(const Shape& shape, DType dtype, std::int64_t low, std::int64_t high) = 0;
  /// Given values; i32.
  virtual Tensor integers(const Shape& shape, const std::vector<std::int32_t>& values) = 0;
  /// Given values, by their bits; f32.
  virtual Tensor floats(const Shape& shape, const std::vector<std::int32_t>& bits) = 0;
  /// A persistent tensor with random content and guard bands that must survive.
  virtual Tensor persistent(const Shape& shape, DType dtype) = 0;
};

struct OpCase {
  std::string label;  // "3x257": part of the test's name
  double nmse_limit;  // 0: bits must be equal
  std::string why;    // the reason for the limit
  /// Returns the tensors to compare: results, or the operand that was written.
  std::function<std::vector<Tensor>(CaseContext&)> build;
  /// Host-owned i32 state fields and their values in successive replays, e.g. {"pos", {0, 3, 7}}.
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> state = {};
  /// Carried i32 state fields, as {name, initial}; the whole block is compared after each run.
  std::vector<std::pair<std::string, std::int32_t>> carried = {};
  /// Of a row without state: more where few values are compared, of which all may nearly cancel.
  std::size_t runs = 3;
};

}  // namespace reprise::testing
