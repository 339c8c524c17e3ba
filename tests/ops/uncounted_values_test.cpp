// What does not count for a result changes no bit of it, NaN and infinities included: keys that a
// row does not see, experts that were not chosen, states of sequences that begin, taps on padding,
// and whatever lies beside an operand.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <set>

#include "reprise/ops/attention.h"
#include "reprise/ops/conv.h"
#include "reprise/ops/copy.h"
#include "reprise/ops/gated_delta.h"
#include "reprise/ops/l2_norm.h"
#include "reprise/ops/matmul.h"
#include "reprise/ops/matmul_experts.h"
#include "reprise/ops/reduce.h"
#include "reprise/ops/rms_norm.h"
#include "reprise/ops/set_rows.h"
#include "reprise/ops/softmax.h"
#include "reprise/ops/solve_triangular.h"
#include "reprise/ops/ssm_conv.h"
#include "reprise/ops/ssm_scan.h"
#include "reprise/ops/views.h"
#include "tests/ops/kernel_devices.h"

namespace reprise::testing {
namespace {

using Floats = std::vector<float>;

/// Makes the operands of one run: the same values in each, but for what is poisoned.
class Operands {
 public:
  Operands(const Device& device, GraphSession& session, float poison, std::uint64_t seed)
      : device_(device), session_(session), poison_(poison), rng_(seed) {}

  GraphSession& session() { return session_; }
  float poison() const { return poison_; }

  /// `poisoned(row, column)` of the matrix that the shape is with its first dimension as rows.
  Tensor tensor(const Shape& shape,
                const std::function<bool(std::int64_t, std::int64_t)>& poisoned = nullptr) {
    Floats values = random(shape);
    const std::int64_t columns = shape.elements() / shape.dim(0);
    for (std::size_t i = 0; i < values.size() && poisoned != nullptr; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      values[i] = poisoned(at / columns, at % columns) ? poison_ : values[i];
    }
    return device_.from_host(shape, values);
  }
  /// A table of another dtype, some of whose rows are poisoned.
  Tensor table(const Shape& shape, DType dtype, const std::set<std::int64_t>& poisoned) {
    const Tensor rows =
        tensor(shape, [&](std::int64_t row, std::int64_t) { return poisoned.contains(row); });
    if (dtype == DType::f32) {
      return rows;
    }
    const Tensor table = device_.zeros(shape, dtype);
    set_rows(session_, table, rows, SetRowsAttributes{.position = 0});
    return table;
  }
  Tensor integers(const Shape& shape, const std::vector<std::int32_t>& values) {
    return device_.from_host(shape, values);
  }

 private:
  Floats random(const Shape& shape) {
    std::uniform_real_distribution<float> distribution(0.1F, 1.0F);
    Floats values(static_cast<std::size_t>(shape.elements()));
    for (float& value : values) {
      value = distribution(rng_);
    }
    return values;
  }
  const Device& device_;
  GraphSession& session_;
  float poison_;
  std::mt19937_64 rng_;
};

/// A result for which the poison does not count.
struct Row {
  std::string name;
  std::function<Tensor(Operands&)> build;
};

Tensor first_rows(GraphSession& s, const Tensor& y, std::int64_t count) {
  return slice(s, y, 0, 0, count);
}

/// `hidden` are keys that the first `unseeing` rows do not see.
Row attention_row(const std::string& name, std::int64_t rows, DType cache, bool of_values,
                  const std::set<std::int64_t>& hidden, std::int64_t unseeing,
                  const std::function<void(Operands&, AttentionAttributes&)>& set) {
  return {"attention_" + name + "_of_" + std::to_string(rows) + "_rows_" +
              std::string(name_of(cache)) + (of_values ? "_values" : "_keys"),
          [=](Operands& o) {
            GraphSession& s = o.session();
            AttentionAttributes a;
            set(o, a);
            const std::set<std::int64_t> none;
            const Tensor k = o.table({9, 2, 32}, cache, of_values ? none : hidden);
            const Tensor v = o.table({9, 2, 32}, cache, of_values ? hidden : none);
            return first_rows(s, attention(s, o.tensor({rows, 4, 32}), k, v, a), unseeing);
          }};
}

void add_attention(std::vector<Row>& list, std::int64_t rows, DType cache, bool of_values) {
  using A = AttentionAttributes;
  const auto add = [&](const std::string& name, const std::set<std::int64_t>& hidden,
                       std::int64_t unseeing, const std::function<void(Operands&, A&)>& set) {
    list.push_back(attention_row(name, rows, cache, of_values, hidden, unseeing, set));
  };
  for (const DType mask : {DType::f32, DType::f16}) {
    add("masked_" + std::string(name_of(mask)), {0, 4, 8}, rows, [=](Operands& o, A& a) {
      Floats values(static_cast<std::size_t>(rows) * 9, 0.5F);
      for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
        for (const std::size_t key : {0U, 4U, 8U}) {
          values[row * 9 + key] = -kInfinity;
        }
      }
      const Tensor f32 =
          o.session().input("mask", {rows, 9}, DType::f32, std::as_bytes(std::span(values)));
      a.causal = false;
      a.mask = mask == DType::f32 ? f32 : cast(o.session(), f32, DType::f16);
    });
  }
  if (rows > 1) {
    add("causal", {8}, rows - 1, [](Operands&, A&) {});
  }
  add("past", {7, 8}, rows, [=](Operands&, A& a) { a.past = static_cast<std::int32_t>(7 - rows); });
  add("kv_len", {6, 7, 8}, rows, [](Operands&, A& a) { a.kv_len = 6; });
  add("window", {0, 1}, rows,
      [=](Operands&, A& a) { a.window = static_cast<std::int32_t>(8 - rows); });
  add("columns_of_the_mask", {7, 8}, rows, [=](Operands& o, A& a) {
    a.causal = false;
    a.mask = o.tensor({rows, 7});
  });
}

/// A key whose score is -infinity, as its query is above 0.
Row infinite_score(std::int64_t rows, std::int64_t keys, bool sink) {
  return {
      "attention_score_of_minus_infinity_of_" + std::to_string(rows) + "_rows_" +
          std::to_string(keys) + "_keys" + (sink ? "_sink" : ""),
      [=](Operands& o) {
        GraphSession& s = o.session();
        const Shape shape{keys, 1, 32};
        Floats key(static_cast<std::size_t>(shape.elements()), 0.25F);
        std::fill_n(key.end() - 32, 32, -kInfinity);
        const Tensor k = s.input("k", shape, DType::f32, std::as_bytes(std::span(key)));
        AttentionAttributes a{.causal = false};
        if (sink) {
          a.sinks = o.tensor({2});
        }
        return attention(s, o.tensor({rows, 2, 32}), k, o.table(shape, DType::f32, {keys - 1}), a);
      }};
}

/// No key counts for the first row: it is zeros, whatever its sink is.
Row sink_without_keys(std::int64_t rows) {
  return {"attention_sink_without_keys_of_" + std::to_string(rows) + "_rows", [=](Operands& o) {
            GraphSession& s = o.session();
            const std::int64_t keys = std::max<std::int64_t>(rows - 1, 0);
            const Tensor y = attention(
                s, o.tensor({rows, 2, 32}), o.tensor({9, 1, 32}), o.tensor({9, 1, 32}),
                {.kv_len = static_cast<std::int32_t>(keys),
                 .sinks = o.tensor({2}, [](std::int64_t, std::int64_t) { return true; })});
            return first_rows(s, y, 1);
          }};
}

/// Poison beside the columns of x, in another row of x, and in another row of w.
void add_matmul(std::vector<Row>& list, std::int64_t rows, std::int64_t k, DType weights) {
  const std::string name =
      std::to_string(rows) + "x" + std::to_string(k) + "_" + std::string(name_of(weights));
  list.push_back({"matmul_beside_x_" + name, [=](Operands& o) {
                    GraphSession& s = o.session();
                    const Tensor wide = o.tensor(
                        {rows, k + 5}, [=](std::int64_t, std::int64_t c) { return c >= k; });
                    return matmul(s, slice(s, wide, 1, 0, k), o.table({11, k}, weights, {}));
                  }});
  list.push_back({"matmul_other_row_of_x_" + name, [=](Operands& o) {
                    GraphSession& s = o.session();
                    const Tensor x = o.tensor(
                        {rows + 1, k}, [=](std::int64_t r, std::int64_t) { return r == rows; });
                    return first_rows(s, matmul(s, x, o.table({11, k}, weights, {})), rows);
                  }});
  list.push_back(
      {"matmul_other_row_of_w_" + name, [=](Operands& o) {
         GraphSession& s = o.session();
         const Tensor y = matmul(s, o.tensor({rows, k}), o.table({11, k}, weights, {10}));
         return copy(s, slice(s, y, 1, 0, 10));
       }});
}

Row experts(DType weights, std::int64_t rows) {
  return {"matmul_experts_not_chosen_of_" + std::to_string(rows) + "_rows_" +
              std::string(name_of(weights)),
          [=](Operands& o) {
            GraphSession& s = o.session();
            std::vector<std::int32_t> ids;
            for (std::int64_t r = 0; r < rows; ++r) {
              ids.insert(ids.end(), {1, r % 2 == 0 ? 3 : 7});  // 7: not there
            }
            return matmul_experts(s, o.tensor({rows, 2, 32}), o.table({4, 6, 32}, weights, {0, 2}),
                                  o.integers({rows, 2}, ids));
          }};
}

/// The states of sequences that begin, and those of others.
void add_recurrences(std::vector<Row>& list) {
  const auto state = [](Operands& o, const Shape& shape, bool begins) {
    return o.tensor(shape, [=](std::int64_t slot, std::int64_t) { return begins || slot == 0; });
  };
  for (const bool begins : {false, true}) {
    const std::string which = begins ? "_of_a_sequence_that_begins" : "_of_another_sequence";
    const Param<std::int32_t> past = begins ? 0 : 1;
    list.push_back({"gated_delta" + which, [=](Operands& o) {
                      return gated_delta(o.session(), state(o, {2, 4, 8, 8}, begins),
                                         {.q = o.tensor({1, 3, 2, 8}),
                                          .k = o.tensor({1, 3, 2, 8}),
                                          .v = o.tensor({1, 3, 4, 8}),
                                          .gate = o.tensor({1, 3, 4}),
                                          .beta = o.tensor({1, 3, 4})},
                                         o.integers({1}, {1}), {.past = past});
                    }});
    list.push_back({"ssm_scan" + which, [=](Operands& o) {
                      return ssm_scan(o.session(), state(o, {2, 4, 8, 16}, begins),
                                      {.x = o.tensor({1, 3, 4, 8}),
                                       .dt = o.tensor({1, 3, 4}),
                                       .a = o.tensor({4, 1}),
                                       .b = o.tensor({1, 3, 2, 16}),
                                       .c = o.tensor({1, 3, 2, 16})},
                                      o.integers({1}, {1}), {.past = past});
                    }});
    list.push_back({"ssm_conv" + which, [=](Operands& o) {
                      return ssm_conv(o.session(), state(o, {2, 8, 3}, begins), o.tensor({1, 5, 8}),
                                      o.tensor({8, 4}), {}, o.integers({1}, {1}), {.past = past});
                    }});
  }
}

/// Taps that lie on the padding of the results that are looked at.
void add_convolutions(std::vector<Row>& list) {
  list.push_back(
      {"conv_1d_tap_on_padding", [](Operands& o) {
         GraphSession& s = o.session();
         const Tensor w =
             o.tensor({1, 2}, [](std::int64_t, std::int64_t column) { return column == 0; });
         const Tensor y = conv_1d(s, o.tensor({1, 3}), reshape(s, w, {1, 1, 2}), {.padding = 1});
         return copy(s, slice(s, y, 1, 0, 1));
       }});
  list.push_back({"conv_2d_tap_on_padding", [](Operands& o) {
                    GraphSession& s = o.session();
                    const Tensor w = o.tensor({3, 3}, [](std::int64_t row, std::int64_t column) {
                      return row == 0 || column == 0;
                    });
                    const Tensor y = conv_2d(s, o.tensor({1, 4, 4}), reshape(s, w, {1, 1, 3, 3}),
                                             {.padding_y = 1, .padding_x = 1});
                    return copy(s, slice(s, slice(s, y, 1, 0, 1), 2, 0, 1));
                  }});
}

/// Rows of `columns` within wider ones.
void add_rows_of_views(std::vector<Row>& list, std::int64_t columns) {
  using Call = std::function<Tensor(GraphSession&, const Tensor&, Operands&)>;
  const auto add = [&](const std::string& name, const Call& call) {
    list.push_back({name + "_beside_" + std::to_string(columns) + "_columns", [=](Operands& o) {
                      const Tensor wide = o.tensor(
                          {3, columns + 7},
                          [=](std::int64_t, std::int64_t c) { return c < 3 || c >= columns + 3; });
                      return call(o.session(), slice(o.session(), wide, 1, 3, columns), o);
                    }});
  };
  add("softmax", [](GraphSession& s, const Tensor& x, Operands&) { return softmax(s, x); });
  add("sum", [](GraphSession& s, const Tensor& x, Operands&) { return sum(s, x); });
  add("rms_norm", [=](GraphSession& s, const Tensor& x, Operands& o) {
    return rms_norm(s, x, o.tensor({columns}));
  });
  add("l2_norm", [](GraphSession& s, const Tensor& x, Operands&) { return l2_norm(s, x); });
}

std::vector<Row> rows() {
  std::vector<Row> list;
  for (const std::int64_t rows : {1, 2, 5}) {
    for (const DType cache : {DType::f32, DType::f16, DType::q8_0}) {
      for (const bool of_values : {true, false}) {
        add_attention(list, rows, cache, of_values);
      }
    }
    list.push_back(infinite_score(rows, 1, false));
    list.push_back(infinite_score(rows, 1, true));
    list.push_back(infinite_score(rows, 7, false));
    list.push_back(sink_without_keys(rows));
    list.push_back(experts(DType::f32, rows));
    list.push_back(experts(DType::q8_0, rows));
    for (const DType weights : {DType::f32, DType::f16}) {
      add_matmul(list, rows, 33, weights);
      add_matmul(list, rows, 64, weights);
    }
    add_matmul(list, rows, 64, DType::q8_0);
  }
  add_recurrences(list);
  add_convolutions(list);
  add_rows_of_views(list, 13);
  add_rows_of_views(list, 64);
  list.push_back(
      {"solve_triangular_above_the_diagonal", [](Operands& o) {
         const Tensor a = o.tensor({5, 5}, [](std::int64_t r, std::int64_t c) { return c > r; });
         return solve_triangular(o.session(), a, o.tensor({5, 3}));
       }});
  return list;
}

std::vector<float> run(const Device& device, const Row& row, float poison, std::uint64_t seed) {
  GraphExecutor executor(device);
  auto session = executor.begin();
  Operands operands(device, session, poison, seed);
  session.output("y", row.build(operands));
  return session.finish().read("y");
}

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Kernels {
  std::string name, device;
  std::optional<KernelFamily> family{};
};

/// For messages of gtest, which finds it by name.
void PrintTo(const Kernels& kernels, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << kernels.name;
}

class UncountedValues : public ::testing::TestWithParam<Kernels> {};
INSTANTIATE_TEST_SUITE_P(With, UncountedValues,
                         ::testing::Values(Kernels{"references", "reference"},
                                           Kernels{"cpu", "cpu"},
                                           Kernels{"portable", "vulkan", KernelFamily::portable},
                                           Kernels{"lanes", "vulkan", KernelFamily::lanes},
                                           Kernels{"gpu", "vulkan", KernelFamily::gpu}),
                         [](const ::testing::TestParamInfo<Kernels>& kernels) {
                           return kernels.param.name;
                         });

TEST_P(UncountedValues, ChangeNoBit) {
  const std::optional<Device> device = device_with(GetParam().device, GetParam().family);
  if (!device) {
    GTEST_SKIP() << "This device cannot run these kernels.";
  }
  const ExpectNoValidationMessages quiet;
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    const Floats plain = run(*device, row, 0.5F, seed);
    EXPECT_TRUE(std::ranges::all_of(plain, [](float v) { return std::isfinite(v); }));
    for (const float poison : {std::nanf(""), kInfinity, -kInfinity}) {
      EXPECT_TRUE(same_bits(run(*device, row, poison, seed), plain)) << "poison " << poison;
    }
  }
}

}  // namespace
}  // namespace reprise::testing
