// A profiling database of any bytes is read, checked and rewritten, or is an Error. What is done
// with an input follows from its bytes: one reader each, for many runs per second.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "framework/profile/capture_reader.h"
#include "framework/profile/profile_check.h"
#include "framework/profile/profile_reader.h"
#include "framework/profile/profile_rewrite.h"
#include "framework/profile/tensor_tables.h"
#include "reprise/core/error.h"
#include "reprise/sql_query.h"
#include "tests/fuzz/require.h"
#include "tests/profile/mutated_file.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed);

namespace {

using reprise::Capture;
using reprise::CaptureId;
using reprise::fuzz::require;
using Path = std::filesystem::path;

/// Where the input lies while it is read, in memory; gone when the process ends.
class Folder {
 public:
  Folder() {
    std::string pattern = "/dev/shm/profile-fuzzer-XXXXXX";
    require(mkdtemp(pattern.data()) != nullptr, "a folder can be made in /dev/shm");
    path_ = pattern;
  }
  ~Folder() { clear(); }
  Path database() const { return path_ / "profile.db"; }
  Path rewritten() const { return path_ / "rewritten.db"; }
  void put(std::span<const std::uint8_t> bytes) const {
    for (const auto& file : std::filesystem::directory_iterator(path_)) {
      std::filesystem::remove_all(file);
    }
    std::FILE* const file = std::fopen(database().c_str(), "wb");
    require(file != nullptr, "the input can be written");
    require(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size(), "it was written");
    require(std::fclose(file) == 0, "it was written");
  }

 private:
  void clear() const {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Path path_;
};

/// The last capture, of which a damaged file may have none.
CaptureId last_capture(const Path& path) {
  const auto captures = reprise::read_captures(path);
  return captures.empty() ? CaptureId{1, 1} : captures.front().id;
}

void require_sound(const Capture& c) {
  for (const Capture::Node& node : c.nodes) {
    require(std::uint64_t{node.operands.first} + node.operands.count <= c.operands.size() &&
                std::uint64_t{node.steps.first} + node.steps.count <= c.step_order.size(),
            "ranges of a node lie in their vectors");
  }
  for (const Capture::Operand& operand : c.operands) {
    require(operand.tensor < c.tensors.size(), "an operand is a tensor");
  }
  for (const std::uint32_t step : c.step_order) {
    require(step < c.steps.size(), "a step is one of the graph");
  }
  for (const Capture::Edge& edge : c.edges) {
    require(edge.src < edge.dst && edge.dst < c.nodes.size() && edge.tensor < c.tensors.size(),
            "an edge leads forwards");
  }
  for (const Capture::Barrier& barrier : c.barriers) {
    require(barrier.before_step < c.steps.size(), "a barrier is before a step");
  }
}

void read_capture(const Path& path) {
  require_sound(reprise::read_capture(path, last_capture(path)));
}

void read_replays(const Path& path) {
  reprise::ReplayTable table;
  reprise::read_new_replays(path, last_capture(path), table);
  require(table.state.size() == table.rows.size() * table.state_words, "each has its state");
}

void read_node_times(const Path& path) {
  const CaptureId id = last_capture(path);
  for (const auto& table : reprise::read_node_timings(path, id)) {
    reprise::read_node_histogram(path, id, table.phase, table.timing_mode, 1);
  }
}

void read_step_times(const Path& path) {
  const std::array<std::int64_t, 4> replays{1, 2, 3, 4};
  constexpr std::size_t kSteps = 7;
  reprise::read_step_times(path, replays, kSteps, [&](std::size_t replay, auto times) {
    require(replay < replays.size() && times.size() == kSteps, "times of all steps");
  });
}

void read_tensors(const Path& path) {
  const CaptureId id = last_capture(path);
  reprise::read_tensor_stats(path);
  reprise::read_tensor_sums(path, id.run, id.graph);
  reprise::count_lost_tensor_rows(path, id.graph);
}

void read_snapshots(const Path& path) {
  reprise::read_comparisons(path);
  for (const auto& snapshot : reprise::read_snapshots(path)) {
    reprise::read_snapshot_bytes(path, snapshot.id);
  }
}

void query(const Path& path) {
  reprise::SqlLimits limits;
  limits.rows = 100;
  limits.time = std::chrono::milliseconds(100);
  for (const char* const sql : {"SELECT * FROM v_top_nodes", "SELECT * FROM v_replays",
                                "SELECT median(device_ns), count(*) FROM replays"}) {
    try {
      reprise::run_sql(path, sql, limits);
    } catch (const reprise::Error&) {  // a view that is gone
    }
  }
}

constexpr std::array<void (*)(const Path&), 15> kReaders{
    read_capture,
    read_replays,
    read_node_times,
    read_step_times,
    read_tensors,
    read_snapshots,
    query,
    [](const Path& path) { reprise::read_buffers(path, last_capture(path)); },
    [](const Path& path) { reprise::read_top_nodes(path, {}); },
    [](const Path& path) { reprise::read_nodes(path, {}); },
    [](const Path& path) { reprise::read_pass_decisions(path, {}); },
    [](const Path& path) { reprise::read_replays(path, 20); },
    [](const Path& path) { reprise::read_profile_info(path); },
    [](const Path& path) { reprise::choose_capture(path, {}); },
    [](const Path& path) { reprise::check_profile(path); }};
/// Of so many inputs one is rewritten: that takes ten times as long.
constexpr std::size_t kRewritten = 64;

void rewrite(const Path& path, const Path& to) {
  reprise::scrub_profile(path, to);
  reprise::prune_profile(to, {.keep_runs = 1, .keep_replays = 1, .vacuum = false});
  const std::array both{path, to};
  const Path merged = to.parent_path() / "merged.db";
  reprise::merge_profiles(both, merged);
  reprise::read_profile_info(merged);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t drawn = std::hash<std::string_view>{}(text);
  try {
    folder.put({data, size});
    if (drawn % kRewritten == 0) {
      rewrite(folder.database(), folder.rewritten());
    } else {
      kReaders[drawn / kRewritten % kReaders.size()](folder.database());
    }
  } catch (const reprise::Error&) {
  }
  return 0;
}

/// Bytes as libFuzzer changes them, or pages as damage does.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  if (seed % 2 == 0) {
    return LLVMFuzzerMutate(data, size, most);
  }
  std::mt19937_64 random(seed);
  std::string what;
  const std::string changed = reprise::test::with_changed_bytes(
      std::string(reinterpret_cast<const char*>(data), size), random, what);
  const std::size_t kept = std::min(changed.size(), most);
  std::copy_n(changed.begin(), kept, data);
  return kept;
}
