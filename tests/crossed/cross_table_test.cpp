// The table of what goes together: complete, on its page, and true where it refuses.
#include "tests/crossed/cross_table.h"

#include <fstream>
#include <iostream>

#include "tests/testing.h"

namespace reprise::crossed {
namespace {

TEST(CrossTable, StandsInThePageOfStates) {
  std::ifstream file(REPRISE_STATES_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string table = cross_table();
  std::cout << table;
  EXPECT_NE(page.find(table), std::string::npos) << "docs/states.md has another table";
}

class CrossTableRefusals : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(On, CrossTableRefusals, ::testing::Values("cpu", "vulkan"),
                         testing::device_param_name);

TEST_P(CrossTableRefusals, SayTheSentenceOfTheTable) {
  GraphExecutor executor(testing::test_device(GetParam()));
  for (const Cell& cell : cells()) {
    if (cell.meeting != Meeting::refused) {
      continue;
    }
    SCOPED_TRACE(std::string(cell.a) + " and " + cell.b);
    std::string said = "nothing";
    try {
      cell.provoke(executor);
    } catch (const Error& e) {
      said = e.what();
    }
    EXPECT_NE(said.find(cell.text), std::string::npos) << "it says: " << said;
  }
}

}  // namespace
}  // namespace reprise::crossed
