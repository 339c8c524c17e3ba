// Values of the host that a recording would bake, one test per kind, and what is none of them.
#include <gmock/gmock.h>

#include "reprise/backend/backend.h"
#include "tests/session/leaky_op.h"
#include "tests/session/saved_pass.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class Lint : public ::testing::TestWithParam<std::string> {
 protected:
  /// Two runs: `step` is 0 in the first one and 1 in the second.
  LintReport two_runs(const RecordFunction& pass, const SessionOptions& session = {}) {
    return lint(executor_, pass,
                {.session = session, .runs = {[&] { step_ = 0; }, [&] { step_ = 1; }}});
  }
  /// The finding of a field; fails the test if there is none.
  static LintFinding find(const LintReport& report, const std::string& field) {
    for (const LintFinding& finding : report.findings) {
      if (finding.field == field) {
        return finding;
      }
    }
    ADD_FAILURE() << "no finding of '" << field << "' in: " << report.text();
    return {};
  }
  /// Findings that follow from no other.
  static std::ptrdiff_t causes(const LintReport& report) {
    return std::ranges::count(report.findings, false, &LintFinding::follows);
  }
  /// It is about the op that was called in this file, in the line kept by here().
  void expect(const LintFinding& found, const std::string& op, const std::string& first,
              const std::string& other) const {
    EXPECT_EQ(found.op, op);
    EXPECT_EQ(found.first, first);
    EXPECT_EQ(found.other, other);
    EXPECT_EQ(found.where.line, line_);
    EXPECT_TRUE(std::string(found.where.file).ends_with("lint_test.cpp")) << found.where.file;
    EXPECT_FALSE(found.follows);
  }
  /// For the line below.
  void here(std::uint32_t line = __builtin_LINE()) { line_ = line + 1; }

  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  std::int32_t step_ = 0;
  std::uint32_t line_ = 0;
  const Tensor table_ = device_.from_host({8, 4}, wave(32, 0.3), "table");
  const Tensor other_ = device_.from_host({8, 4}, wave(32, 0.7), "other");
  const std::vector<float> x_ = wave(16, 0.5);
};
INSTANTIATE_TEST_SUITE_P(On, Lint, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(Lint, FindsABakedNumberOfAnAttribute) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor x = s.input("x", {2, 2, 4}, x_);
    here();
    s.output("y", rope(s, x, {.position = 3 + step_}));
  });
  expect(find(report, "position"), "rope", "3", "4");
  EXPECT_EQ(causes(report), 1);
}

TEST_P(Lint, FindsABakedFloatToTheLastBit) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor x = s.input("x", {4, 4}, x_);
    const Tensor weight = reshape(s, slice(s, table_, 0, 0, 1), {4});
    const float eps = step_ == 0 ? 1.0F : std::nextafter(1.0F, 2.0F);
    here();
    s.output("y", rms_norm(s, x, weight, {.eps = eps}));
  });
  expect(find(report, "eps"), "rms_norm", "1", "1.00000012");
}

TEST_P(Lint, FindsABakedOffset) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor row = slice(s, table_, 0, 1 + step_, 1);
    here();
    s.output("y", mul(s, row, row));
  });
  expect(find(report, "offset of x"), "mul", "16 bytes", "32 bytes");
  expect(find(report, "offset of y"), "mul", "16 bytes", "32 bytes");
}

TEST_P(Lint, FindsABakedOffsetInsideOfAResult) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor sum = add(s, table_, other_);
    const Tensor columns = slice(s, sum, 1, 1 + step_, 2);
    here();
    s.output("y", copy(s, columns));
  });
  expect(find(report, "offset of x"), "copy", "4 bytes", "8 bytes");
  EXPECT_EQ(causes(report), 1);
}

TEST_P(Lint, FindsABakedBuffer) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor& of_this_step = step_ == 0 ? table_ : other_;
    here();
    s.output("y", get_rows(s, of_this_step, 3));
  });
  expect(find(report, "buffer of table"), "get_rows", "'table' in the buffer 'table' of 128 bytes",
         "'other' in the buffer 'other' of 128 bytes");
  EXPECT_EQ(report.findings.size(), 1U);
}

TEST_P(Lint, FindsABufferThatEveryRunMakes) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor scratch = device_.zeros({4, 4}, DType::f32, "scratch");
    here();
    s.output("y", add(s, scratch, s.input("x", {4, 4}, x_)));
  });
  expect(find(report, "buffer of x"), "add", "'scratch' in the buffer 'scratch' of 64 bytes",
         "another one");
}

TEST_P(Lint, FindsABakedCopySize) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor rows = slice(s, table_, 0, 0, 2 + step_);
    here();
    s.output("y", copy(s, rows));
  });
  expect(find(report, "shape of x"), "copy", "[2, 4]", "[3, 4]");
  const LintFinding bytes = find(report, "copy bytes");
  EXPECT_EQ(bytes.op, "copy");
  EXPECT_EQ(bytes.where.line, line_);
  EXPECT_EQ(bytes.first, "32");
  EXPECT_EQ(bytes.other, "48");
  EXPECT_TRUE(bytes.follows);
}

TEST_P(Lint, FindsABakedArrayLength) {
  const std::vector<std::int32_t> ids{1, 2, 3};
  const LintReport report = two_runs([&](GraphSession& s) {
    const std::int64_t count = 2 + step_;
    const auto given = std::span(ids).first(static_cast<std::size_t>(count));
    const Tensor of_this_step = s.input("ids", {count}, given);
    here();
    const Tensor rows = get_rows(s, table_, of_this_step);
    s.output("y", add(s, rows, rows));
  });
  expect(find(report, "shape of input 'ids'"), "get_rows", "[2]", "[3]");
  EXPECT_EQ(causes(report), 1) << "what is computed from it follows: " << report.text();
  EXPECT_EQ(find(report, "shape of x").op, "add");
  EXPECT_EQ(find(report, "shape of output 'y'").op, "add");
}

TEST_P(Lint, FindsAnInputThatNothingUses) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const std::int64_t count = 2 + step_;
    s.output("y", s.input("x", {count}, std::span(x_).first(static_cast<std::size_t>(count))));
  });
  const LintFinding found = find(report, "shape of input 'x'");
  EXPECT_EQ(found.node, LintFinding::kNoNode);
  EXPECT_EQ(found.text(), "input: shape of input 'x' is ([2]) in run 0 and ([3]) in run 1");
}

TEST_P(Lint, FindsAnotherOfTwoResults) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor x = s.input("x", {4, 4}, x_);
    const Tensor sum = add(s, x, x);
    const Tensor product = mul(s, x, x);
    here();
    s.output("y", silu_mul(s, x, step_ == 0 ? sum : product));
  });
  const LintFinding& found = report.findings.at(0);
  EXPECT_EQ(found.node, 2U);
  EXPECT_TRUE(found.field.starts_with("buffer of ")) << found.field;
  EXPECT_EQ(found.first, "result of op 0 add");
  EXPECT_EQ(found.other, "result of op 1 mul");
  EXPECT_EQ(found.where.line, line_);
}

TEST_P(Lint, FindsAnOperandThatIsNotAlwaysGiven) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor q = s.input("q", {2, 2, 4}, x_);
    const Tensor mask = s.input("mask", {2, 2}, std::vector<float>(4));
    here();
    s.output("y", attention(s, q, q, q, {.mask = step_ == 0 ? Tensor() : mask}));
  });
  expect(find(report, "operand mask"), "attention", "absent", "given");
}

TEST_P(Lint, FindsAnotherOutput) {
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor x = s.input("x", {4, 4}, x_);
    const Tensor sum = add(s, x, x);
    const Tensor product = mul(s, x, x);
    s.output("y", step_ == 0 ? sum : product);
  });
  const LintFinding found = find(report, "buffer of output 'y'");
  EXPECT_EQ(found.first, "result of op 0 add");
  EXPECT_EQ(found.other, "result of op 1 mul");
}

TEST_P(Lint, OfAnotherNumberOfOpsNamesTheFirstDifference) {
  const LintReport report = two_runs([&](GraphSession& s) {
    Tensor x = s.input("x", {4, 4}, x_);
    for (std::int32_t i = 0; i < 2 + step_; ++i) {
      x = add(s, x, x);
    }
    here();
    s.output("y", mul(s, x, x));
  });
  ASSERT_EQ(report.findings.size(), 1U) << report.text();
  expect(report.findings[0], "mul", "mul", "add");
  EXPECT_EQ(report.findings[0].node, 2U);
  EXPECT_EQ(report.findings[0].field, "op");
}

TEST_P(Lint, OfAnOpThatIsMissingInTheFirstRunNamesThatOfTheOther) {
  const LintReport report = two_runs([&](GraphSession& s) {
    Tensor x = s.input("x", {4, 4}, x_);
    x = add(s, x, x);
    if (step_ == 1) {
      here();
      x = mul(s, x, x);
    }
    s.output("y", x);
  });
  ASSERT_EQ(report.findings.size(), 1U) << report.text();
  expect(report.findings[0], "mul", "no op", "mul");
  EXPECT_EQ(report.findings[0].text(), "op 1 mul, " + std::string(__FILE__) + ":" +
                                           std::to_string(line_) +
                                           ": op is (no op) in run 0 and (mul) in run 1");
}

TEST_P(Lint, ComparesEveryRunWithTheFirstAndSaysWhichDiffered) {
  const auto run = [&](std::int32_t step) { return [&, step] { step_ = step; }; };
  const LintReport report = lint(executor_,
                                 [&](GraphSession& s) {
                                   const auto scope = s.scope("layer", 1);
                                   s.output("y", get_rows(s, table_, step_));
                                 },
                                 {.session = {.name = "rows"}, .runs = {run(4), run(4), run(6)}});
  EXPECT_EQ(causes(report), 1);
  EXPECT_EQ(find(report, "id").run, 2U);
  EXPECT_EQ(find(report, "id").scope, "layer.1");
  EXPECT_TRUE(report.text().starts_with("'rows', 3 runs, 1 ops: 1 baked"));
  EXPECT_TRUE(report.text().find("\nop 0 get_rows (layer.1), ") != std::string::npos);
  EXPECT_TRUE(report.text().ends_with(": id is (4) in run 0 and (6) in run 2"));
}

TEST_P(Lint, FindsCountersWithoutBeingGivenRuns) {
  std::int32_t calls = 0;
  const LintReport report =
      lint(executor_, [&](GraphSession& s) { s.output("y", get_rows(s, table_, calls++)); });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(find(report, "id").other, "1");
}

TEST_P(Lint, LeavesDynamicValuesNamesAndValuesOfInputsAlone) {
  const StateBlock state(device_, StateLayout().host("row").carried("pos"));
  const LintReport report = lint(executor_,
                                 [&](GraphSession& s) {
                                   const auto scope = s.scope("step", step_);
                                   const std::vector<float> values(4, static_cast<float>(step_));
                                   const std::string name = "x" + std::to_string(step_);
                                   const Tensor row = get_rows(s, table_, s.state("row"));
                                   const Tensor x = add(s, s.input(name, {1, 4}, values), row);
                                   set_rows(s, other_, x, {.position = s.state("pos")});
                                   s.output("y" + std::to_string(step_), x);
                                 },
                                 {.session = {.state = state},
                                  .runs = {[&] {
                                             state.set({{"row", 1}, {"pos", 2}});
                                           },
                                           [&] {
                                             step_ = 1;
                                             state.set({{"row", 3}, {"pos", 5}});
                                           }}});
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(report.text(), "'recorded', 2 runs, 4 ops: nothing is baked");
}

TEST_P(Lint, FindsStateThatThePassReadsOnTheHost) {
  const StateBlock state(device_, StateLayout()
                                      .host("rows", 1)
                                      .carried("pos", 3)
                                      .derived("end", field("pos") + field("rows"))
                                      .carried_array("ids", 2));
  const auto fields_of = [&](const std::function<std::int32_t()>& value) {
    return find(
        lint(executor_, [&](GraphSession& s) { s.output("y", get_rows(s, table_, value())); },
             {.session = {.state = state},
              .runs = {[] {},
                       [&] {
                         state.set("rows", 2);
                         state.set("pos", 5);
                         state.set("ids", std::vector<std::int32_t>{6, 7});
                       }}}),
        "id");
  };
  const auto expect_values = [&](const LintFinding& found, const char* first, const char* other) {
    EXPECT_EQ(found.first, first);
    EXPECT_EQ(found.other, other);
  };
  expect_values(fields_of([&] { return state.get("rows"); }), "1", "2");
  expect_values(fields_of([&] { return state.get("pos"); }), "3", "5");
  expect_values(fields_of([&] { return state.get("end"); }), "4", "7");
  expect_values(fields_of([&] { return state.values("ids")[1]; }), "0", "7");
}

TEST_P(Lint, LeavesTheStateAsItWas) {
  const StateBlock state(device_, StateLayout().host("rows", 1).carried("pos", 3).carried("done"));
  state.set({{"pos", 4}, {"rows", 2}});  // for the next launch
  (void)lint(executor_,
             [&](GraphSession& s) {
               s.output("y", s.input("x", {4, 4}, x_));
             },
             {.session = {.state = state},
              .runs = {[&] {
                         state.set({{"pos", 7}, {"rows", 5}});
                       },
                       [&] { state.set("done", 1); }}});
  EXPECT_EQ(state.get("pos"), 3);
  auto s = executor_.begin({.state = state});
  advance(s, s.input("next", {1}, std::vector<std::int32_t>{9}),
          {.position = s.state("pos"), .rows = s.state("rows")});
  (void)s.finish();
  EXPECT_EQ(state.get("pos"), 6);
  EXPECT_EQ(state.get("done"), 0);
}

TEST_P(Lint, RunsNothingAndAllocatesNothing) {
  SavedPass pass(device_);
  Backend& backend = device_.backend();
  const std::uint64_t submissions = backend.last_submission();
  const std::uint64_t allocations = backend.allocation_count();
  const LintReport report =
      lint(pass.executor, [&](GraphSession& s) { pass.record(s); },
           {.session = {.state = pass.state, .max_iterations = 8},
            .runs = {[] {},
                     [&] {
                       pass.state.set({{"pos", 9}, {"boost", 3}, {"token", 7}});
                     }}});
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_GT(report.nodes, 15U);
  EXPECT_EQ(backend.last_submission(), submissions);
  EXPECT_EQ(backend.allocation_count(), allocations);
}

TEST_P(Lint, OfOneRunIsRefused) {
  expect_error(ErrorCode::invalid_argument, {"at least 2 runs", "(1)"},
               [&] { (void)lint(executor_, [](GraphSession&) {}, {.runs = {[] {}}}); });
}

TEST_P(Lint, ThrowsWhatThePassThrowsAndRestoresTheState) {
  const StateBlock state(device_, StateLayout().carried("pos", 3));
  EXPECT_THROW(
      (void)lint(executor_,
                 [&](GraphSession&) {
                   EXPECT_EQ(state.get("pos"), 8);
                   throw std::string("not of this library");
                 },
                 {.session = {.state = state}, .runs = {[&] { state.set("pos", 8); }, [] {}}}),
      std::string);
  EXPECT_EQ(state.get("pos"), 3);
}

class LintOfPlans : public Lint {};
INSTANTIATE_TEST_SUITE_P(On, LintOfPlans, ::testing::Values("vulkan"), device_param_name);

TEST_P(LintOfPlans, FindsABakedGrid) {
  const Tensor wide = device_.zeros({8, 512}, DType::f32, "wide");
  const LintReport report = two_runs([&](GraphSession& s) {
    const Tensor rows = slice(s, wide, 0, 0, 2 + 2 * step_);
    here();
    s.output("y", copy(s, rows));
  });
  const LintFinding grid = find(report, "grid");
  EXPECT_EQ(grid.op, "copy");
  EXPECT_EQ(grid.where.line, line_);
  EXPECT_NE(grid.first, grid.other);
  EXPECT_TRUE(grid.follows) << "from the shape of x";
}

TEST_P(LintOfPlans, FindsWhatAnOpReadsFromTheHostWhenItIsLowered) {
  const LintReport report = two_runs([&](GraphSession& s) {
    leak(step_);
    const Tensor x = s.input("x", {4, 4}, x_);
    here();
    s.output("y", leaky(s, x));
  });
  const auto value = [](std::int32_t step) { return std::to_string(step + 1); };
  expect(find(report, "grid"), "leaky", "[" + value(0) + ", 1, 1]", "[" + value(1) + ", 1, 1]");
  expect(find(report, "push constants"), "leaky", "word 0: 1", "word 0: 2");
  expect(find(report, "kernel"), "leaky", "leaky (1)", "leaky (2)");
  expect(find(report, "copy bytes"), "leaky", "4", "8");
  EXPECT_EQ(report.findings.size(), 4U) << report.text();
}

TEST_P(Lint, APassWithExtentsIsClean) {
  const StateBlock state(device_, StateLayout().host("rows", 3).carried("pos"));
  const LintReport report = two_runs(
      [&](GraphSession& s) {
        const Tensor x = s.input("x", {s.extent("rows"), 4}, std::vector<float>(12, 0.5F));
        s.output("y", neg(s, x));
      },
      {.state = state, .extents = {{"rows", 4}}});
  EXPECT_TRUE(report.clean()) << report.text();
}

TEST_P(Lint, FindsRowsThatAreCountedButNotWritten) {
  StateLayout layout;
  layout.host("rows", 1);
  layout.carried("pos").carried("token");
  const StateBlock state(device_, layout);
  const Tensor keys = device_.from_host({8, 2, 4}, wave(64, 0.2), "keys");
  const Tensor next = device_.from_host({1}, std::vector<std::int32_t>{3}, "next");
  std::int32_t window = 0;
  const auto one_row = [&](GraphSession& s) {
    const Tensor x = s.input("x", {1, 2, 4}, wave(8, 0.5));
    set_rows(s, keys, x, {.position = s.state("pos"), .window = window});
    s.output("y", neg(s, x));
    advance(s, next,
            {.position = s.state("pos"), .token = s.state("token"), .rows = s.state("rows")});
  };
  const auto report_of = [&](std::int32_t rows) {
    return lint(executor_, one_row,
                {.session = {.state = state},
                 .runs = {[&] { state.set("rows", 1); }, [&] { state.set("rows", rows); }}});
  };
  EXPECT_TRUE(report_of(1).clean()) << report_of(1).text();
  window = 8;  // a ring counts rows as any table
  EXPECT_EQ(report_of(5).findings.size(), 1U);
  window = 0;
  const LintReport report = report_of(5);
  ASSERT_EQ(report.findings.size(), 1U) << report.text();
  const LintFinding& finding = report.findings[0];
  EXPECT_EQ(finding.op, "advance");
  EXPECT_EQ(finding.field, LintFinding::kRows);
  EXPECT_EQ(finding.first, "5");
  EXPECT_EQ(finding.other, "1");
  EXPECT_EQ(finding.run, 1U);
  EXPECT_THAT(report.text(),
              ::testing::HasSubstr(
                  "moves a position by (5) rows, but the pass writes (1) there, in run 1"));
}

TEST_P(Lint, FindsACacheThatIsReadPastTheRowsWrittenIntoIt) {
  const StateBlock state(device_,
                         StateLayout().host("rows", 1).carried("pos", 2).carried("token").derived(
                             "kv_len", field("pos") + field("rows")));
  const Tensor keys = device_.from_host({16, 1, 4}, wave(64, 0.2), "keys");
  const Tensor next = device_.from_host({1}, std::vector<std::int32_t>{3}, "next");
  const auto report_of = [&](std::int32_t rows, AttentionAttributes attributes) {
    return lint(executor_,
                [&](GraphSession& s) {
                  const Tensor x = s.input("x", {1, 1, 4}, wave(4, 0.5));
                  set_rows(s, keys, x, {.position = s.state("pos")});
                  s.output("y", attention(s, x, keys, keys, attributes));
                  advance(s, next,
                          {.position = s.state("pos"), .token = s.state("token"), .rows = 1});
                },
                {.session = {.state = state},
                 .runs = {[&] { state.set("rows", 1); }, [&] { state.set("rows", rows); }}});
  };
  const auto word_of = [&](const char* name) {
    return StateField{state.layout().find(name)->word, DType::i32, name};
  };
  const AttentionAttributes derived{.kv_len = word_of("kv_len")};
  EXPECT_TRUE(report_of(1, derived).clean()) << report_of(1, derived).text();
  EXPECT_TRUE(report_of(7, {.past = word_of("pos")}).clean());
  const LintReport report = report_of(7, derived);
  ASSERT_EQ(report.findings.size(), 1U) << report.text();
  EXPECT_EQ(report.findings[0].op, "attention");
  EXPECT_EQ(report.findings[0].field, LintFinding::kUsedRows);
  EXPECT_THAT(
      report.text(),
      ::testing::HasSubstr("reads (9) rows, but those that the pass writes end at (3), in run 1"));
}

TEST_P(Lint, FindsArgumentsThatCompilersRecordInDifferentOrders) {
  const LintReport report = two_runs([&](GraphSession& s) {
    here();
    const Tensor sum = add(s, get_rows(s, table_, 3), get_rows(s, other_, 3));
    here();
    s.output("y", mul(s, sum, reshape(s, sum, {1, 4})));
  });
  ASSERT_EQ(report.findings.size(), 1U) << report.text();
  EXPECT_EQ(report.findings[0].field, LintFinding::kOrder);
  EXPECT_EQ(report.findings[0].op, "add");
  EXPECT_EQ(report.findings[0].where.line, line_ - 2);
  EXPECT_THAT(report.text(),
              ::testing::HasSubstr("nothing is baked, 1 without an order\nop 2 add"));
}

TEST_P(Lint, StatementsAndFunctionsOfStatementsHaveAnOrder) {
  const auto both = [](Site site, TensorRef x, TensorRef y) {  // their calls have its line
    const Tensor first = get_rows(site, x, 3);
    const Tensor second = get_rows(site, y, 3);
    return add(site, first, second);
  };
  const LintReport report = two_runs([&](GraphSession& s) {
    Tensor sum = both(s, table_, other_);
    for (int i = 0; i < 2; ++i) {
      sum = add(s, sum, get_rows(s, table_, i));
    }
    s.output("y", relu(s, neg(s, sum)));
  });
  EXPECT_TRUE(report.clean()) << report.text();
}

}  // namespace
}  // namespace reprise::testing
