// Files of older versions of the schema: read as they are, and brought to this version by a writer.
#include <fstream>

#include "framework/profile/capture_reader.h"
#include "framework/profile/profile_check.h"
#include "framework/profile/profile_reader.h"
#include "tests/file_contents.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::sql;
using test::TempFolder;

constexpr int kThisVersion = 3;

std::filesystem::path released(int version) {
  return std::filesystem::path(REPRISE_PROFILE_VERSIONS_DIR) /
         ("v" + std::to_string(version) + ".db");
}

/// Every table with its columns and every view, as text; columns in the order of their names.
std::string schema_of(const std::filesystem::path& path) {
  return sql(path,
             "SELECT m.name, (SELECT group_concat(c, ', ') FROM (SELECT name||' '||type||' "
             "'||\"notnull\"||' '||coalesce(dflt_value, '-')||' '||pk AS c FROM "
             "pragma_table_info(m.name) ORDER BY name)) FROM sqlite_schema m WHERE m.type='table' "
             "ORDER BY 1; "
             "SELECT name, sql FROM sqlite_schema WHERE type IN ('view', 'index') ORDER BY 1; "
             "PRAGMA user_version");
}

class OfVersion : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { std::filesystem::copy_file(released(GetParam()), path_); }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "old.db";
};
INSTANTIATE_TEST_SUITE_P(Files, OfVersion, ::testing::Range(1, kThisVersion + 1));

TEST_P(OfVersion, IsReadAsItIs) {
  const std::string before = test::contents_of(path_);
  EXPECT_TRUE(check_profile(path_).empty());
  EXPECT_FALSE(read_replays(path_, 10).empty());
  EXPECT_FALSE(read_top_nodes(path_, {}).nodes.empty());
  EXPECT_FALSE(read_nodes(path_, std::nullopt).empty());
  EXPECT_EQ(test::contents_of(path_), before);
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_P(OfVersion, BecomesThisVersionWhenARunIsAppended) {
  open_profile(folder_ / "new.db", {});
  const std::string counts =
      "SELECT (SELECT count(*) FROM replays), (SELECT count(*) FROM "
      "nodes), (SELECT count(*) FROM kernels), (SELECT count(*) FROM step_timings), (SELECT "
      "group_concat(hex(state)) FROM replays), (SELECT group_concat(content_hash) FROM graphs)";
  open_profile(path_, {});
  EXPECT_EQ(schema_of(path_), schema_of(folder_ / "new.db"));
  EXPECT_EQ(sql(path_, counts), sql(released(GetParam()), counts));
  EXPECT_EQ(sql(path_, "SELECT count(*) FROM runs"),
            std::to_string(1 + std::stoi(sql(released(GetParam()), "SELECT count(*) FROM runs"))));
  EXPECT_EQ(sql(path_, "PRAGMA integrity_check; PRAGMA foreign_key_check"), "ok");
  EXPECT_TRUE(check_profile(path_).empty());
}

TEST(OfVersion2, KeepsTheFirstCauseOfEachBarrier) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "old.db";
  std::filesystem::copy_file(released(2), path);
  open_profile(path, {});
  EXPECT_EQ(sql(path,
                "SELECT graph_id, barrier, idx, src_step, kind, pool_idx, offset_bytes, size_bytes "
                "FROM barrier_causes ORDER BY 1, 2"),
            sql(released(2),
                "SELECT graph_id, ordinal, 0, cause_src, kind, pool_idx, offset_bytes, size_bytes "
                "FROM barriers ORDER BY 1, 2"));
  EXPECT_EQ(sql(path, "SELECT DISTINCT causes, tensors IS NOT NULL FROM v_barriers"), "1|1");
}

TEST(OfVersion1, GetsWhatEarlierBuildsOfItDidNotHave) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "old.db";
  std::filesystem::copy_file(released(1), path);
  ASSERT_EQ(sql(path, "ALTER TABLE sessions DROP COLUMN precision; DROP TABLE expert_residency"),
            "");
  open_profile(path, {});
  open_profile(folder / "new.db", {});
  EXPECT_EQ(schema_of(path), schema_of(folder / "new.db"));
}

}  // namespace
}  // namespace reprise
