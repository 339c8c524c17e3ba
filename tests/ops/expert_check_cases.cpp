#include "reprise/ops/expert_check.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "integers";
constexpr std::int32_t kExperts = 11;

/// An iteration with two grids that run, and room for a third row.
std::vector<std::int32_t> running() {
  std::vector<std::int32_t> words{1, 1, 2, 0};
  for (const std::int32_t groups : {7, 9, 5}) {
    words.insert(words.end(), {groups, 2, 3, -1, groups, 2, 3, 0, 1, 0, 1, 0});
  }
  return words;
}

/// Experts from `missing` on have no cell.
OpCase check(const std::string& label, std::int32_t rows, std::int32_t missing, bool first) {
  return {label, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const std::vector<std::int32_t> words = running();
            std::vector<std::int32_t> cells(kExperts, -1);
            for (std::int32_t e = 0; e < missing; ++e) {
              cells[static_cast<std::size_t>(e)] = e % 3 == 2 && !first ? -2 : missing - 1 - e;
            }
            std::vector<std::int32_t> ids;  // some are of no expert
            for (std::int32_t i = 0; i < rows * 2; ++i) {
              ids.push_back(i * 7 % 13 - 1);
            }
            const Tensor iteration = c.integers({static_cast<std::int64_t>(words.size())}, words);
            const Tensor uses = c.ids({kExperts}, DType::i32, 0, 100);
            const Tensor placed =
                expert_check(c.recorder(), c.integers({rows, 2}, ids),
                             c.integers({kExperts}, cells), iteration, uses, first ? 5 : 2, first);
            return {placed, iteration, uses};
          }};
}

}  // namespace

std::vector<OpCase> expert_check_cases() {
  return {check("all_there", 3, kExperts, true), check("many_there", 300, 9, true),
          check("some_missing", 40, 4, true), check("all_served", 3, kExperts, false),
          check("some_not_served", 40, 4, false)};
}

}  // namespace reprise::testing
