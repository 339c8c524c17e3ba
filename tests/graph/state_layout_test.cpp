// State layouts: where fields go, what is refused, and expressions against 64-bit arithmetic.
#include "reprise/graph/state_layout.h"

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "tests/graph/random_graphs.h"

namespace reprise::testing {
namespace {

StateLayout decode_layout() {
  return StateLayout()
      .derived("one", FieldExpression{} + 1)
      .carried("pos", 7)
      .host("rows", 2)
      .derived("len", field("pos") + field("rows"))
      .host_f32("scale", 0.5F)
      .carried("token")
      .derived("blocks", ceil_div(field("len"), 8));
}

TEST(StateLayout, PutsHostFieldsFirstThenCarriedThenDerivedOnes) {
  std::vector<std::string> names;
  for (const StateFieldInfo& info : decode_layout().fields()) {
    EXPECT_EQ(info.word, names.size()) << info.name;
    names.push_back(info.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"rows", "scale", "pos", "token", "one", "len", "blocks"}));
}

TEST(StateLayout, CountsFieldsByOwner) {
  const StateLayout layout = decode_layout();
  EXPECT_EQ(layout.host_count(), 2U);
  EXPECT_EQ(layout.carried_count(), 2U);
  EXPECT_EQ(layout.derived_count(), 3U);
  EXPECT_EQ(layout.words(), 7U);
}

TEST(StateLayout, ListsNamesInOrderOfDeclaration) {
  EXPECT_EQ(decode_layout().names(), "one, pos, rows, len, scale, token, blocks");
  EXPECT_EQ(StateLayout().names(), "none");
}

TEST(StateLayout, FindsFieldsWithTypeOwnerAndInitialBits) {
  const StateLayout layout = decode_layout();
  ASSERT_NE(layout.find("scale"), nullptr);
  EXPECT_EQ(layout.find("scale")->dtype, DType::f32);
  EXPECT_EQ(layout.find("scale")->initial, std::bit_cast<std::uint32_t>(0.5F));
  EXPECT_EQ(layout.find("pos")->owner, StateOwner::carried);
  EXPECT_EQ(layout.find("pos")->initial, 7U);
  EXPECT_EQ(layout.find("len")->owner, StateOwner::derived);
  EXPECT_EQ(layout.find("absent"), nullptr);
}

TEST(StateLayout, OwnersHaveNames) {
  EXPECT_EQ(name_of(StateOwner::host), "host");
  EXPECT_EQ(name_of(StateOwner::carried), "carried");
  EXPECT_EQ(name_of(StateOwner::derived), "derived");
}

TEST(StateLayout, DerivationsNameWordsInOrderOfDeclaration) {
  const auto rows = decode_layout().derivations();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].first, 4U);
  EXPECT_EQ(rows[0].second.x, -1);
  EXPECT_EQ(rows[0].second.c, 1);
  EXPECT_EQ(rows[1].first, 5U);
  EXPECT_EQ(rows[1].second.x, 2);
  EXPECT_EQ(rows[1].second.y, 0);
  EXPECT_EQ(rows[2].first, 6U);
  EXPECT_EQ(rows[2].second.x, 5);
  EXPECT_EQ(rows[2].second.div, 8);
}

TEST(StateLayout, RefusesASecondFieldOfAName) {
  expect_error(ErrorCode::invalid_argument, {"(pos)", "declared already"},
               [] { StateLayout().host("pos").carried("pos"); });
  expect_error(ErrorCode::invalid_argument, {"(pos)", "declared already"},
               [] { StateLayout().host("pos").derived("pos", field("pos")); });
}

TEST(StateLayout, RefusesAnEmptyName) {
  expect_error(ErrorCode::invalid_argument, {"empty"}, [] { StateLayout().host(""); });
}

TEST(StateLayout, RefusesAnUnknownFieldInAnExpression) {
  expect_error(ErrorCode::invalid_argument, {"'len'", "(rows)", "pos, token"}, [] {
    StateLayout().host("pos").host("token").derived("len", field("pos") + field("rows"));
  });
}

TEST(StateLayout, RefusesAFieldThatIsDeclaredLater) {
  expect_error(ErrorCode::invalid_argument, {"'a'", "(b)", "before"},
               [] { StateLayout().derived("a", field("b")).host("b"); });
  expect_error(ErrorCode::invalid_argument, {"'a'", "(a)"},
               [] { StateLayout().derived("a", field("a")); });
}

TEST(StateLayout, RefusesAnF32FieldInAnExpression) {
  expect_error(ErrorCode::invalid_argument, {"'d'", "(scale)", "i32"},
               [] { StateLayout().host_f32("scale").derived("d", field("scale") + 1); });
}

TEST(StateLayout, HoldsThirtyTwoCarriedFieldsAndNoMore) {
  StateLayout layout;
  for (int i = 0; i < 32; ++i) {
    layout.carried("f" + std::to_string(i));
  }
  expect_error(ErrorCode::invalid_argument, {"32", "'more'"}, [&] { layout.carried("more"); });
  EXPECT_EQ(layout.host("host").words(), 33U);
}

TEST(StateLayout, HoldsAThousandAndTwentyFourFieldsAndNoMore) {
  StateLayout layout;
  for (int i = 0; i < 1024; ++i) {
    layout.host("f" + std::to_string(i));
  }
  EXPECT_EQ(layout.words(), 1024U);
  expect_error(ErrorCode::invalid_argument, {"1024", "'more'"}, [&] { layout.host("more"); });
  expect_error(ErrorCode::invalid_argument, {"1024", "'more'"},
               [&] { layout.derived("more", field("f0")); });
}

TEST(StateLayout, IsUnchangedByARefusedField) {
  StateLayout layout = decode_layout();
  expect_error(ErrorCode::invalid_argument, {"declared"}, [&] { layout.host("pos"); });
  EXPECT_EQ(layout.words(), 7U);
  EXPECT_EQ(layout.names(), decode_layout().names());
}

TEST(FieldExpression, RefusesAThirdField) {
  expect_error(ErrorCode::unsupported, {"third field (c)", "two fields"},
               [] { (void)(field("a") + field("b") + field("c")); });
}

TEST(FieldExpression, RefusesADivisorBelowOne) {
  expect_error(ErrorCode::invalid_argument, {"ceil_div", "(0)"},
               [] { (void)ceil_div(field("a"), 0); });
  expect_error(ErrorCode::invalid_argument, {"ceil_div", "(-4)"},
               [] { (void)ceil_div(field("a"), -4); });
}

TEST(FieldExpression, RefusesALowLimitAboveTheHighOne) {
  expect_error(ErrorCode::invalid_argument, {"limit", "(5)", "(4)"},
               [] { (void)limit(field("a"), 5, 4); });
}

TEST(FieldExpression, RefusesSumsAndProductsOfDividedOrLimitedValues) {
  const FieldExpression divided = ceil_div(field("a"), 2), limited = limit(field("a"), 0, 9);
  for (const FieldExpression& e : {divided, limited}) {
    expect_error(ErrorCode::unsupported, {"+"}, [&] { (void)(e + 1); });
    expect_error(ErrorCode::unsupported, {"+"}, [&] { (void)(e + field("b")); });
    expect_error(ErrorCode::unsupported, {"+"}, [&] { (void)(field("b") + e); });
    expect_error(ErrorCode::unsupported, {"*"}, [&] { (void)(e * 2); });
    expect_error(ErrorCode::unsupported, {"ceil_div"}, [&] { (void)ceil_div(e, 3); });
  }
}

TEST(FieldExpression, ReadsAsWritten) {
  EXPECT_EQ(field("pos").text(), "pos");
  EXPECT_EQ((field("pos") + field("rows")).text(), "pos + rows");
  EXPECT_EQ((field("pos") * 3 + field("rows") + 4).text(), "3 * pos + rows + 4");
  EXPECT_EQ((FieldExpression{} + 5).text(), "5");
  EXPECT_EQ(ceil_div(field("kv_len"), 8).text(), "ceil((kv_len) / 8)");
  EXPECT_EQ(limit(ceil_div(field("pos") + 1, 8), 0, 512).text(),
            "limit(ceil((pos + 1) / 8), 0, 512)");
  EXPECT_EQ(decode_layout().find("len")->expression, "pos + rows");
}

/// The same value as an expression, kept as a function on 64-bit integers.
struct Mirror {
  FieldExpression expression;
  std::function<std::int64_t(std::int64_t, std::int64_t)> value;  // of fields p and q
};

std::int32_t small(Rng& rng) { return static_cast<std::int32_t>(pick(rng, 2001)) - 1000; }

Mirror random_sum(Rng& rng, int depth) {
  if (depth == 0) {
    const bool first = one_in(rng, 2);
    return {field(first ? "p" : "q"),
            [first](std::int64_t p, std::int64_t q) { return first ? p : q; }};
  }
  const Mirror left = random_sum(rng, depth - 1);
  const std::int32_t number = static_cast<std::int32_t>(pick(rng, 19)) - 9;
  switch (pick(rng, 3)) {
    case 0:
      return {left.expression * number, [f = left.value, number](std::int64_t p, std::int64_t q) {
                return f(p, q) * number;
              }};
    case 1:
      return {left.expression + number, [f = left.value, number](std::int64_t p, std::int64_t q) {
                return f(p, q) + number;
              }};
    default: {
      const Mirror right = random_sum(rng, depth - 1);
      return {left.expression + right.expression,
              [f = left.value, g = right.value](std::int64_t p, std::int64_t q) {
                return f(p, q) + g(p, q);
              }};
    }
  }
}

Mirror divided(const Mirror& of, std::int32_t divisor) {
  return {ceil_div(of.expression, divisor),
          [f = of.value, divisor](std::int64_t p, std::int64_t q) {
            return static_cast<std::int64_t>(
                std::ceil(static_cast<long double>(f(p, q)) / static_cast<long double>(divisor)));
          }};
}

Mirror limited(const Mirror& of, std::int32_t low, std::int32_t high) {
  return {limit(of.expression, low, high),
          [f = of.value, low, high](std::int64_t p, std::int64_t q) {
            return std::clamp<std::int64_t>(f(p, q), low, high);
          }};
}

std::int32_t evaluated(const FieldExpression& expression, std::int32_t p, std::int32_t q) {
  const StateLayout layout = StateLayout().host("p").carried("q").derived("d", expression);
  const std::array<std::int32_t, 3> words{p, q, 0};
  return evaluate(layout.derivations().at(0).second, words);
}

template <class F>
void for_random_mirrors(F&& wrap) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  Rng rng(seed);
  for (int i = 0; i < 3000 && !::testing::Test::HasFailure(); ++i) {
    const Mirror mirror = wrap(rng, random_sum(rng, static_cast<int>(pick(rng, 4))));
    for (int k = 0; k < 5; ++k) {
      const std::int32_t p = small(rng), q = small(rng);
      EXPECT_EQ(evaluated(mirror.expression, p, q), mirror.value(p, q))
          << mirror.expression.text() << " at p = " << p << ", q = " << q;
    }
  }
}

TEST(FieldExpression, SumsAndProductsAreThoseOfArithmetic) {
  for_random_mirrors([](Rng&, const Mirror& sum) { return sum; });
}

TEST(FieldExpression, DivisionRoundsUp) {
  for_random_mirrors([](Rng& rng, const Mirror& sum) {
    return divided(sum, static_cast<std::int32_t>(1 + pick(rng, 40)));
  });
}

TEST(FieldExpression, ALimitKeepsValuesBetweenItsEnds) {
  for_random_mirrors([](Rng& rng, const Mirror& sum) {
    const std::int32_t low = small(rng), high = small(rng);
    return limited(divided(sum, 3), std::min(low, high), std::max(low, high));
  });
}

TEST(FieldExpression, ALimitOfALimitIsTheLaterOneOfTheEarlierOne) {
  for_random_mirrors([](Rng& rng, const Mirror& sum) {
    Mirror mirror = sum;
    for (int i = 0; i < 2; ++i) {
      const std::int32_t low = small(rng), high = small(rng);
      mirror = limited(mirror, std::min(low, high), std::max(low, high));
    }
    return mirror;
  });
}

TEST(StateExpression, SumsWrapModuloTwoToThePowerOfThirtyTwo) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  Rng rng(seed);
  for (int i = 0; i < 20'000; ++i) {
    const auto any = [&] { return static_cast<std::int32_t>(static_cast<std::uint32_t>(rng())); };
    StateExpression e{.x = 0, .y = 1, .a = any(), .b = any(), .c = any()};
    e.div = one_in(rng, 4) ? any() : static_cast<std::int32_t>(1 + pick(rng, 9));
    const std::array<std::int32_t, 2> words{any(), any()};
    const auto product = [](std::int32_t a, std::int32_t b) {
      return static_cast<std::uint64_t>(std::int64_t{a} * b);
    };
    const std::uint64_t wide = product(e.a, words[0]) + product(e.b, words[1]) + product(e.c, 1);
    const auto sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(wide));
    const std::int64_t div = e.div < 1 ? 1 : e.div;
    std::int64_t quotient = sum / div;
    quotient += quotient * div < sum ? 1 : 0;
    EXPECT_EQ(evaluate(e, words), quotient);
  }
}

TEST(StateExpression, AbsentFieldsAndWordsOutsideTheBlockCountAsZero) {
  const std::array<std::int32_t, 1> words{5};
  EXPECT_EQ(evaluate({.x = -1, .y = 0, .a = 3, .b = 2, .c = 1}, words), 11);
  EXPECT_EQ(evaluate({.x = 1, .y = 1024, .a = 3, .b = 2, .c = 1}, words), 1);
}

TEST(StateExpression, TheSmallestSumIsDividedWithoutOverflow) {
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(evaluate({.c = kLeast, .div = 1}, {}), kLeast);
  EXPECT_EQ(evaluate({.c = std::numeric_limits<std::int32_t>::max(), .div = 2}, {}), 1 << 30);
  EXPECT_EQ(evaluate({.c = -7, .div = 2}, {}), -3);
}

}  // namespace
}  // namespace reprise::testing
