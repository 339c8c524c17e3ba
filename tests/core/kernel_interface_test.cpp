// Interfaces that no kernel can have.
#include <functional>
#include <ostream>

#include "reprise/core/custom_kernel.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

struct Unsound {
  std::string what;
  std::function<void(KernelInterface&)> change;
  std::vector<std::string> parts;
};

void PrintTo(const Unsound& row, std::ostream* out) { *out << row.what; }

std::vector<Unsound> unsound() {
  using I = KernelInterface&;
  constexpr Access kWrite = Access::write;
  return {
      {"no_bindings", [](I i) { i.bindings.clear(); }, {"(0) bindings", "1 to 12"}},
      {"too_many_bindings",
       [](I i) {
         for (int b = 0; b < 12; ++b) {
           i.bindings.insert(i.bindings.begin(), {"x" + std::to_string(b), Access::read});
         }
       },
       {"(14) bindings", "1 to 12"}},
      {"too_many_outputs",
       [](I i) {
         for (const char* name : {"a", "b", "c", "d"}) {
           i.bindings.push_back({name, kWrite});
         }
       },
       {"(5) of them outputs", "up to 4"}},
      {"nothing_written", [](I i) { i.bindings.pop_back(); }, {"writes none of its bindings"}},
      {"no_name", [](I i) { i.bindings[0].name.clear(); }, {"binding (0) ''", "a name of its own"}},
      {"same_name", [](I i) { i.bindings[1].name = "x"; }, {"binding (1) 'x'", "name of its own"}},
      {"no_dtype", [](I i) { i.bindings[0].dtypes = 0; }, {"no dtype at all as binding (0) 'x'"}},
      {"input_after_output",
       [](I i) {
         i.bindings.push_back({"late", Access::read_write});
       },
       {"binding (2) 'late' as (read_write) after binding (1) 'y'"}},
      {"push_of_bytes",
       [](I i) { i.push_bytes = 10; },
       {"(10) bytes", "a multiple of 4 up to 256"}},
      {"push_too_large", [](I i) { i.push_bytes = 260; }, {"(260) bytes"}},
      {"field_without_name",
       [](I i) {
         i.fields = {{"", AttributeType::i32, 0}};
       },
       {"needs a name"}},
      {"boolean",
       [](I i) {
         i.fields = {{"b", AttributeType::boolean, 0}};
       },
       {"'b'", "boolean"}},
      {"odd_offset",
       [](I i) {
         i.fields = {{"n", AttributeType::i32, 2}};
       },
       {"'n' at byte (2)", "multiples of 4"}},
      {"past_the_end",
       [](I i) {
         i.fields = {{"p", AttributeType::param_f32, 8}};
       },
       {"'p' at byte (8)", "its 8 bytes do not lie inside of the 12"}},
      {"far_past_the_end",
       [](I i) {
         i.fields = {{"p", AttributeType::i32, 0xFFFFFFFC}};
       },
       {"'p' at byte (4294967292)", "do not lie inside"}},
      {"overlap",
       [](I i) {
         i.fields = {{"p", AttributeType::param_i32, 0}, {"n", AttributeType::i32, 4}};
       },
       {"'n' at byte (4)", "'p' is there too"}},
  };
}

class KernelInterfaces : public ::testing::TestWithParam<Unsound> {};
INSTANTIATE_TEST_SUITE_P(Of, KernelInterfaces, ::testing::ValuesIn(unsound()),
                         [](const auto& row) { return row.param.what; });

TEST_P(KernelInterfaces, ThatNoKernelCanHaveAreRefused) {
  KernelInterface interface {
    .bindings = {{"x", Access::read}, {"y", Access::write}}, .push_bytes = 12
  };
  require_sound("odd", interface);
  GetParam().change(interface);
  std::vector<std::string> parts = GetParam().parts;
  parts.emplace_back("The kernel 'odd'");
  expect_error(ErrorCode::invalid_argument, parts, [&] { require_sound("odd", interface); });
}

}  // namespace
}  // namespace reprise::testing
