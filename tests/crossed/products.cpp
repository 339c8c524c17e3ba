// What products mean: matrices, attention, experts.
#include <algorithm>
#include <numeric>

#include "tests/crossed/operands.h"

namespace reprise::crossed {
namespace {

constexpr double kSmallestNormal = 0x1p-126;  // of f32

class Product : public Operands {
 public:
  using Operands::Operands;

  Array result() {
    switch (call_.op.kind) {
      case OpKind::matmul:
        return matmul();
      case OpKind::attention:
        return attention();
      default:
        return experts();
    }
  }

 private:
  /// A row that a device may round to 8 bits before it multiplies.
  Values rounded_row(Values row) const {
    double largest = 0;
    for (const double value : row) {
      largest = std::max(largest, std::fabs(value));
    }
    for (double& value : row) {
      value += call_.noise.next() * largest / 127;
    }
    return row;
  }

  Array matmul() {
    const Array& w = b();
    const std::int64_t m = w.dims[0], k = w.dims[1];
    const bool rounds = call_.rounds_rows && w.kind == Kind::q8_0;
    const Values weights = w.flat();
    Array y = by_row(m, [&](const Values& x, Values& out) {
      const Values row = rounds ? rounded_row(x) : x;
      for (std::int64_t j = 0; j < m; ++j) {
        out[index(j)] = std::inner_product(row.begin(), row.end(), weights.begin() + j * k, 0.0);
      }
    });
    if (has(2)) {
      const Array& residual = operand(2);
      for (std::int64_t i = 0; i < y.count(); ++i) {
        y.at(i) += residual.at(residual.dims.size() == 1 ? i % m : i);
      }
    }
    return y;
  }

  std::int64_t keys_in_use(std::int64_t rows, std::int64_t capacity) const {
    switch (static_cast<KeyCount>(number(0))) {
      case KeyCount::length:
        return std::clamp<std::int64_t>(call_.state.length, 0, capacity);
      case KeyCount::past:
        return std::clamp<std::int64_t>(call_.state.position + rows, 0, capacity);
      case KeyCount::constant:
        return std::min<std::int64_t>(7, capacity);
      case KeyCount::all:
        break;
    }
    return capacity;
  }

  Array attention() {
    const Array &q = a(), &k = b(), &v = operand(2);
    const std::int64_t rows = q.dims[0], heads = q.dims[1], dim = q.dims[2];
    const std::int64_t used = keys_in_use(rows, k.dims[0]), shared = heads / k.dims[1];
    const std::int64_t width = v.dims[2];
    Values result;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t place = used - rows + r;
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t kv = h / shared;
        Values scores;
        std::vector<std::int64_t> seen;
        for (std::int64_t key = 0; key < used; ++key) {
          const bool causal = (number(1) & kCausal) != 0, window = (number(1) & kWindow) != 0;
          const double mask = has(3) ? operand(3).at(r * operand(3).dims[1] + key) : 0.0;
          if ((causal && key > place) || (window && key <= place - 3) || mask == -INFINITY) {
            continue;
          }
          double score = 0;
          for (std::int64_t i = 0; i < dim; ++i) {
            score += q.at((r * heads + h) * dim + i) * k.at((key * k.dims[1] + kv) * dim + i);
          }
          score /= std::sqrt(static_cast<double>(dim));
          score = (number(1) & kSoftcap) != 0 ? 2 * std::tanh(score / 2) : score;
          scores.push_back(score + mask);
          seen.push_back(key);
        }
        Values sum(index(width));
        if (!seen.empty()) {
          normalise(scores);
        }
        for (std::size_t s = 0; s < seen.size(); ++s) {
          for (std::int64_t i = 0; i < width; ++i) {
            sum[index(i)] += scores[s] * v.at((seen[s] * v.dims[1] + kv) * width + i);
          }
        }
        result.insert(result.end(), sum.begin(), sum.end());
      }
    }
    return computed(with_back(q, width), result);
  }

  Array experts() {
    const Array& router = call_.values[index(id_of(Leaf::router))];
    const Array& weights = call_.values[index(id_of(Leaf::experts))];
    const std::int64_t n = kColumns;
    return by_row(n, [&](const Values& x, Values& y) {
      Values gates;
      for (std::int64_t e = 0; e < kExperts; ++e) {
        double logit = kRounding * call_.noise.next();
        for (std::int64_t i = 0; i < n; ++i) {
          logit += router.at(e * n + i) * x[index(i)];
        }
        gates.push_back(logit);
      }
      Values shares = gates;
      if (number(0) != 0) {
        std::ranges::transform(shares, shares.begin(), [](double v) { return sigmoid(v); });
      } else {
        normalise(shares);
      }
      std::vector<int> order{0, 1, 2, 3};
      std::ranges::stable_sort(order, [&](int i, int j) {
        return gates[static_cast<std::size_t>(i)] > gates[static_cast<std::size_t>(j)];
      });
      call_.choices.push_back({gates, kUsedExperts});
      if (shares[index(order[1])] < kSmallestNormal) {
        call_.choices.push_back({{0, 0}, 1});  // a device may take the gate for 0, or not
      }
      double sum = 0;
      for (int u = 0; u < kUsedExperts; ++u) {
        sum += shares[static_cast<std::size_t>(order[static_cast<std::size_t>(u)])];
      }
      for (int u = 0; u < kUsedExperts; ++u) {
        const int e = order[static_cast<std::size_t>(u)];
        for (std::int64_t j = 0; j < n; ++j) {
          double product = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            product += weights.at((e * n + j) * n + i) * x[index(i)];
          }
          y[index(j)] += product * shares[static_cast<std::size_t>(e)] / sum;
        }
      }
    });
  }
};

}  // namespace

void normalise(Values& scores) {
  const double largest = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) {
    score = std::exp(score - largest);
    sum += score;
  }
  for (double& score : scores) {
    score /= sum;
  }
}

Array run_product(const Call& call) { return Product(call).result(); }

}  // namespace reprise::crossed
