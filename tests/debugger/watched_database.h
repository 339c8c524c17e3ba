// A database with watched launches and comparisons, written as programs write it: GraphMaker's
// graph of three nodes, whose results are the tensors 3 (h), 4 (s) and 5 (logits), 2 x 96 values
// each.
#pragma once
#include <filesystem>
#include <vector>

#include "framework/profile/capture_reader.h"
#include "tests/profile/recorded_graphs.h"

namespace reprise::debugger {

struct WatchedResult {
  std::uint32_t node = 0;  // its tensor is 3 after it
  Shape shape{2, 96};
  std::vector<float> values{};
};

struct WatchedLaunch {
  std::vector<WatchedResult> results{};
  bool contents = true;
};

class WatchedDatabase {
 public:
  WatchedDatabase() : WatchedDatabase({}, {}) {}
  /// `comparisons` get their recording.
  WatchedDatabase(const std::vector<WatchedLaunch>& launches,
                  std::vector<ComparisonRecord> comparisons) {
    const auto sink = open_profile(path(), test::run_info("test", "watched"), {});
    sink->device(test::test_device());
    const auto recorded = test::GraphMaker({}).make();
    const std::uint64_t recording = test::send_recording(*sink, recorded);
    for (std::uint64_t sequence = 0; sequence < launches.size(); ++sequence) {
      TensorsRecord record;
      record.recording = recording;
      record.sequence = sequence;
      record.plan = recorded;
      record.contents = launches[sequence].contents;
      for (const WatchedResult& result : launches[sequence].results) {
        const auto bytes = std::as_bytes(std::span(result.values));
        record.tensors.push_back(
            {3 + result.node, result.node, {result.shape, DType::f32}, record.bytes.size(), {}});
        record.bytes.insert(record.bytes.end(), bytes.begin(), bytes.end());
      }
      sink->tensors(std::move(record));
      ReplayRecord replay;
      replay.recording = recording;
      replay.sequence = sequence;
      sink->replay(replay);
    }
    for (ComparisonRecord& comparison : comparisons) {
      comparison.recording = recording;
      sink->send(std::move(comparison));
    }
  }

  std::filesystem::path path() const { return folder_ / "profile.db"; }
  CaptureId id() const { return {.run = 1, .graph = 1}; }

 private:
  test::TempFolder folder_;
};

/// That many values from `first` on, `step` apart.
inline std::vector<float> ramp(std::size_t count, float first, float step) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = first + static_cast<float>(i) * step;
  }
  return values;
}

}  // namespace reprise::debugger
