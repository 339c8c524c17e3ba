// A file with a watched replay whose results are small and large.
#pragma once
#include "tests/profile/recorded_graphs.h"

namespace reprise::test {

/// Of h (tensor 3, node 0), which is `small`, and s (tensor 4, node 1), which is `large`.
inline void write_watched(const std::filesystem::path& path, const std::vector<float>& small,
                          const std::vector<float>& large, std::uint64_t replays = 1) {
  const auto sink = open_profile(path, {});
  sink->device(test_device());
  const auto recorded = GraphMaker({}).make();
  const std::uint64_t recording = send_recording(*sink, recorded);
  for (std::uint64_t r = 0; r < replays; ++r) {
    TensorsRecord record;
    record.recording = recording;
    record.sequence = r;
    record.plan = recorded;
    record.contents = true;
    std::uint32_t node = 0;
    for (const std::vector<float>* values : {&small, &large}) {
      const std::span<const std::byte> bytes = std::as_bytes(std::span(*values));
      record.tensors.push_back({3 + node,
                                node,
                                {{static_cast<std::int64_t>(values->size())}, DType::f32},
                                record.bytes.size()});
      record.bytes.insert(record.bytes.end(), bytes.begin(), bytes.end());
      ++node;
    }
    sink->tensors(std::move(record));
    ReplayRecord replay;
    replay.recording = recording;
    replay.sequence = r;
    sink->replay(replay);
  }
}

}  // namespace reprise::test
