// Memory the host touches while work in flight uses it: reads wait for writers, writes for readers,
// freeing for nobody. The gate keeps the work in flight.
#include <atomic>
#include <thread>

#include "tests/session/gate_op.h"
#include "tests/session/rows/held_device.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class HostAccess : public ::testing::Test {
 protected:
  /// In flight until the gate opens: row 0 of `written` becomes what `read` holds then.
  Ticket copy_behind_gate() {
    auto s = executor_.begin();
    const Tensor row = pass_gate(s, read_);
    set_rows(s, written_, row, SetRowsAttributes{.position = 0});
    return s.submit();
  }
  void write(const Tensor& to, const std::vector<float>& values) const {
    const TensorRef ref(to);
    device_.write(ref->buffer, 0, std::as_bytes(std::span(values)));
  }
  /// What should wait gets every chance not to before the gate opens.
  template <class F>
  static void expect_waits(Gate& gate, F&& access) {
    std::atomic<bool> returned = false;
    std::thread host([&] {
      access();
      returned = true;
    });
    for (int i = 0; i < 20'000 && !returned; ++i) {
      std::this_thread::yield();
    }
    EXPECT_FALSE(returned) << "the work in flight is not done";
    gate.open();
    host.join();
  }
  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
  const std::vector<float> old_{1, 2}, new_{3, 4};
  Tensor read_ = device_.from_host({1, 2}, old_, "read");
  Tensor written_ = device_.zeros({1, 2}, DType::f32, "written");
  Tensor unused_ = device_.from_host({1, 2}, new_, "unused");
};

TEST_F(HostAccess, ReadingWhatNothingInFlightWritesDoesNotWait) {
  Gate gate;
  const Ticket ticket = copy_behind_gate();
  gate.wait_until_reached();
  EXPECT_EQ(device_.to_host<float>(unused_), new_);
  EXPECT_EQ(device_.to_host<float>(read_), old_);
  EXPECT_FALSE(ticket.done());
  gate.open();
  ticket.wait();
}

TEST_F(HostAccess, WritingWhatNothingInFlightUsesDoesNotWait) {
  Gate gate;
  const Ticket ticket = copy_behind_gate();
  gate.wait_until_reached();
  write(unused_, old_);
  EXPECT_EQ(device_.to_host<float>(unused_), old_);
  EXPECT_FALSE(ticket.done());
  gate.open();
  ticket.wait();
}

TEST_F(HostAccess, ReadingWaitsForTheWriter) {
  Gate gate;
  const Ticket ticket = copy_behind_gate();
  gate.wait_until_reached();
  std::vector<float> seen;
  expect_waits(gate, [&] { seen = device_.to_host<float>(written_); });
  EXPECT_EQ(seen, old_);
}

TEST_F(HostAccess, WritingWaitsForTheReader) {
  Gate gate;
  const Ticket ticket = copy_behind_gate();
  gate.wait_until_reached();
  expect_waits(gate, [&] { write(read_, new_); });
  EXPECT_EQ(device_.to_host<float>(written_), old_) << "the work in flight saw the new values";
  EXPECT_EQ(device_.to_host<float>(read_), new_);
}

TEST_F(HostAccess, FreeingIsPutOffUntilTheWorkIsDone) {
  Gate gate;
  Ticket ticket = copy_behind_gate();
  gate.wait_until_reached();
  const std::weak_ptr<Buffer> buffer = TensorRef(read_)->buffer;
  read_ = Tensor();
  ticket.release();
  EXPECT_FALSE(buffer.expired()) << "still in flight";
  gate.open();
  EXPECT_EQ(device_.to_host<float>(written_), old_);
  EXPECT_TRUE(buffer.expired()) << "nothing uses it any more";
}

class CopiedAccess : public ::testing::TestWithParam<std::string> {
 protected:
  CopiedAccess() {
    OpenOptions options;
    options.map_device_memory = false;
    options.validation = GetParam() == "vulkan";
    options.log = [this](LogLevel level, std::string_view text) {
      messages_ += level >= LogLevel::warning ? std::string(text) : "";
    };
    device_.emplace(open_device(GetParam(), options));
  }
  std::string messages_;
  std::optional<Device> device_;
};
INSTANTIATE_TEST_SUITE_P(On, CopiedAccess, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(CopiedAccess, ReadingWaitsForTheLastWriterAlone) {
  const Device device = open_device(GetParam(), {.map_device_memory = false});
  if (!device.capabilities().reads_beside_work) {
    GTEST_SKIP() << "This device has one queue, in which a read waits its turn.";
  }
  const std::vector<float> values{1, 2, 3};
  const Tensor written = device.from_host({3}, values, "written");
  device.synchronize();
  HeldDevice held(device);
  const Tensor later = device.from_host({3}, values, "later");  // behind what is held
  EXPECT_EQ(device.to_host<float>(written), values);
  held.open();
  EXPECT_EQ(device.to_host<float>(later), values);
}

TEST_P(CopiedAccess, LargeWritesGoRoundTheUploadRing) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 random(seed);
  constexpr std::int64_t kElements = std::int64_t{9} << 20U;  // 36 MiB: three times the ring
  const auto bytes = random_bytes(random, DType::f32, kElements, -1, 1);
  const Tensor tensor = device_->from_host({kElements}, DType::f32, bytes, "large");
  EXPECT_EQ(TensorRef(tensor)->buffer->mapped(), nullptr);
  EXPECT_EQ(device_->to_host(tensor), bytes);
  EXPECT_EQ(messages_, "");
}

TEST_P(CopiedAccess, ThreadsMayWriteAtOnce) {
  constexpr std::size_t kThreads = 4, kWrites = 200, kElements = 1000;
  std::vector<Tensor> tensors;
  for (std::size_t t = 0; t < kThreads; ++t) {
    tensors.push_back(device_->zeros({kElements}, DType::i32, "t"));
  }
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kWrites; ++i) {
        const std::vector<std::int32_t> values(kElements,
                                               static_cast<std::int32_t>(t * kWrites + i));
        device_->write(TensorRef(tensors[t])->buffer, 0, std::as_bytes(std::span(values)));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t t = 0; t < kThreads; ++t) {
    const std::vector<std::int32_t> last(kElements,
                                         static_cast<std::int32_t>((t + 1) * kWrites - 1));
    const auto bytes = std::as_bytes(std::span(last));
    EXPECT_EQ(device_->to_host(tensors[t]), std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  EXPECT_EQ(messages_, "");
}

TEST_P(CopiedAccess, WritesAreInOrderWithSessions) {
  GraphExecutor executor(*device_);
  const Tensor weights = device_->zeros({3}, DType::f32, "weights");
  auto s = executor.begin_recorded();
  s.output("y", add(s, weights, weights));
  CapturedGraph graph = s.finish({.slots = 4}).graph;
  std::vector<Ticket> tickets;
  for (float i = 0; i < 4; ++i) {
    const std::vector<float> values{i, i + 1, i + 2};
    device_->write(TensorRef(weights)->buffer, 0, std::as_bytes(std::span(values)));
    tickets.push_back(graph.launch_async());
  }
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    const auto base = static_cast<float>(i);
    EXPECT_EQ(tickets[i].read("y"), (std::vector<float>{2 * base, 2 * base + 2, 2 * base + 4}));
  }
  EXPECT_EQ(messages_, "");
}

TEST_P(CopiedAccess, RangesOutsideTheBufferAreRefused) {
  const Tensor tensor = device_->zeros({4}, DType::f32, "small");
  std::vector<std::byte> bytes(8);
  const auto& buffer = TensorRef(tensor)->buffer;
  expect_error(ErrorCode::invalid_argument, {"small", "(16)"},
               [&] { device_->write(buffer, 12, bytes); });
  expect_error(ErrorCode::invalid_argument, {"small", "(16)"},
               [&] { device_->read(buffer, ~std::uint64_t{0}, bytes); });
}

}  // namespace
}  // namespace reprise::testing
