// What the experts of a graph did is in the profiling database.
#include <filesystem>
#include <unistd.h>

#include "tests/profile/sql.h"
#include "tests/session/executable/experts_test_pass.h"

namespace reprise::testing {
namespace {

class ExpertRows : public ExpertsTest {};
INSTANTIATE_TEST_SUITE_P(On, ExpertRows, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(ExpertRows, OfTheDatabaseAddUpToTheStatisticsOfTheGraph) {
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) /
      ("expert_rows_" + GetParam() + "_" + std::to_string(getpid()) + ".db");
  std::filesystem::remove(file);
  std::string expected;
  {
    GraphExecutor executor(device_, {.profile = file});
    ExecutableGraph some = graph(executor, setup(2, ExpertMiss::upload, 3));
    for (int run = 0; run < 10; ++run) {
      (void)some.run({{"x", random_rows(1)}});
    }
    for (const ExpertStats& s : some.expert_stats()) {
      expected += (expected.empty() ? "" : "\n") + s.layer;
      for (const std::uint64_t value :
           {s.runs, s.calls_device, s.calls_host, s.hits, s.misses, s.promotions, s.demotions,
            s.bytes_moved, s.stall_ns, std::uint64_t{0}, std::uint64_t{9}}) {
        expected += "|" + std::to_string(value);
      }
    }
    executor.shutdown();
  }
  EXPECT_EQ(test::sql(file,
                      "SELECT layer, count(*), sum(calls_device), sum(calls_host), "
                      "sum(hits), sum(misses), sum(promotions), sum(demotions), "
                      "sum(bytes_moved), sum(stall_ns), min(run_seq), max(run_seq) FROM "
                      "expert_residency JOIN recordings r ON r.id=recording_id JOIN graphs "
                      "g ON g.id=r.graph_id WHERE g.name='experts' GROUP BY layer"),
            expected);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace reprise::testing
