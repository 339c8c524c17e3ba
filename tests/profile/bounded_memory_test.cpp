// However long a program records, and however slow its disk is, profiling takes so much memory and
// no more; what is lost is counted.
#include <malloc.h>

#include <sqlite3.h>

#include "framework/profile/record_queue.h"
#include "framework/profile/tensor_writer.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

using profile::RecordQueue;
using test::GraphMaker;
using test::sql;
using test::TempFolder;

/// A writer that takes nothing.
class RecordQueueWithoutAWriter : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kMaxBytes = ProfileLimits().queue_bytes;
  RecordQueue queue_{kMaxBytes};
};

TEST_F(RecordQueueWithoutAWriter, DropsRecordingsAboveItsBoundAndCountsThem) {
  const auto graph = GraphMaker({.scales = 1000}).make();
  constexpr std::uint64_t kSent = 1000;
  for (std::uint64_t r = 1; r <= kSent; ++r) {
    RecordingRecord record;
    record.id = r;
    record.plan = graph;
    queue_.push(std::move(record));
  }
  EXPECT_LE(queue_.bytes(), kMaxBytes);
  std::vector<profile::Record> taken;
  queue_.take(taken);
  EXPECT_GT(taken.size(), 20U);
  const RecordQueue::Counts dropped = queue_.dropped();
  EXPECT_EQ(dropped[profile::Record(RecordingRecord()).index()], kSent - taken.size());
}

TEST_F(RecordQueueWithoutAWriter, KeepsRoomForBuffersAndRecordingsAndTakesEveryDevice) {
  EventRecord event;
  event.message = std::string(1 << 20, 'x');
  for (int i = 0; i < 100; ++i) {
    queue_.push(event);
  }
  EXPECT_LE(queue_.bytes(), kMaxBytes - kMaxBytes / 4);
  BufferRecord buffer;
  buffer.name = std::string(1 << 20, 'x');
  for (int i = 0; i < 400; ++i) {
    queue_.push(buffer);
  }
  EXPECT_GT(queue_.bytes(), kMaxBytes - kMaxBytes / 4);
  EXPECT_LE(queue_.bytes(), kMaxBytes);
  const std::size_t before = queue_.bytes();
  queue_.push(std::make_shared<const DeviceInfo>());
  EXPECT_GT(queue_.bytes(), before);
}

class LongRun : public ::testing::Test {
 protected:
  /// Records the graph again and replays it.
  std::uint64_t record(ProfileSink& sink) const {
    const std::uint64_t id = test::send_recording(sink, graph_);
    replay(sink, id);
    return id;
  }
  static void replay(ProfileSink& sink, std::uint64_t recording) {
    ReplayRecord record;
    record.recording = recording;
    sink.replay(record);
  }
  /// Of the process, but for SQLite, whose cache has a limit.
  static std::int64_t heap_bytes() {
    return static_cast<std::int64_t>(mallinfo2().uordblks) - sqlite3_memory_used();
  }
  TempFolder folder_;
  const std::filesystem::path path_ = folder_ / "profile.db";
  const std::shared_ptr<const ExecutionPlan> graph_ = GraphMaker({}).make();
};

TEST_F(LongRun, TakesNoMemoryPerRecordingAndForgetsNone) {
  constexpr int kRecordings = 10'000;
  const auto sink = open_profile(path_, {});
  sink->device(test::test_device());
  const std::uint64_t first = record(*sink);
  const auto record_many = [&] {
    for (int i = 0; i < kRecordings; ++i) {
      record(*sink);
      if (i % 100 == 0) {
        sink->flush();
      }
    }
    sink->flush();
  };
  record_many();
  const std::int64_t before = heap_bytes();
  record_many();
  EXPECT_LT(heap_bytes() - before, std::int64_t{8} * kRecordings);
  replay(*sink, first);
  sink->flush();
  EXPECT_EQ(sql(path_, "SELECT count(*), count(DISTINCT recording_id) FROM replays"),
            std::to_string(2 * kRecordings + 2) + "|" + std::to_string(2 * kRecordings + 1));
  EXPECT_EQ(sink->health().replays_dropped, 0U);
}

TEST_F(LongRun, DropsWhatItsQueueHasNoRoomForAndCountsIt) {
  const auto dropped = [&](std::uint64_t queue_bytes) {
    const std::filesystem::path path = folder_ / std::to_string(queue_bytes);
    ProfileLimits limits;
    limits.queue_bytes = queue_bytes;
    const auto sink = open_profile(path, {}, {}, limits);
    EventRecord event;
    event.message = std::string(1 << 20, 'x');
    sink->send(std::move(event));
    sink->flush();
    EXPECT_EQ(sql(path, "SELECT count(*) FROM drops WHERE what='event' AND reason='queue full'"),
              std::to_string(sink->health().records_dropped));
    return sink->health().records_dropped;
  };
  EXPECT_EQ(dropped(1 << 20), 1U);
  EXPECT_EQ(dropped(2 << 20), 0U);
}

TEST_F(LongRun, KeepsNoTensorsWhoseReplaysNeverCome) {
  {
    const auto sink = open_profile(path_, {});
    sink->device(test::test_device());
    constexpr std::uint64_t kBytes = profile::TensorWriter::kMaxWaitingBytes / 4;
    for (int i = 0; i < 6; ++i) {
      TensorsRecord tensors;
      tensors.recording = test::send_recording(*sink, graph_);
      tensors.plan = graph_;
      tensors.tensors = {{3, 0, {{1}, DType::f32}, 0}};
      tensors.bytes.resize(kBytes);
      sink->tensors(tensors);
      sink->flush();
    }
    EXPECT_EQ(sql(path_, "SELECT sum(count) FROM drops WHERE what='tensors'"), "2");
  }
  EXPECT_EQ(sql(path_, "SELECT sum(count) FROM drops WHERE what='tensors'"), "6");
}

}  // namespace
}  // namespace reprise::testing
