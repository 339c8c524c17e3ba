#include "reprise/ops/advance.h"
#include "reprise/ops/views.h"
#include "tests/ops/op_cases.h"

namespace reprise::testing {
namespace {

constexpr const char* kWhy = "integers";

OpCase all_fields(std::int32_t next, const std::string& label) {
  return {label,
          0,
          kWhy,
          [=](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            advance(r, c.integers({1}, {next}),
                    {.position = r.state("pos"),
                     .token = r.state("token"),
                     .done = r.state("done"),
                     .end_token = 2});
            return {};
          },
          {},
          {{"pos", 5}, {"token", 1}, {"done", 0}}};
}

OpCase from_state() {
  return {"rows_and_end_token_from_state",
          0,
          kWhy,
          [](CaseContext& c) -> std::vector<Tensor> {
            Recorder& r = c.recorder();
            const Tensor next = slice(r, c.integers({3}, {4, 9, 6}), 0, 1, 1);
            advance(r, next,
                    {.position = r.state("pos"),
                     .done = r.state("done"),
                     .rows = r.state("rows"),
                     .end_token = r.state("end")});
            return {};
          },
          {{"rows", {3, 0, -2}}, {"end", {8, 9, 7}}},
          {{"pos", 0}, {"token", 11}, {"done", 0}}};
}

}  // namespace

std::vector<OpCase> advance_cases() {
  return {all_fields(7, "moves_on"), all_fields(2, "ends"), from_state()};
}

}  // namespace reprise::testing
