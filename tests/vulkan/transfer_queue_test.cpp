// Two queues of one device: what overlaps, what waits, and what is counted. The transfer layer runs
// one of them as late as it may, so whoever should wait and does not comes first.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/testing.h"
#include "tests/vulkan/fault_layer/faults.h"
#include "tests/vulkan/transfer_layer/transfer_layer.h"

namespace reprise::testing {
namespace {

using BufferRef = std::shared_ptr<Buffer>;
using Bytes = std::vector<std::byte>;
using transfer_layer::Late;
using transfer_layer::run_late;

class TransferQueue : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kBytes = 4096;

  void TearDown() override {
    fault::inject({});
    run_late(Late::transfers);
  }

  Bytes random() { return random_bytes(rng_, DType::i32, kBytes / 4, -1e9, 1e9); }
  BufferRef allocate(const std::string& name, BufferKind kind = BufferKind::device) {
    return backend_.allocate(name, kBytes, kind);
  }
  /// A buffer of the device, its bytes in place.
  BufferRef filled(const Bytes& bytes) {
    BufferRef buffer = allocate("filled");
    device_.write(buffer, 0, bytes);
    device_.synchronize();
    return buffer;
  }
  EncodingRef copy_of(const BufferRef& from, const BufferRef& to, EncoderOptions options = {}) {
    StepList steps;
    steps.copy(StepList::kNoNode, {0, Access::read, BindingType::storage, 0, kBytes},
               {1, Access::write, BindingType::storage, 0, kBytes});
    const BufferRef pools[] = {from, to};
    options.ends_at_host = to->mapped() != nullptr;
    const auto encoder = backend_.encoder(options);
    encoder->begin_label("copy");
    encoder->step(steps, 0, pools);
    encoder->barrier();
    encoder->end_label();
    return encoder->finish();
  }
  std::uint64_t submit(const EncodingRef& encoding) {
    const EncodingRef list[] = {encoding};
    return backend_.submit(list, Follow::other_work);
  }
  /// On the queue that computes.
  std::uint64_t copy(const BufferRef& from, const BufferRef& to,
                     std::shared_ptr<HostSignal> after = nullptr) {
    return submit(copy_of(from, to, {.after = std::move(after)}));
  }
  std::uint64_t upload(const BufferRef& to, const Bytes& bytes) {
    device_.write(to, 0, bytes);
    return backend_.last_submission();
  }
  static bool holds(const BufferRef& download, const Bytes& bytes) {
    return std::memcmp(download->mapped(), bytes.data(), bytes.size()) == 0;
  }
  Bytes read(const BufferRef& buffer) {
    Bytes bytes(kBytes);
    device_.read(buffer, 0, bytes);
    return bytes;
  }

  const std::uint64_t seed_ = test_seed();
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, seed_note(seed_)};
  std::mt19937_64 rng_{seed_};
  const ExpectNoValidationMessages quiet_;
  const Device device_ = fresh_test_device("vulkan");
  Backend& backend_ = device_.backend();
};

TEST_F(TransferQueue, IsToldByTheDeviceAndCanBeDoneWithout) {
  EXPECT_TRUE(device_.capabilities().transfer_queue);
  const std::uint64_t before = transfer_layer::transfers();
  const Device other = test_device("vulkan", {.no_transfer_queue = true});
  EXPECT_FALSE(other.capabilities().transfer_queue);
  const Tensor a = other.from_host({1024}, DType::i32, random()),
               b = other.zeros({1024}, DType::i32);
  other.copy(a, b);
  EXPECT_EQ(transfer_layer::transfers(), before);
  EXPECT_EQ(other.to_host(b), other.to_host(a));
}

TEST_F(TransferQueue, TakesUploadsAndCopiesBetweenTensors) {
  const std::uint64_t before = transfer_layer::transfers();
  const Bytes bytes = random();
  const Tensor a = device_.from_host({1024}, DType::i32, bytes, "a");
  EXPECT_EQ(transfer_layer::transfers(), before + 1);
  const Tensor b = device_.zeros({1024}, DType::i32, "b");
  EXPECT_EQ(transfer_layer::transfers(), before + 2);
  const Ticket copied = device_.copy_async(a, b);
  EXPECT_EQ(transfer_layer::transfers(), before + 3);
  EXPECT_EQ(device_.to_host(b), bytes);
  EXPECT_TRUE(copied.done());
  EXPECT_EQ(transfer_layer::transfers(), before + 3) << "what goes to the host";
}

TEST_F(TransferQueue, AnUploadOverlapsWorkThatWaitsForTheHost) {
  const Bytes old = random(), fresh = random();
  const BufferRef read_by_work = filled(old), other = allocate("other");
  const BufferRef result = allocate("result", BufferKind::download);
  const auto signal = backend_.host_signal();
  const std::uint64_t work = copy(read_by_work, result, signal);
  const std::uint64_t uploaded = upload(other, fresh);
  backend_.wait(uploaded);
  EXPECT_TRUE(backend_.complete(uploaded));
  EXPECT_FALSE(backend_.complete(work));
  EXPECT_LT(backend_.completed(), work) << "not all are complete";
  EXPECT_EQ(device_.status().in_flight, 2U);
  backend_.raise(signal);
  backend_.wait(work);
  EXPECT_TRUE(holds(result, old));
  EXPECT_EQ(backend_.completed(), uploaded);
  EXPECT_EQ(read(other), fresh);
}

TEST_F(TransferQueue, AnUploadWaitsForTheWorkInFlightThatReadsItsTarget) {
  run_late(Late::compute);
  const Bytes old = random(), fresh = random();
  const BufferRef target = filled(old), result = allocate("result", BufferKind::download);
  copy(target, result);
  const std::uint64_t uploaded = upload(target, fresh);
  backend_.wait(uploaded);
  EXPECT_TRUE(holds(result, old)) << "the upload came first";
  EXPECT_EQ(read(target), fresh);
}

TEST_F(TransferQueue, AnUploadWaitsBehindWorkThatWaitsForTheHost) {
  const Bytes old = random(), fresh = random();
  const BufferRef target = filled(old), result = allocate("result", BufferKind::download);
  const auto signal = backend_.host_signal();
  const std::uint64_t work = copy(target, result, signal);
  const std::uint64_t uploaded = upload(target, fresh);
  EXPECT_FALSE(backend_.complete(uploaded));
  std::thread host([&] { backend_.raise(signal); });
  backend_.wait(uploaded);
  host.join();
  EXPECT_TRUE(backend_.complete(work)) << "of two uses of a buffer the later one was waited for";
  EXPECT_TRUE(holds(result, old));
}

TEST_F(TransferQueue, AWaitBehindTheHostIsNoHang) {
  OpenOptions options;
  options.map_device_memory = false;
  options.hang_timeout = std::chrono::milliseconds(500);  // a busy machine has time to go on
  const Device device = open_device("vulkan", options);
  Backend& backend = device.backend();
  const auto made = [&](BufferKind kind) { return backend.allocate("b", kBytes, kind); };
  const BufferRef target = made(BufferKind::device), result = made(BufferKind::download);
  const auto signal = backend.host_signal();
  StepList steps;
  steps.copy(StepList::kNoNode, {0, Access::read, BindingType::storage, 0, kBytes},
             {1, Access::write, BindingType::storage, 0, kBytes});
  const BufferRef pools[] = {target, result};
  const auto encoder = backend.encoder({.after = signal});
  encoder->step(steps, 0, pools);
  const EncodingRef list[] = {encoder->finish()};
  (void)backend.submit(list, Follow::other_work);
  device.write(target, 0, random());
  // Together these calls, 100 ms each, last longer than a wait may last without progress.
  constexpr unsigned kCalls = 8;
  fault::inject({});
  std::atomic<bool> returned = false;
  std::thread host([&] {
    while (fault::calls("vkWaitSemaphores") < kCalls && !returned) {
      std::this_thread::yield();
    }
    backend.raise(signal);
  });
  EXPECT_NO_THROW(backend.wait(backend.last_submission()));
  returned = true;
  host.join();
  EXPECT_GE(fault::calls("vkWaitSemaphores"), kCalls);
}

TEST_F(TransferQueue, WorkWaitsForTheUploadInFlightOfWhatItReads) {
  const Bytes bytes = random();
  const BufferRef source = filled(random()), result = allocate("result", BufferKind::download);
  upload(source, bytes);
  const std::uint64_t work = copy(source, result);
  backend_.wait(work);
  EXPECT_TRUE(holds(result, bytes)) << "the work came first";
}

TEST_F(TransferQueue, WorkWaitsForTheUploadInFlightOfWhatItWrites) {
  const Bytes bytes = random();
  const BufferRef source = filled(bytes), target = filled(random());
  upload(target, random());
  const std::uint64_t work = copy(source, target);
  backend_.wait(work);
  device_.synchronize();
  EXPECT_EQ(read(target), bytes) << "the upload came last";
}

TEST_F(TransferQueue, WorkDoesNotWaitForUploadsOfOtherBuffers) {
  const Bytes bytes = random(), other_bytes = random();
  const BufferRef source = filled(bytes), other = allocate("other");
  const BufferRef result = allocate("result", BufferKind::download);
  const std::uint64_t uploaded = upload(other, other_bytes);
  const std::uint64_t work = copy(source, result);
  backend_.wait(work);
  EXPECT_TRUE(holds(result, bytes));
  EXPECT_FALSE(backend_.complete(uploaded)) << "it is late, and nobody needs it";
  EXPECT_LT(backend_.completed(), uploaded);
  EXPECT_EQ(read(other), other_bytes);
}

TEST_F(TransferQueue, WhatIsFreedInFlightStaysUntilItsUploadIsComplete) {
  const std::uint64_t without = backend_.memory_info().of(MemoryPurpose::tensors).bytes;
  const auto used = [&] {
    return backend_.memory_info().of(MemoryPurpose::tensors).bytes - without;
  };
  const BufferRef buffer = allocate("freed");
  const std::uint64_t uploaded = upload(buffer, random());
  backend_.free(buffer);
  EXPECT_GE(used(), kBytes) << "the upload is in flight";
  EXPECT_NE(backend_.last_use(*buffer, Access::write), 0U);
  backend_.wait(uploaded);
  EXPECT_EQ(used(), 0U);
  EXPECT_EQ(backend_.last_use(*buffer, Access::write), 0U);
}

TEST_F(TransferQueue, WhatWorkInFlightUsesStaysThoughLaterUploadsAreComplete) {
  const Bytes bytes = random();
  const BufferRef source = filled(bytes), result = allocate("result", BufferKind::download);
  const auto signal = backend_.host_signal();
  const std::uint64_t work = copy(source, result, signal);
  backend_.free(source);
  backend_.wait(upload(allocate("other"), random()));
  EXPECT_EQ(backend_.last_use(*source, Access::read), work);
  backend_.raise(signal);
  backend_.wait(work);
  EXPECT_TRUE(holds(result, bytes)) << "its memory went";
}

TEST_F(TransferQueue, SynchronizeWaitsForBothQueues) {
  const BufferRef source = filled(random()), result = allocate("result", BufferKind::download);
  const auto signal = backend_.host_signal();
  copy(source, result, signal);
  backend_.wait(upload(allocate("other"), random()));
  const Ticket behind_work = device_.synchronize_async();
  EXPECT_FALSE(behind_work.done()) << "the last submission is complete, the one before is not";
  backend_.raise(signal);
  behind_work.wait();
  EXPECT_EQ(device_.status().in_flight, 0U);

  const std::uint64_t uploaded = upload(allocate("another"), random());
  backend_.wait(copy(source, result));
  EXPECT_LT(backend_.completed(), uploaded);
  EXPECT_EQ(device_.status().in_flight, 2U);
  EXPECT_FALSE(device_.synchronize_async().done());
  device_.synchronize();
  EXPECT_TRUE(device_.synchronize_async().done());
  EXPECT_EQ(backend_.completed(), backend_.last_submission());
  EXPECT_EQ(device_.status().in_flight, 0U);
}

TEST_F(TransferQueue, ShutdownWaitsForBothQueues) {
  const BufferRef source = filled(random()), result = allocate("result", BufferKind::download);
  upload(allocate("other"), random());
  const std::uint64_t last = copy(source, result);
  device_.shutdown();
  EXPECT_EQ(backend_.completed(), last);
  EXPECT_EQ(device_.status().in_flight, 0U);
  expect_error(ErrorCode::shut_down, {}, [&] { upload(source, random()); });
  device_.synchronize();
}

TEST_F(TransferQueue, ADeviceMayBeDestroyedWhileBothAreInFlight) {
  for (const Late late : {Late::transfers, Late::compute}) {
    run_late(late);
    const Device device = fresh_test_device("vulkan");
    const Tensor a = device.from_host({1024}, DType::i32, random());
    const Tensor b = device.zeros({1024}, DType::i32);
    GraphExecutor executor(device);
    auto s = executor.begin();
    s.output("y", add(s, s.input("x", {4}, std::vector<float>{1, 2, 3, 4}),
                      device.from_host({4}, std::vector<float>{1, 2, 3, 4})));
    const Ticket ticket = s.submit();
    (void)device.copy_async(a, b);
  }
}

TEST_F(TransferQueue, IsLostWithItsDevice) {
  const BufferRef target = filled(random());
  fault::inject({"vkQueueSubmit2", 1, false, VK_ERROR_DEVICE_LOST});
  expect_error(ErrorCode::device_lost, {"vkQueueSubmit2", "VK_ERROR_DEVICE_LOST"},
               [&] { upload(target, random()); });
  fault::inject({});
  expect_error(ErrorCode::device_lost, {"first failure"}, [&] { upload(target, random()); });
  expect_error(ErrorCode::device_lost, {"first failure"}, [&] { device_.synchronize(); });
  EXPECT_EQ(device_.status().state, DeviceState::lost);
}

TEST_F(TransferQueue, GoesOnAfterASubmitThatFailed) {
  const Bytes bytes = random();
  const BufferRef target = filled(random());
  const std::uint64_t before = backend_.last_submission();
  fault::inject({"vkQueueSubmit2", 1, false, VK_ERROR_OUT_OF_HOST_MEMORY});
  expect_error(ErrorCode::out_of_memory, {"vkQueueSubmit2"}, [&] { upload(target, random()); });
  fault::inject({});
  EXPECT_EQ(backend_.last_submission(), before);
  upload(target, bytes);
  EXPECT_EQ(read(target), bytes);
}

TEST_F(TransferQueue, SubmissionsOfCopiesAndOthersAreRefused) {
  const BufferRef from = filled(random()), to = allocate("to");
  const EncodingRef list[] = {copy_of(from, to, {.transfer = true}), copy_of(from, to)};
  expect_error(ErrorCode::invalid_argument, {"transfers and other encodings"},
               [&] { (void)backend_.submit(list, Follow::wait); });
  expect_error(ErrorCode::invalid_argument, {"copies alone"}, [&] {
    (void)backend_.encoder({.after = backend_.host_signal(), .transfer = true});
  });
  const auto encoder = backend_.encoder({.transfer = true});
  const auto stamps = backend_.timestamps(1);
  expect_error(ErrorCode::invalid_argument, {"(timestamp)"}, [&] { encoder->stamp(stamps, 0); });
  expect_error(ErrorCode::invalid_argument, {"(reset"}, [&] { encoder->reset(stamps); });
}

TEST_F(TransferQueue, ReusableTransfersKeepTheirOrder) {
  const BufferRef from = allocate("from", BufferKind::upload), to = allocate("to");
  const BufferRef result = allocate("result", BufferKind::download);
  const EncodingRef there = copy_of(from, to, {.reusable = true, .transfer = true});
  const EncodingRef back = copy_of(to, result, {.reusable = true});
  for (int run = 0; run < 5; ++run) {
    const Bytes bytes = random();
    std::memcpy(from->mapped(), bytes.data(), bytes.size());
    submit(there);
    backend_.wait(submit(back));
    ASSERT_TRUE(holds(result, bytes));
  }
}

/// Uploads, copies on both queues, waits, questions and freed buffers, in any order; the host does
/// the same one after another.
class RandomTransfers : public TransferQueue, public ::testing::WithParamInterface<Late> {
 protected:
  static constexpr std::size_t kBuffers = 6;
  std::size_t pick() { return rng_() % kBuffers; }
  void step() {
    const std::size_t a = pick(), b = pick();
    switch (rng_() % 8) {
      case 0:
      case 1:
        expected_[a] = random();
        made_.push_back(upload(buffers_[a], expected_[a]));
        return;
      case 2:
      case 3:
      case 4:
      case 5:
        if (a != b) {
          expected_[b] = expected_[a];
          made_.push_back(submit(copy_of(buffers_[a], buffers_[b], {.transfer = rng_() % 3 == 0})));
        }
        return;
      case 6:
        if (!made_.empty()) {
          const std::uint64_t one = made_[rng_() % made_.size()];
          rng_() % 2 == 0 ? backend_.wait(one) : static_cast<void>(backend_.complete(one));
        }
        return;
      default:
        expected_[a] = random();
        backend_.free(buffers_[a]);
        buffers_[a] = allocate("again");
        made_.push_back(upload(buffers_[a], expected_[a]));
        return;
    }
  }
  std::vector<BufferRef> buffers_;
  std::vector<Bytes> expected_;
  std::vector<std::uint64_t> made_;
};
std::string late_name(const ::testing::TestParamInfo<Late>& parameter) {
  constexpr const char* kNames[] = {"nothing", "transfers", "compute"};
  return kNames[static_cast<std::size_t>(parameter.param)];
}
INSTANTIATE_TEST_SUITE_P(Late, RandomTransfers,
                         ::testing::Values(Late::nothing, Late::transfers, Late::compute),
                         late_name);

TEST_P(RandomTransfers, LeaveTheBytesOfTheOrderOfTheirSubmissions) {
  for (std::size_t i = 0; i < kBuffers; ++i) {
    expected_.push_back(random());
    buffers_.push_back(filled(expected_.back()));
  }
  run_late(GetParam());
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 40; ++i) {
      step();
    }
    for (std::size_t i = 0; i < kBuffers; ++i) {
      ASSERT_TRUE(read(buffers_[i]) == expected_[i]) << "buffer " << i << " after round " << round;
    }
  }
  device_.synchronize();
  EXPECT_EQ(device_.status().in_flight, 0U);
  for (const std::uint64_t one : made_) {
    EXPECT_TRUE(backend_.complete(one)) << one;
  }
}

TEST_P(RandomTransfers, OfManyThreadsLeaveEachItsOwn) {
  run_late(GetParam());
  std::vector<Bytes> bytes;
  std::generate_n(std::back_inserter(bytes), 4, [&] { return random(); });
  std::vector<int> wrong(bytes.size());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < bytes.size(); ++t) {
    threads.emplace_back([&, t] {
      Bytes values = bytes[t];
      for (int i = 0; i < 20; ++i) {
        std::rotate(values.begin(), values.begin() + 4, values.end());
        const Tensor a = device_.from_host({1024}, DType::i32, values);
        const Tensor b = device_.zeros({1024}, DType::i32);
        const Ticket copied = device_.copy_async(a, b);
        device_.free(a);
        wrong[t] += device_.to_host(b) == values && copied.done() ? 0 : 1;
      }
    });
  }
  std::ranges::for_each(threads, &std::thread::join);
  EXPECT_EQ(wrong, std::vector<int>(bytes.size()));
}

TEST_P(RandomTransfers, ChangeNoBitOfAPass) {
  run_late(GetParam());
  constexpr std::int64_t kWidth = 64;
  const auto w = random_bytes(rng_, DType::f32, kWidth * kWidth, -1, 1);
  const auto norm = random_bytes(rng_, DType::f32, kWidth, -1, 1);
  const auto x = random_bytes(rng_, DType::f32, kWidth, -1, 1);
  const auto outputs = [&](const Device& device) {
    const Tensor weights = device.from_host({kWidth, kWidth}, DType::f32, w, "w");
    const Tensor scale = device.from_host({kWidth}, DType::f32, norm, "norm");
    const Tensor sum = device.zeros({1, kWidth}, DType::f32, "sum");
    GraphExecutor executor(device);
    const auto pass = [&](GraphSession& s) {
      const Tensor in = s.input("x", {1, kWidth}, DType::f32, x);
      const Tensor h = rms_norm(s, add(s, in, sum), scale);
      s.output("y", add(s, in, matmul(s, silu_mul(s, matmul(s, h, weights), h), weights)));
    };
    std::vector<Bytes> all;
    auto direct = executor.begin();
    pass(direct);
    all.push_back(direct.finish().read<std::byte>("y"));
    auto recorded = executor.begin_recorded();
    pass(recorded);
    CapturedGraph graph = recorded.finish().graph;
    for (int i = 0; i < 3; ++i) {
      const Ticket ticket = graph.launch_async();
      device.write(TensorRef(sum)->buffer, 0, all.back());  // the pass in flight reads it
      all.push_back(ticket.read<std::byte>("y"));
    }
    return all;
  };
  EXPECT_TRUE(outputs(device_) == outputs(test_device("vulkan", {.no_transfer_queue = true})));
}

}  // namespace
}  // namespace reprise::testing
