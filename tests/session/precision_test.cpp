// The precision of an executor: where it is chosen, and where it can be read afterwards.
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

TEST(Precision, NamesGoBothWays) {
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    EXPECT_EQ(precision_of(name_of(precision)), precision);
  }
  EXPECT_EQ(precision_of("exakt"), std::nullopt);
}

TEST(Precision, OfEverySessionIsInTheProfile) {
  const test::TempFolder folder;
  const auto path = folder / "profile.db";
  const Device device = test_device("cpu");
  for (const Precision precision : {Precision::fast, Precision::exact}) {
    GraphExecutor executor(device, {.profile = path, .precision = precision});
    for (const bool recorded : {false, true}) {
      auto session = recorded ? executor.begin_recorded() : executor.begin();
      const Tensor x = session.input("x", {2}, std::vector<float>{1, 2});
      session.output("y", add(session, x, x));
      EXPECT_EQ(session.finish().read("y"), (std::vector<float>{2, 4}));
    }
  }
  EXPECT_EQ(test::sql(path, "SELECT run_id, mode, precision FROM sessions ORDER BY id"),
            "1|direct|fast\n1|recorded|fast\n2|direct|exact\n2|recorded|exact");
}

}  // namespace
}  // namespace reprise::testing
