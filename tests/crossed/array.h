// Arrays of doubles with strides, as the interpreter has them. Views share memory.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/crossed/program.h"

namespace reprise::crossed {

struct Array {
  Kind kind = Kind::none;
  std::vector<std::int64_t> dims, strides;
  std::int64_t offset = 0;
  std::shared_ptr<std::vector<double>> memory;

  Array() = default;
  Array(Kind of, std::vector<std::int64_t> shape, std::vector<double> values)
      : kind(of),
        dims(std::move(shape)),
        strides(dims.size()),
        memory(std::make_shared<std::vector<double>>(std::move(values))) {
    std::int64_t step = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
      strides[i] = step;
      step *= dims[i];
    }
  }
  std::int64_t count() const {
    std::int64_t elements = 1;
    for (const std::int64_t dim : dims) {
      elements *= dim;
    }
    return elements;
  }
  std::int64_t back() const { return dims.back(); }
  std::int64_t row_count() const { return back() == 0 ? 0 : count() / back(); }
  /// Element i in row-major order.
  double& at(std::int64_t i) const {
    std::int64_t place = offset;
    for (std::size_t d = dims.size(); d-- > 0;) {
      place += i % dims[d] * strides[d];
      i /= dims[d];
    }
    return (*memory)[static_cast<std::size_t>(place)];
  }
  /// All of them in row-major order.
  std::vector<double> flat() const {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(count()));
    for (std::int64_t i = 0; i < count(); ++i) {
      values.push_back(at(i));
    }
    return values;
  }
};

}  // namespace reprise::crossed
