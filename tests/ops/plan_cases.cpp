#include "reprise/ops/plan.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "integers";
constexpr std::int32_t kLow = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kHigh = std::numeric_limits<std::int32_t>::max();

// Words: rows, unused (host); pos, token, done (carried); the rest derived.
OpCase derived(std::int32_t position, std::int32_t mask) {
  return {"position_" + std::to_string(position) + "_mask_" + std::to_string(mask), 0, kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor state = c.integers({11}, {3, 77, position, 5, 1, 9, 9, 9, 9, 9, 9});
            std::vector<std::int32_t> patch_words(33, 1000);
            patch_words[0] = mask;
            patch_words[1] = -40;
            const Tensor patch = c.integers({33}, patch_words);
            const Tensor table = c.integers(
                {7, 12},
                {5,  2,  0,  1,  1,  0,    1, kLow, kHigh, kLow, kHigh, 0,    // pos + rows
                 6,  5,  -1, 1,  0,  0,    8, kLow, kHigh, kLow, kHigh, 0,    // blocks of 8
                 7,  5,  -1, -1, 0,  2,    7, kLow, kHigh, kLow, kHigh, 0,    // negative sums
                 8,  6,  5,  3,  -2, 1,    1, -10,  10,    0,    0,     0,    // limited
                 9,  -1, -1, 4,  4,  6,    0, kLow, kHigh, kLow, kHigh, 0,    // constant
                 10, -1, -1, 0,  0,  kLow, 3, kLow, kHigh, kLow, kHigh, 0,    // smallest sum
                 99, 2,  0,  1,  1,  1,    1, kLow, kHigh, kLow, kHigh, 0});  // no such word
            plan(c.recorder(), state, patch, table, {},
                 {.carried_first = 2, .carried_count = 3, .row_count = 7});
            return {state, patch};
          }};
}

OpCase patches_only() {
  return {"without_a_table", 0, kWhy, [](CaseContext& c) -> std::vector<Tensor> {
            const Tensor state = c.integers({3}, {1, 2, 3});
            const Tensor patch = c.integers({4}, {5, 10, 20, 30});
            plan(c.recorder(), state, patch, {}, {}, {.carried_first = 0, .carried_count = 3});
            return {state, patch};
          }};
}

// Words: pos and done (carried), kv_len (derived, at most 8). A grid of its own, two of as many
// rows as pos says along x and z, one folded into y, one of senseless numbers, and one there is
// room for.
OpCase iteration(const std::string& label, std::int32_t position, std::int32_t done,
                 bool extents = true) {
  return {label, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor state = c.integers({3}, {position, done, 99});
            const Tensor patch = c.integers({3}, {0, 1, 1});
            const Tensor table = c.integers({1, 12}, {2, 0, -1, 1, 0, 1, 1, kLow, kHigh, 0, 8, 0});
            std::vector<std::int32_t> words(76, -5);
            const std::int32_t start[] = {
                3,     0, 5, 0,                                 // header: five rows
                17,    2, 1, -1, 9, 9, 9, 9, 1, 0,      1, 0,   // fixed
                90,    1, 1, 0,  9, 9, 9, 9, 4, 10,     3, 0,   // tiles of 4 rows
                5,     9, 8, 0,  9, 9, 9, 9, 1, 1,      1, 2,   // along z
                65535, 9, 1, 0,  9, 9, 9, 9, 1, 70'000, 1, 0,   // folded
                7,     7, 7, 99, 9, 9, 9, 9, 0, 5,      0, 77,  // no such word, tile or axis
            };
            std::ranges::copy(start, words.begin());
            words[55] = extents ? -1 : 99;
            const Tensor grids = c.integers({76}, words);
            plan(c.recorder(), state, patch, table, grids,
                 {.carried_first = 0, .carried_count = 2, .row_count = 1, .stop_word = 1});
            return {state, patch, grids};
          }};
}

}  // namespace

std::vector<OpCase> plan_cases() {
  return {derived(0, 0),
          derived(4093, 0),
          derived(7, 1),
          derived(-90, 6),
          patches_only(),
          iteration("iteration_runs", 7, 0),
          iteration("iteration_past_its_range", 8, 0),
          iteration("iteration_before_its_range", -2, 0),
          iteration("iteration_after_the_end", 3, 1),
          iteration("iteration_without_rows", 0, 0),
          iteration("iteration_of_a_word_that_is_not_there", 7, 0, false)};
}

}  // namespace reprise::testing
