// Reading the values of tensors back, also from files that say wrong things about them.
#include "framework/profile/tensor_tables.h"

#include <cmath>
#include <fstream>

#include "framework/profile/profile_rewrite.h"
#include "tests/profile/sql.h"
#include "tests/profile/watched_file.h"
#include "tests/testing.h"

namespace reprise {
namespace {

using test::sql;
using test::TempFolder;
using testing::expect_error;

class TensorTables : public ::testing::Test {
 protected:
  static std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(i);
    }
    return values;
  }
  static std::vector<std::byte> bytes_of(const std::vector<float>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
  }
  std::filesystem::path beside() const {
    return folder_ / (sql(path_, "SELECT external_path FROM snapshots WHERE data IS NULL LIMIT 1"));
  }
  const TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "p.db";
  const std::vector<float> small_ = ramp(4), large_ = ramp(20'000);
};

TEST_F(TensorTables, HaveWhatWasSent) {
  test::write_watched(path_, small_, large_, 2);
  const std::vector<TensorStatsRow> stats = read_tensor_stats(path_);
  ASSERT_EQ(stats.size(), 4U);
  EXPECT_EQ(stats[0].of.sequence, 0U);
  EXPECT_EQ(stats[0].of.op, "norm");
  EXPECT_EQ(stats[0].of.name, "layer.3/attn/norm");
  EXPECT_EQ(stats[0].count, 4U);
  EXPECT_EQ(stats[0].zero, 1U);
  EXPECT_EQ(stats[0].max, 3.0);
  EXPECT_EQ(stats[0].mean, 1.5);
  ASSERT_TRUE(stats[0].histogram);
  EXPECT_EQ((*stats[0].histogram)[0], 1U);
  EXPECT_EQ((*stats[0].histogram)[63], 1U);
  EXPECT_EQ(stats[3].of.node, 1);
  EXPECT_EQ(stats[3].of.sequence, 1U);
  const std::vector<SnapshotRow> snapshots = read_snapshots(path_);
  ASSERT_EQ(snapshots.size(), 4U);
  EXPECT_EQ(snapshots[0].shape_json, "[4]");
  EXPECT_EQ(snapshots[0].dtype, "f32");
  EXPECT_EQ(snapshots[1].bytes, 80'000U);
  EXPECT_EQ(read_snapshot_bytes(path_, snapshots[0].id), bytes_of(small_));
  EXPECT_EQ(read_snapshot_bytes(path_, snapshots[3].id), bytes_of(large_));
}

TEST_F(TensorTables, AreOfOneReplayOrOfTheLatest) {
  test::write_watched(path_, small_, small_, 5);
  const std::int64_t third = std::stoll(sql(path_, "SELECT id FROM replays WHERE seq=2"));
  const std::vector<SnapshotRow> of_one = read_snapshots(path_, {.replay = third});
  ASSERT_EQ(of_one.size(), 2U);
  EXPECT_EQ(of_one[0].of.sequence, 2U);
  const std::vector<TensorStatsRow> latest = read_tensor_stats(path_, {.limit = 3});
  ASSERT_EQ(latest.size(), 3U);
  EXPECT_EQ(latest[0].of.sequence, 3U);
  EXPECT_EQ(latest[2].of.sequence, 4U);
  EXPECT_TRUE(read_tensor_stats(path_, {.graph = 7}).empty());
}

TEST_F(TensorTables, SumUpOverTheReplaysOfARun) {
  std::vector<float> bad = small_;
  bad[1] = NAN;
  bad[2] = INFINITY;
  test::write_watched(path_, small_, large_, 3);
  test::write_watched(path_, bad, large_);
  const std::int64_t graph = read_tensor_stats(path_)[0].of.graph;
  const std::vector<TensorSums> first = read_tensor_sums(path_, 1, graph);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].tensor, 3);
  EXPECT_EQ(first[0].node, 0);
  EXPECT_EQ(first[0].replays, 3U);
  EXPECT_EQ(first[0].count, 12U);
  EXPECT_EQ(first[0].zero, 3U);
  EXPECT_EQ(first[0].max, 3.0);
  EXPECT_EQ(first[0].mean, 1.5);
  EXPECT_EQ(first[0].first_not_finite_replay, std::nullopt);
  EXPECT_EQ(first[1].max, 19'999.0);
  const std::vector<TensorSums> second = read_tensor_sums(path_, 2, graph);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0].replays, 1U);
  EXPECT_EQ(second[0].nan, 1U);
  EXPECT_EQ(second[0].infinite, 1U);
  EXPECT_EQ(second[0].mean, 1.5);  // of 0 and 3
  EXPECT_TRUE(second[0].first_not_finite_replay);
  EXPECT_TRUE(read_tensor_sums(path_, 1, graph + 7).empty());
  EXPECT_EQ(read_tensor_stats(path_, {.run = 2}).size(), 2U);
  EXPECT_EQ(read_tensor_stats(path_, {.run = 1, .tensor = 4}).size(), 3U);
  EXPECT_EQ(read_snapshots(path_, {.run = 2, .tensor = 4}).size(), 1U);
}

TEST_F(TensorTables, AreReadOfAFileWithAnotherName) {
  test::write_watched(path_, small_, large_);
  std::filesystem::rename(path_, folder_ / "other.db");
  EXPECT_EQ(read_snapshot_bytes(folder_ / "other.db", 2), bytes_of(large_));
}

TEST_F(TensorTables, RefuseContentsThatAreNotWhatWasStored) {
  test::write_watched(path_, small_, large_);
  sql(path_, "UPDATE snapshots SET data=x'00000000' WHERE id=1");
  expect_error(ErrorCode::io, {"snapshot (1)", "damaged", "hash"},
               [&] { read_snapshot_bytes(path_, 1); });
  {
    std::fstream file(beside(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-1, std::ios::end);
    file.put('x');
  }
  expect_error(ErrorCode::io, {"snapshot (2)", "damaged"}, [&] { read_snapshot_bytes(path_, 2); });
  std::filesystem::remove(beside());
  expect_error(ErrorCode::io, {"tensor file", "cannot be read"},
               [&] { read_snapshot_bytes(path_, 2); });
  expect_error(ErrorCode::invalid_argument, {"snapshot (9)"},
               [&] { read_snapshot_bytes(path_, 9); });
}

TEST_F(TensorTables, ReadNothingOutsideTheirFolder) {
  test::write_watched(path_, small_, large_);
  const std::string hash = sql(path_, "SELECT content_hash FROM snapshots WHERE id=2");
  const std::vector<std::string> places{"/etc/passwd",
                                        "../p.db.tensors/" + hash + ".safetensors",
                                        "..tensors/x.safetensors",
                                        "p.db.tensors/../" + hash + ".safetensors",
                                        "a/b.tensors/" + hash + ".safetensors",
                                        ".tensors/" + hash + ".safetensors",
                                        ""};
  for (const std::string& place : places) {
    sql(path_, "UPDATE snapshots SET external_path='" + place + "' WHERE id=2");
    expect_error(ErrorCode::io, {"no place where a writer puts one"},
                 [&] { read_snapshot_bytes(path_, 2); });
  }
  sql(path_,
      "UPDATE snapshots SET content_hash='../x', "
      "external_path='p.db.tensors/../x.safetensors' WHERE id=2");
  expect_error(ErrorCode::io, {"no place"}, [&] { read_snapshot_bytes(path_, 2); });
}

TEST_F(TensorTables, LoseTheFilesBesideWithTheirReplays) {
  test::write_watched(path_, small_, large_);
  test::write_watched(path_, small_, ramp(30'000), 2);
  const auto folder = folder_ / "p.db.tensors";
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
  EXPECT_EQ(files(), 2);
  (void)prune_profile(path_, {.keep_runs = 1});
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(read_snapshot_bytes(path_, 4), bytes_of(ramp(30'000)));
  (void)prune_profile(path_, {.keep_replays = 0});
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(TensorTables, AreTheOnlyFilesThatPruningRemoves) {
  test::write_watched(path_, small_, large_);
  test::write_watched(path_, small_, ramp(30'000), 2);
  const auto folder = folder_ / "p.db.tensors";
  std::ofstream(folder / "mine.safetensors") << "never named by the file";
  std::filesystem::create_symlink(folder / "mine.safetensors", folder / "link.safetensors");
  (void)prune_profile(path_, {.keep_replays = 0});
  EXPECT_TRUE(std::filesystem::exists(folder / "mine.safetensors"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.safetensors"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
}

TEST_F(TensorTables, AreNotRemovedThroughALink) {
  test::write_watched(path_, small_, large_);
  const auto folder = folder_ / "p.db.tensors";
  const auto elsewhere = folder_ / "elsewhere";
  std::filesystem::rename(folder, elsewhere);
  std::filesystem::create_directory_symlink(elsewhere, folder);
  expect_error(ErrorCode::io, {folder.string(), "is a link"},
               [&] { (void)prune_profile(path_, {.keep_replays = 0}); });
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(elsewhere), {}), 1);
  EXPECT_EQ(read_snapshots(path_).size(), 2U);  // the file is as it was
}

TEST_F(TensorTables, AreNotCopiedThroughALink) {
  test::write_watched(path_, small_, large_);
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "p.db.tensors")) {
    std::filesystem::remove(entry.path());
    std::filesystem::create_symlink("/etc/passwd", entry.path());
  }
  const std::filesystem::path files[] = {path_};
  EXPECT_EQ(merge_profiles(files, folder_ / "merged.db").missing_tensors, 1U);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "merged.db.tensors"));
}

TEST_F(TensorTables, GoAlongWhenFilesAreMerged) {
  const auto far = folder_ / "far";
  std::filesystem::create_directory(far);
  test::write_watched(path_, small_, large_);
  test::write_watched(far / "other.db", small_, ramp(30'000));
  const std::filesystem::path files[] = {path_, far / "other.db"};
  const auto out = folder_ / "merged.db";
  EXPECT_EQ(merge_profiles(files, out).missing_tensors, 0U);
  std::filesystem::remove_all(far);
  std::filesystem::remove_all(path_.string() + ".tensors");
  EXPECT_EQ(read_snapshot_bytes(out, 2), bytes_of(large_));
  EXPECT_EQ(read_snapshot_bytes(out, 3), bytes_of(small_));
  EXPECT_EQ(read_snapshot_bytes(out, 4), bytes_of(ramp(30'000)));
}

TEST_F(TensorTables, ThatLieNowhereAreCountedWhenFilesAreMerged) {
  test::write_watched(path_, small_, large_, 2);
  std::filesystem::remove_all(path_.string() + ".tensors");
  const std::filesystem::path files[] = {path_};
  EXPECT_EQ(merge_profiles(files, folder_ / "merged.db").missing_tensors, 2U);
  EXPECT_EQ(read_snapshots(folder_ / "merged.db").size(), 4U);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "merged.db.tensors"));
}

TEST_F(TensorTables, OfAnOlderFileAreEmpty) {
  const std::filesystem::path old = std::filesystem::path(REPRISE_PROFILE_VERSIONS_DIR) / "v1.db";
  EXPECT_TRUE(read_tensor_stats(old).empty());
  EXPECT_TRUE(read_snapshots(old).empty());
  EXPECT_TRUE(read_comparisons(old).empty());
}

TEST_F(TensorTables, HaveComparisonsInTheirOrder) {
  {
    const auto sink = open_profile(path_, {});
    sink->device(test::test_device());
    const std::uint64_t recording = test::send_recording(*sink, test::GraphMaker({}).make());
    for (std::uint32_t i = 0; i < 3; ++i) {
      sink->send(ComparisonRecord{recording,
                                  i,
                                  {},
                                  "n" + std::to_string(i),
                                  "direct",
                                  0.5 * i,
                                  0,
                                  0,
                                  1,
                                  {},
                                  i == 1,
                                  0.25,
                                  i == 0,
                                  0});
    }
  }
  const std::vector<ComparisonRow> rows = read_comparisons(path_, {.limit = 2});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "n1");
  EXPECT_EQ(rows[0].node, 1);
  EXPECT_EQ(rows[0].tensor, std::nullopt);
  EXPECT_EQ(rows[0].max_abs, 0.5);
  EXPECT_EQ(rows[0].input_differs, true);
  EXPECT_EQ(rows[0].tolerance, 0.25);
  EXPECT_FALSE(rows[0].pass);
  EXPECT_EQ(rows[1].name, "n2");
}

}  // namespace
}  // namespace reprise
