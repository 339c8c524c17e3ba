// Direct sessions that are handed to the device in parts while they are recorded.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class SplitSubmission : public ::testing::TestWithParam<std::string> {
 protected:
  static StateLayout layout() { return StateLayout().host("row", 0).carried("pos", 2); }
  /// Twelve ops that reuse memory, read and write state, and take an input late.
  FinishResult run(std::uint32_t ops_per_submit) {
    const StateBlock state(device_, layout());
    state.set("row", 1);
    state.set("pos", 3);
    auto s = executor_.begin({.state = state, .ops_per_submit = ops_per_submit});
    Tensor y = s.input("x", {4, 8}, values_);
    for (int i = 0; i < 8; ++i) {
      y = add(s, mul(s, y, y), y);
    }
    const Tensor late = s.input("late", {4, 8}, other_);
    y = add(s, y, late);
    set_rows(s, table_, y, {.position = s.state("row")});
    const Tensor next = argmax(s, reshape(s, y, {1, 32}));
    advance(s, next, {.position = s.state("pos")});
    s.output("y", y);
    s.output("next", next);
    s.output("table", table_);
    FinishResult result = s.finish();
    EXPECT_EQ(state.get("pos"), 4);
    return result;
  }
  std::vector<std::byte> rows_from_two() {
    std::vector<std::byte> bytes = device_.to_host(table_);
    bytes.erase(bytes.begin(), bytes.begin() + 2 * 8 * sizeof(float));
    return bytes;
  }
  static std::vector<std::byte> bytes_of(const std::vector<float>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
  }
  static std::vector<float> numbers(float first) {
    std::vector<float> values(32);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = first + 0.01F * static_cast<float>(i);
    }
    return values;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const std::vector<float> values_ = numbers(-0.2F), other_ = numbers(0.5F);
  Tensor table_ = device_.zeros({6, 8}, DType::f32, "table");
};
INSTANTIATE_TEST_SUITE_P(On, SplitSubmission, ::testing::Values("cpu", "vulkan"),
                         device_param_name);

TEST_P(SplitSubmission, GivesTheSameBitsForEveryLengthOfPart) {
  const FinishResult whole = run(0);
  EXPECT_EQ(whole.report.submits, 1U);
  for (const std::uint32_t ops : {1U, 2U, 3U, 7U, 100U}) {
    const FinishResult parts = run(ops);
    for (const char* name : {"y", "next", "table"}) {
      EXPECT_EQ(parts.read<std::byte>(name), whole.read<std::byte>(name)) << ops << " ops";
    }
    EXPECT_EQ(parts.report.submits, parts.report.ops / ops + 1);
  }
}

TEST_P(SplitSubmission, HandsOverPartsBeforeTheSessionIsFinished) {
  auto s = executor_.begin({.ops_per_submit = 1});
  const Tensor x = s.input("x", {4, 8}, values_);
  set_rows(s, table_, x, {.position = 2});
  EXPECT_EQ(rows_from_two(), bytes_of(values_));
}

TEST_P(SplitSubmission, WhatWasHandedOverRunsEvenIfTheSessionIsDiscarded) {
  {
    auto s = executor_.begin({.ops_per_submit = 2});
    Tensor y = s.input("x", {4, 8}, values_);
    set_rows(s, table_, y, {.position = 2});
    y = add(s, y, y);
    set_rows(s, table_, y, {.position = 2});
  }
  EXPECT_EQ(rows_from_two(), bytes_of(values_));
  auto s = executor_.begin();
  const Tensor x = s.input("x", {4, 8}, values_);
  s.output("y", add(s, x, x));
  EXPECT_EQ(s.finish().read("y")[0], 2 * values_[0]);
}

TEST_P(SplitSubmission, PartsOfDiscardedSessionsCountForTheRangesOfState) {
  const StateBlock state(device_, StateLayout().carried("pos", 0, {0, 1}));
  const auto advance_and_discard = [&] {
    auto s = executor_.begin({.state = state, .ops_per_submit = 1});
    advance(s, argmax(s, s.input("x", {1, 32}, values_)), {.position = s.state("pos")});
  };
  advance_and_discard();
  advance_and_discard();
  expect_error(ErrorCode::invalid_argument,
               {"'pos' would be (2) in the next replay", "its range is 0 to 1"},
               advance_and_discard);
}

TEST_P(SplitSubmission, TicketsOfPartsAreAsThoseOfWholes) {
  auto s = executor_.begin({.ops_per_submit = 1});
  const Tensor x = s.input("x", {4, 8}, values_);
  s.output("y", add(s, mul(s, x, x), x));
  const Ticket ticket = s.submit();
  EXPECT_EQ(ticket.read("y")[3], values_[3] * values_[3] + values_[3]);
}

}  // namespace
}  // namespace reprise::testing
