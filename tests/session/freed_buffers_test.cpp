// Memory that is given back while tensors, sessions and graphs still name it: every later use is an
// error that names the buffer, and work in flight is not disturbed.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "reprise/backend/backend.h"
#include "tests/profile/recorded_graphs.h"
#include "tests/profile/sql.h"
#include "tests/session/gate_op.h"
#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

class FreedBuffers : public ::testing::TestWithParam<std::string> {
 protected:
  CapturedGraph doubler(const FinishOptions& options = {}) {
    auto s = executor_.begin_recorded({.name = "doubler"});
    s.output("y", add(s, w_, w_));
    return s.finish(options).graph;
  }
  const ExpectNoValidationMessages quiet_;
  Device device_ = test_device(GetParam());
  GraphExecutor executor_{device_};
  const std::vector<float> values_{1, 2, 3, 4}, doubled_{2, 4, 6, 8};
  Tensor w_ = device_.from_host({4}, values_, "w");
};
INSTANTIATE_TEST_SUITE_P(On, FreedBuffers, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(FreedBuffers, AreNotReadOrWrittenByTheHost) {
  const std::shared_ptr<Buffer> buffer = TensorRef(w_)->buffer;
  device_.free(w_);
  EXPECT_TRUE(buffer->freed());
  EXPECT_EQ(buffer->mapped(), nullptr) << "the memory is gone";
  std::vector<std::byte> bytes(4);
  expect_error(ErrorCode::stale, {"(w)"}, [&] { (void)device_.to_host(w_); });
  expect_error(ErrorCode::stale, {"(w)"}, [&] { device_.read(buffer, 0, bytes); });
  expect_error(ErrorCode::stale, {"(w)"}, [&] { device_.write(buffer, 0, bytes); });
}

TEST_P(FreedBuffers, AreFreedOnce) {
  device_.free(w_);
  const std::uint64_t count = device_.backend().free_count();
  device_.free(w_);
  EXPECT_EQ(device_.backend().free_count(), count);
}

TEST_P(FreedBuffers, AreOnlyPersistentOnes) {
  expect_error(ErrorCode::invalid_argument, {"empty"}, [&] { device_.free(Tensor()); });
  auto s = executor_.begin();
  const Tensor x = s.input("x", {4}, values_);
  expect_error(ErrorCode::invalid_argument, {"transient", "f32 [4]"}, [&] { device_.free(x); });
}

TEST_P(FreedBuffers, AreRefusedByTheNextOp) {
  for (const bool recorded : {false, true}) {
    const Tensor w = device_.from_host({4}, values_, "w");
    auto s = recorded ? executor_.begin_recorded() : executor_.begin();
    const Tensor part = slice(s, w, 0, 1, 2);
    device_.free(w);
    expect_error(ErrorCode::stale, {"x ('w' f32 [2])", "(w)", "op 0 add"},
                 [&] { (void)add(s, part, part); });
    auto other = recorded ? executor_.begin_recorded() : executor_.begin();
    expect_error(ErrorCode::stale, {"y ('w' f32 [4])", "(w)", "op 0 add"},
                 [&] { (void)add(other, other.input("x", {4}, values_), w); });
    auto view = recorded ? executor_.begin_recorded() : executor_.begin();
    expect_error(ErrorCode::stale, {"(w)", "reshape"}, [&] { (void)reshape(view, w, {2, 2}); });
    auto output = recorded ? executor_.begin_recorded() : executor_.begin();
    expect_error(ErrorCode::stale, {"(w)", "output"}, [&] { output.output("w", w); });
  }
}

TEST_P(FreedBuffers, EndTheSessionThatUsedThem) {
  for (const bool recorded : {false, true}) {
    const Tensor w = device_.from_host({4}, values_, "w");
    const std::shared_ptr<Buffer> buffer = TensorRef(w)->buffer;
    auto s = recorded ? executor_.begin_recorded({.name = "unlucky"})
                      : executor_.begin({.name = "unlucky"});
    const Tensor y = add(s, w, w);
    device_.free(w);
    s.output("y", add(s, y, y));
    expect_error(ErrorCode::stale, {"(w)", "'unlucky'", "finish"}, [&] { (void)s.finish(); });
    EXPECT_TRUE(s.invalidated());
    EXPECT_EQ(buffer->mapped(), nullptr) << "nothing encodes with it any more";
  }
  auto s = executor_.begin();
  const Tensor y = add(s, w_, w_);
  device_.free(w_);
  expect_error(ErrorCode::stale, {"(w)", "submit"}, [&] { (void)s.submit(); });
}

TEST_P(FreedBuffers, KeepTheirMemoryWhileASessionEncodesWithThem) {
  const std::shared_ptr<Buffer> buffer = TensorRef(w_)->buffer;
  {
    auto s = executor_.begin();
    const Tensor y = add(s, w_, w_);
    device_.free(w_);
    EXPECT_TRUE(buffer->pinned());
  }
  EXPECT_FALSE(buffer->pinned());
  EXPECT_EQ(buffer->mapped(), nullptr) << "it went with the session";
}

TEST_P(FreedBuffers, MakeGraphsStale) {
  CapturedGraph graph = doubler();
  EXPECT_EQ(graph.stale(), std::nullopt);
  device_.free(w_);
  ASSERT_TRUE(graph.stale().has_value());
  EXPECT_NE(graph.stale()->find("(w)"), std::string::npos) << *graph.stale();
  expect_error(ErrorCode::stale, {"'doubler'", "(w)"}, [&] { graph.launch(); });
  expect_error(ErrorCode::stale, {"'doubler'", "(w)"}, [&] { (void)graph.launch_async(); });
  expect_error(ErrorCode::stale, {"'doubler'", "(w)"}, [&] { (void)graph.try_launch_async(); });
  expect_error(ErrorCode::stale, {"'doubler'", "(w)"}, [&] { (void)graph.upload(); });
  EXPECT_EQ(graph.num_replays(), 1U);
  EXPECT_EQ(graph.read("y"), doubled_) << "what was launched before stays";
}

TEST_P(FreedBuffers, LeaveOtherGraphsFresh) {
  CapturedGraph graph = doubler();
  const Tensor unused = device_.from_host({4}, values_, "unused");
  device_.free(unused);
  EXPECT_EQ(graph.stale(), std::nullopt);
  graph.launch();
  EXPECT_EQ(graph.read("y"), doubled_);
}

TEST_P(FreedBuffers, OfAStateBlockMakeItsGraphsStale) {
  const StateBlock state(device_, StateLayout().host("n", 1));
  auto s = executor_.begin_recorded({.name = "counter", .state = state});
  const Tensor block = s.state_block();
  s.output("y", add(s, w_, w_));
  CapturedGraph graph = s.finish().graph;
  device_.free(block);
  EXPECT_TRUE(graph.stale().has_value());
  expect_error(ErrorCode::stale, {"'counter'"}, [&] { graph.launch(); });
}

TEST_P(FreedBuffers, AreFreedInTheDatabaseOnceAGraphNotices) {
  const test::TempFolder folder;
  const auto path = folder / "freed.db";
  executor_ = GraphExecutor(device_, {.profile = path});
  {
    const CapturedGraph graph = doubler();
    device_.free(w_);
    EXPECT_TRUE(graph.stale().has_value());
    EXPECT_TRUE(graph.stale().has_value());
  }
  executor_ = GraphExecutor(device_);
  EXPECT_EQ(test::sql(path, "SELECT t_free_ns > t_alloc_ns FROM buffers WHERE name='w'"), "1");
}

TEST_P(FreedBuffers, FreeEveryTensorOfTheBuffer) {
  const std::shared_ptr<Buffer> both = device_.backend().allocate("both", 512, BufferKind::device);
  const Tensor first = Tensor::over(both, TensorSpec({4}, DType::f32), 0, "first");
  const Tensor second = Tensor::over(both, TensorSpec({4}, DType::f32), 256, "second");
  device_.free(first);
  expect_error(ErrorCode::stale, {"(both)"}, [&] { (void)device_.to_host(second); });
}

TEST_P(FreedBuffers, ImportedMemoryLosesItsOwner) {
  constexpr std::size_t kPage = 4096;
  std::shared_ptr<std::byte> pages(static_cast<std::byte*>(std::aligned_alloc(kPage, kPage)),
                                   [](std::byte* p) { std::free(p); });
  std::memset(pages.get(), 0, kPage);
  const auto buffer = device_.import("pages", {pages.get(), kPage}, pages);
  if (buffer == nullptr) {
    GTEST_SKIP() << "This device has memory of its own.";
  }
  const std::weak_ptr<std::byte> owner = std::exchange(pages, nullptr);
  EXPECT_FALSE(owner.expired());
  device_.free(Tensor::over(buffer, TensorSpec({4}, DType::f32)));
  EXPECT_TRUE(owner.expired());
}

TEST_P(FreedBuffers, OfAnotherDeviceAreRefused) {
  OpenOptions options;
  options.validation = GetParam() == "vulkan";
  const Device other = open_device(GetParam(), options);
  expect_error(ErrorCode::invalid_argument, {"'w'", "another device"}, [&] { other.free(w_); });
  EXPECT_FALSE(TensorRef(w_)->buffer->freed());
}

/// Whatever the moment: a launch gives the right result, or says what is stale.
TEST_P(FreedBuffers, MayGoWhileAnotherThreadUsesThem) {
  for (int round = 0; round < 20; ++round) {
    const Tensor w = device_.from_host({4}, values_, "w");
    auto r = executor_.begin_recorded({.name = "racing"});
    r.output("y", add(r, w, w));
    CapturedGraph graph = r.finish().graph;
    std::atomic<int> ready = 0;
    const auto until_stale = [&](auto&& use) {
      return [&, use] {
        ++ready;
        try {
          for (;;) {
            use();
          }
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::stale) << error.what();
        }
      };
    };
    std::vector<std::thread> threads;
    threads.emplace_back(until_stale([&] {
      graph.launch();
      EXPECT_EQ(graph.read("y"), doubled_);
    }));
    threads.emplace_back(until_stale([&] {
      auto s = executor_.begin();
      s.output("y", add(s, w, w));
      EXPECT_EQ(s.finish().read("y"), doubled_);
    }));
    threads.emplace_back(until_stale([&] {
      auto s = executor_.begin_recorded();
      s.output("y", add(s, w, w));
      EXPECT_EQ(s.finish().read("y"), doubled_);
    }));
    threads.emplace_back(until_stale([&] { EXPECT_EQ(device_.to_host<float>(w), values_); }));
    threads.emplace_back(until_stale(
        [&] { device_.write(TensorRef(w)->buffer, 0, std::as_bytes(std::span(values_))); }));
    while (ready < 5) {
      std::this_thread::yield();
    }
    device_.free(w);
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
}

/// Work in flight for as long as the gate is closed.
class FreedInFlight : public ::testing::Test {
 protected:
  Device device_ = test_device("cpu");
  GraphExecutor executor_{device_};
  const std::vector<float> values_{1, 2};
  Tensor w_ = device_.from_host({2}, values_, "w");
};

TEST_F(FreedInFlight, MemoryGoesWithTheLastSubmissionThatUsesIt) {
  auto s = executor_.begin_recorded({.name = "gated"});
  s.output("y", add(s, pass_gate(s, w_), w_));
  CapturedGraph graph = s.finish().graph;
  const std::shared_ptr<Buffer> buffer = TensorRef(w_)->buffer;
  Gate gate;
  const Ticket first = graph.launch_async();
  const Ticket second = graph.launch_async();
  gate.wait_until_reached();
  device_.free(w_);
  EXPECT_TRUE(buffer->freed());
  EXPECT_NE(buffer->mapped(), nullptr) << "in flight";
  expect_error(ErrorCode::stale, {"'gated'", "(w)"}, [&] { graph.launch(); });
  gate.open();
  EXPECT_EQ(first.read("y"), (std::vector<float>{2, 4}));
  EXPECT_EQ(second.read("y"), (std::vector<float>{2, 4}));
  EXPECT_EQ(buffer->mapped(), nullptr) << "nothing in flight uses it";
}

TEST_F(FreedInFlight, MemoryThatNothingInFlightUsesGoesAtOnce) {
  const Tensor other = device_.from_host({2}, values_, "other");
  const std::shared_ptr<Buffer> buffer = TensorRef(w_)->buffer;
  auto s = executor_.begin();
  s.output("y", pass_gate(s, other));
  Gate gate;
  const Ticket ticket = s.submit();
  gate.wait_until_reached();
  device_.free(w_);
  EXPECT_EQ(buffer->mapped(), nullptr);
  EXPECT_FALSE(ticket.done());
  gate.open();
  EXPECT_EQ(ticket.read("y"), values_);
}

}  // namespace
}  // namespace reprise::testing
