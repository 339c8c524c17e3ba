#include "reprise/ops/collect.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "words are copied";

OpCase sources(const std::string& label, std::int32_t iteration, std::size_t count,
               std::int32_t first_word) {
  return {label, 0, kWhy, [=](CaseContext& c) -> std::vector<Tensor> {
            const Tensor rows = c.ids({5, 91}, DType::i32, 0, 1000);
            const Tensor all[] = {c.input({17}), c.ids({1}, DType::i32, 0, 9), c.input({2, 3, 5}),
                                  slice(c.recorder(), c.input({40}), 0, 3, 33)};
            collect(c.recorder(), c.integers({4}, {iteration, 1, 0, 0}), rows,
                    std::span(all).first(count), first_word);
            return {rows};
          }};
}

}  // namespace

std::vector<OpCase> collect_cases() {
  return {sources("four_into_the_first_row", 1, 4, 0), sources("two_into_the_last_row", 5, 2, 4),
          sources("one_beside_others", 3, 1, 7), sources("no_such_row", 6, 3, 0),
          sources("no_row_yet", 0, 2, 0)};
}

}  // namespace reprise::testing
