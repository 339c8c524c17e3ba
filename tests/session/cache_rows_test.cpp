// What graph caches leave in the profiling database.
#include <filesystem>
#include <unistd.h>

#include "reprise/backend/backend.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class CacheRows : public ::testing::TestWithParam<std::string> {
 protected:
  CacheRows() { std::filesystem::remove(path_); }
  ~CacheRows() override { std::filesystem::remove(path_); }
  KeyedRun run(GraphCache& cache, const std::string& tag) {
    KeyedRun run =
        cache.run({.owner = owner_, .tag = tag, .bucket = {2}},
                  [&](GraphSession& s) { s.output("y", mul(s, s.input("x", {2}), weight_)); },
                  {.inputs = {{"x", x_}}});
    run.ticket.wait();
    return run;
  }
  std::string query(const std::string& text) const { return test::sql(path_, text); }

  const std::filesystem::path path_ =
      std::filesystem::path(::testing::TempDir()) /
      ("cache_rows_" + GetParam() + "_" + std::to_string(getpid()) + ".db");
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  const GraphOwner owner_{"model"};
  const std::vector<float> x_{1, 2};
  Tensor weight_ = device_.from_host({2}, std::vector<float>{3, 4}, "weight");
};
INSTANTIATE_TEST_SUITE_P(On, CacheRows, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(CacheRows, CountersGrowPerCounterAndReason) {
  {
    GraphExecutor executor(device_, {.profile = path_});
    GraphCache cache(executor, {.max_graphs = 1});
    GraphCache other(executor);
    for (int i = 0; i < 3; ++i) {
      (void)run(cache, "a");
    }
    (void)run(cache, "b");
    (void)run(cache, "a");
    (void)run(other, "a");
    (void)cache.reset_all();
  }
  EXPECT_EQ(query("SELECT counter, reason, max(value), count(*) FROM cache_counters "
                  "GROUP BY 1, 2 ORDER BY 1, 2"),
            "evicted|count|2|2\n"
            "hit||2|1\n"
            "miss|absent|3|3\n"
            "miss|evicted|1|1\n"
            "recorded||4|4\n"
            "reset||1|1");
  EXPECT_EQ(query("SELECT DISTINCT json_extract(key_json,'$.tag'), "
                  "json_extract(key_json,'$.bucket'), json_extract(key_json,'$.owner') "
                  "FROM cache_counters WHERE counter='miss' ORDER BY 1"),
            "a|[2]|model\nb|[2]|model");
}

TEST_P(CacheRows, RecordingsHaveTheirKeyAndTheirEnd) {
  {
    GraphExecutor executor(device_, {.profile = path_});
    GraphCache cache(executor, {.max_graphs = 1});
    (void)run(cache, "a");
    (void)run(cache, "b");
    const Tensor old = weight_;
    weight_ = device_.from_host({2}, std::vector<float>{5, 6}, "new");
    device_.backend().free(TensorRef(old)->buffer);
    (void)run(cache, "b");
    (void)cache.reset_all();
    auto s = executor.begin_recorded();
    s.output("x", s.input("x", {2}, x_));
    (void)s.finish();
  }
  EXPECT_EQ(query("SELECT json_extract(key_json,'$.tag'), evicted_reason, "
                  "evicted_t_ns >= t_ns, stale_reason LIKE '%(weight)%' FROM recordings "
                  "ORDER BY id"),
            "a|count|1|NULL\n"
            "b|NULL|1|1\n"
            "b|reset|1|NULL\n"
            "NULL|NULL|NULL|NULL");
  EXPECT_EQ(query("SELECT count(*) FROM replays"), "4");
}

TEST_P(CacheRows, AStormIsAnEvent) {
  {
    GraphExecutor executor(device_, {.profile = path_});
    GraphCache cache(executor, {.max_graphs = 1});
    for (int i = 0; i < 40; ++i) {
      (void)run(cache, i % 2 == 0 ? "a" : "b");
    }
  }
  EXPECT_EQ(query("SELECT count(*), source, code, message LIKE '%a [2] of ''model''%' "
                  "FROM events WHERE severity=2"),
            "1|graph cache|recording_storm|1");
}

}  // namespace
}  // namespace reprise::testing
