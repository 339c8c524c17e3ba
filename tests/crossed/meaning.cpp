#include "tests/crossed/meaning.h"

#include <algorithm>

#include "tests/crossed/operands.h"

namespace reprise::crossed {
namespace {

double unary(int which, double x) {
  switch (which) {
    case 0:
      return x / (1 + std::exp(-x));
    case 1:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case 2:
      return x / (1 + std::exp(-1.702 * x));
    case 3:
      return std::max(x, 0.0);
    case 4:
      return sigmoid(x);
    case 5:
      return std::tanh(x);
    case 6:
      return -x;
    default:
      return std::sin(x);
  }
}

double gate(int which, double x) { return unary(which == 2 ? 4 : which, x); }

double binary(int which, double x, double y) {
  switch (which) {
    case 0:
      return x + y;
    case 1:
      return x - y;
    case 2:
      return x * y;
    default:
      return x / y;
  }
}

double scalar(int which, double x, bool dynamic, double factor) {
  switch (which) {
    case 0:
      return dynamic ? x * factor + 0.25 : x * 0.75 - 0.5;
    case 1:
      return std::min(std::max(x, -0.5), dynamic ? factor : 0.75);
    default: {
      const double cap = dynamic ? factor : 1.5;
      return cap * std::tanh(x / cap);
    }
  }
}

/// One op on its operands; functions are named after ops.
class Meaning : public Operands {
 public:
  using Operands::Operands;

  Array result() {
    switch (call_.op.kind) {
      case OpKind::binary:
        return binary_of();
      case OpKind::unary:
        return each([&](double x) { return unary(number(0), x); });
      case OpKind::scalar:
        return each(
            [&](double x) { return scalar(number(0), x, number(1) != 0, call_.state.factor); });
      case OpKind::host_step:
        return each([](double x) { return 2 * x + 1; });
      case OpKind::gated:
        return gated();
      case OpKind::rms_norm:
        return rms_norm();
      case OpKind::softmax:
        return softmax();
      case OpKind::rope:
        return rope();
      case OpKind::reduce:
        return reduce();
      case OpKind::argmax:
        return argmax();
      case OpKind::cumsum:
        return cumsum();
      case OpKind::advance:
        return advance();
      case OpKind::custom:
        return zipped([](double x, double w) { return x * w; });
      case OpKind::accumulate:
        return accumulate();
      case OpKind::matmul:
      case OpKind::attention:
      case OpKind::experts:
        return run_product(call_);
      default:
        return run_movement(call_);
    }
  }

 private:
  Array binary_of() {
    Values z;
    const std::size_t missing = a().dims.size() - b().dims.size();
    for (std::int64_t i = 0; i < a().count(); ++i) {
      std::int64_t rest = i, place = 0, step = 1;
      for (std::size_t d = a().dims.size(); d-- > missing;) {
        place += rest % a().dims[d] % b().dims[d - missing] * step;
        rest /= a().dims[d];
        step *= b().dims[d - missing];
      }
      z.push_back(binary(number(0), a().at(i), b().at(place)));
    }
    return computed(a().dims, z);
  }

  Array gated() {
    if (has(1)) {
      return zipped([&](double g, double up) { return gate(number(0), g) * up; });
    }
    const std::int64_t half = a().back() / 2;
    return by_row(half, [&](const Values& x, Values& y) {
      for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = gate(number(0), x[i]) * x[i + y.size()];
      }
    });
  }

  Array rms_norm() {
    return by_row(a().back(), [&](const Values& x, Values& y) {
      double power = 0;
      for (const double value : x) {
        power += value * value;
      }
      const double root = std::sqrt(power / static_cast<double>(x.size()) + 1e-5);
      for (std::size_t i = 0; i < x.size(); ++i) {
        y[i] = x[i] / root * (has(1) ? b().at(static_cast<std::int64_t>(i)) : 1.0);
      }
    });
  }

  Array softmax() {
    const double scale = number(0) != 0 ? call_.state.factor : 1.0;
    return by_row(a().back(), [&](const Values& x, Values& y) {
      std::ranges::transform(x, y.begin(), [&](double v) { return v * scale; });
      normalise(y);
    });
  }

  double place_of(std::int64_t row) const {
    switch (static_cast<Place>(number(0))) {
      case Place::constant:
        return static_cast<double>(3 + row);
      case Place::ids:
        return b().at(row);
      default:
        return static_cast<double>(call_.state.position + row);
    }
  }

  Array rope() {
    const std::int64_t heads = a().dims[1], dim = a().dims[2], half = dim / 2;
    Values y = a().flat();
    for (std::int64_t i = 0; i < a().row_count(); ++i) {
      const double position = place_of(i / heads);
      for (std::int64_t pair = 0; pair < half; ++pair) {
        const bool halves = number(1) != 0;
        const std::size_t first = index(i * dim + (halves ? pair : 2 * pair));
        const std::size_t second = first + index(halves ? half : 1);
        const double angle = position * std::pow(10000.0, -2.0 * static_cast<double>(pair) /
                                                              static_cast<double>(dim));
        const double x0 = y[first], x1 = y[second];
        y[first] = x0 * std::cos(angle) - x1 * std::sin(angle);
        y[second] = x0 * std::sin(angle) + x1 * std::cos(angle);
      }
    }
    return computed(a().dims, y);
  }

  /// What rounding loses of a sum follows from the numbers in it: they may cancel.
  double sum_of(const Values& x) {
    double sum = 0, magnitude = 0;
    for (const double value : x) {
      sum += value;
      magnitude += std::fabs(value);
    }
    return sum + kRounding * call_.noise.next() * magnitude;
  }

  Array cumsum() {
    return by_row(a().back(), [&](const Values& x, Values& y) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        y[i] = sum_of(Values(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(i) + 1));
      }
    });
  }

  Array reduce() {
    if (number(0) == 3) {
      return computed({1}, {sum_of(a().flat())});
    }
    return by_row(1, [&](const Values& x, Values& y) {
      y[0] = sum_of(x);
      if (number(0) == 1) {
        y[0] /= static_cast<double>(x.size());
      } else if (number(0) == 2) {
        y[0] = *std::ranges::max_element(x);
      }
    });
  }

  Array argmax() {
    Values y;
    const Values x = a().flat();
    for (std::int64_t row = 0; row < a().row_count(); ++row) {
      const auto begin = x.begin() + row * a().back();
      y.push_back(static_cast<double>(std::max_element(begin, begin + a().back()) - begin));
      call_.choices.push_back({{begin, begin + a().back()}, 1});
    }
    return {Kind::i32, {a().dims[0]}, y};
  }

  Array advance() {
    const int next = static_cast<int>(a().at(0));
    call_.state.position += call_.state.rows;
    call_.state.token = next;
    if (call_.stops && next == kEndToken) {
      call_.state.done = 1;
    }
    return {};
  }

  Array accumulate() {
    for (std::int64_t i = 0; i < a().count(); ++i) {
      double& total = b().at(i);
      total += a().at(i) * call_.state.factor;
      total += kRounding * call_.noise.next() * std::fabs(total);
    }
    return {};
  }
};

}  // namespace

Array run_op(const Call& call) { return Meaning(call).result(); }

}  // namespace reprise::crossed
