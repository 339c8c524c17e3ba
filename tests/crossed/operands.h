// For files of meaning: the operands of an op, and results of rows and elements.
#pragma once
#include <cmath>

#include "tests/crossed/meaning.h"

namespace reprise::crossed {

using Dims = std::vector<std::int64_t>;
using Values = std::vector<double>;

// What f32 arithmetic may lose in one op, relative to the values around: 16 units of its last
// place.
inline constexpr double kRounding = 16 * 0x1p-24;

inline std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
/// Softmax of a row.
void normalise(Values& scores);

class Operands {
 public:
  explicit Operands(const Call& call) : call_(call) {}

 protected:
  const Array& operand(std::size_t i) const {
    return call_.values[static_cast<std::size_t>(call_.op.operands[i])];
  }
  bool has(std::size_t i) const { return call_.op.operands[i] >= 0; }
  const Array& a() const { return operand(0); }
  const Array& b() const { return operand(1); }
  int number(std::size_t i) const { return call_.op.numbers[i]; }

  static Dims with_back(const Array& like, std::int64_t back) {
    Dims dims = like.dims;
    dims.back() = back;
    return dims;
  }
  /// A result of computing, disturbed by what f32 may lose.
  Array computed(Dims dims, Values values) {
    double power = 0;
    for (const double value : values) {
      power += value * value;
    }
    const double scale = values.empty() ? 0 : std::sqrt(power / static_cast<double>(values.size()));
    for (double& value : values) {
      value += kRounding * call_.noise.next() * (std::fabs(value) + scale);
    }
    return {Kind::f32, std::move(dims), std::move(values)};
  }
  template <class F>
  Array each(F&& f) {
    Values values = a().flat();
    std::ranges::transform(values, values.begin(), f);
    return computed(a().dims, values);
  }
  template <class F>
  Array zipped(F&& f) {
    const Values x = a().flat(), y = b().flat();
    Values z;
    for (std::size_t i = 0; i < x.size(); ++i) {
      z.push_back(f(x[i], y[i]));
    }
    return computed(a().dims, z);
  }
  /// Rows of x to rows of y with so many columns.
  template <class F>
  Array by_row(std::int64_t columns, F&& f) {
    Values all;
    const Values x = a().flat();
    for (std::int64_t row = 0; row < a().row_count(); ++row) {
      const auto begin = x.begin() + row * a().back();
      Values y(index(columns));
      f(Values(begin, begin + a().back()), y);
      all.insert(all.end(), y.begin(), y.end());
    }
    return computed(with_back(a(), columns), all);
  }

  const Call& call_;
};

/// Of matmul, attention and experts.
Array run_product(const Call& call);
/// Of what moves elements, of casts and views.
Array run_movement(const Call& call);

}  // namespace reprise::crossed
