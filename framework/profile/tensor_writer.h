// The rows of watched launches: statistics, contents, the first result that is not finite, and row
// numbers outside of their table.
#pragma once
#include <functional>
#include <map>
#include <tuple>

#include "framework/profile/profile_sink.h"
#include "framework/profile/sqlite.h"
#include "framework/profile/tensor_statistics.h"

namespace reprise::profile {

/// What is lost, why, and how many of it: see the table drops.
using DropCallback = std::function<void(std::string_view, std::string_view, std::uint64_t)>;

/// A record waits here for the row of its replay. The caller keeps a transaction open.
class TensorWriter {
 public:
  /// Contents of more bytes lie beside the file.
  static constexpr std::uint64_t kInlineBytes = std::uint64_t{64} << 10U;

  TensorWriter(Database& database, std::uint64_t snapshot_bytes, LogCallback log,
               DropCallback dropped);
  /// What waits for replays at most; the oldest recordings' go first. Replays may be dropped.
  static constexpr std::uint64_t kMaxWaitingBytes = std::uint64_t{64} << 20U;
  void add(std::shared_ptr<const TensorsRecord> record);
  bool waiting() const { return !waiting_.empty(); }

  /// Of a replay that is complete: its rows in the file, as far as it has one.
  struct Replay {
    std::int64_t run = 0;
    std::int64_t graph = 0;
    std::optional<std::int64_t> row;
  };
  /// Writes what waits for this replay, and drops what waits for earlier ones of its recording.
  void write(const ReplayRecord& of, const Replay& replay);
  /// Nothing that waits will get its replay.
  void finish();

 private:
  /// Recording, sequence, iteration.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;
  using Waiting = std::map<Key, std::shared_ptr<const TensorsRecord>>;
  Waiting::iterator erase(Waiting::iterator waiting);
  Waiting::iterator drop(Waiting::iterator waiting, std::string_view reason);
  void write(const TensorsRecord& record, const Replay& replay);
  void write_contents(const TensorsRecord& record, const TensorsRecord::Tensor& tensor,
                      const Replay& replay, const std::string& name);
  void write_not_finite(const TensorsRecord& record, const TensorsRecord::Tensor& tensor,
                        const TensorStatistics& values, const Replay& replay);
  void check_rows(const TensorsRecord& record, const TensorsRecord::Tensor& tensor,
                  const Replay& replay);
  /// An event of the tensor's node and a line of the log; `found` ends the sentence.
  void warn(std::string_view code, const TensorsRecord& record, const TensorsRecord::Tensor& tensor,
            const Replay& replay, const std::string& found);

  Database& database_;
  Statements sql_;
  std::uint64_t contents_left_;
  LogCallback log_;
  DropCallback dropped_;
  Waiting waiting_;
  std::uint64_t waiting_bytes_ = 0;
};

}  // namespace reprise::profile
