// The memory of a device: what it is used for, copies, limits, and giving it back.
#include <bit>

#include "tests/session/tensor_values.h"
#include "tests/testing.h"

namespace reprise::testing {
namespace {

const std::vector<float> kStored{1, 2, 3, 4};

class DeviceMemory : public ::testing::TestWithParam<std::string> {
 protected:
  static Device fresh(OpenOptions options = {}) {
    options.validation = GetParam() == "vulkan";
    return open_device(GetParam(), options);
  }
  static MemoryUse used(const Device& device, MemoryPurpose purpose) {
    return device.memory().of(purpose);
  }
  const ExpectNoValidationMessages quiet_;
};
INSTANTIATE_TEST_SUITE_P(On, DeviceMemory, ::testing::Values("cpu", "vulkan"), device_param_name);

TEST_P(DeviceMemory, HeapsAreThoseOfTheMachine) {
  const Device device = fresh();
  const auto heaps = device.memory().heaps;
  ASSERT_FALSE(heaps.empty());
  EXPECT_EQ(heaps.size(), device.capabilities().heaps.size());
  for (const HeapInfo& heap : heaps) {
    EXPECT_GT(heap.bytes, std::uint64_t{1} << 28U);
    EXPECT_EQ(heap.driver_budget.has_value(), heap.driver_used.has_value());
  }
  const Tensor t = device.zeros({1 << 20}, DType::f32);
  std::uint64_t in_heaps = 0;
  for (const HeapInfo& heap : device.memory().heaps) {
    in_heaps += heap.used.bytes;
  }
  EXPECT_EQ(in_heaps, device.memory().total.bytes);
  EXPECT_GE(in_heaps, std::uint64_t{4} << 20U);
}

TEST_P(DeviceMemory, EveryPurposeIsCountedWhereItIsUsed) {
  const Device device = fresh({.map_device_memory = false});
  const auto none = device.memory();
  for (const MemoryUse& use : none.by_purpose) {
    EXPECT_EQ(use.bytes, 0U);
  }
  const Tensor w = device.from_host({4}, kStored, "w");
  EXPECT_GE(used(device, MemoryPurpose::tensors).bytes, 16U);
  EXPECT_GE(used(device, MemoryPurpose::staging).bytes, 16U) << "the way of the bytes";
  const StateBlock state(device, StateLayout().host("pos", 3));
  EXPECT_GE(used(device, MemoryPurpose::state).bytes, 4U);
  EXPECT_EQ(used(device, MemoryPurpose::tensors).buffers, 1U);
  GraphExecutor executor(device);
  EXPECT_EQ(used(device, MemoryPurpose::arenas).bytes, 0U);
  auto s = executor.begin_recorded();
  const Tensor x = s.input("x", {4}, kStored);
  s.output("y", add(s, add(s, x, w), x));
  const CapturedGraph graph = s.finish().graph;
  EXPECT_GE(used(device, MemoryPurpose::arenas).bytes, 16U);
  EXPECT_GE(used(device, MemoryPurpose::exchange).bytes, 32U);
  std::uint64_t sum = 0;
  for (const MemoryUse& use : device.memory().by_purpose) {
    sum += use.bytes;
  }
  EXPECT_EQ(sum, device.memory().total.bytes);
}

TEST_P(DeviceMemory, ImportedMemoryIsCountedByItself) {
  const Device device = fresh();
  constexpr std::size_t kPage = 4096;
  const std::shared_ptr<std::byte> page(
      static_cast<std::byte*>(::operator new (kPage, std::align_val_t{kPage})),
      [](std::byte* p) { ::operator delete (p, std::align_val_t{kPage}); });
  const std::uint64_t before = device.memory().total.bytes;
  {
    const auto buffer = device.import("page", {page.get(), kPage}, page);
    ASSERT_EQ(buffer != nullptr, device.capabilities().imports_host_memory);
    if (buffer != nullptr) {
      EXPECT_EQ(used(device, MemoryPurpose::imported).bytes, kPage);
      EXPECT_EQ(device.memory().total.bytes, before);
    }
  }
  EXPECT_EQ(used(device, MemoryPurpose::imported).bytes, 0U);
}

TEST_P(DeviceMemory, FreedMemoryIsGivenBackBeforeItsLastHandle) {
  const Device device = fresh();
  const Tensor t = device.zeros({1000}, DType::f32, "t");
  device.synchronize();  // it may be copied there
  const std::uint64_t before = device.memory().total.bytes;
  device.free(t);
  EXPECT_LE(device.memory().total.bytes, before - 4000);
}

TEST_P(DeviceMemory, NothingIsAllocatedBeyondTheBudget) {
  const Device device = fresh({.memory_budget = 100'000});
  EXPECT_EQ(device.memory().budget, 100'000U);
  const Tensor fits = device.zeros({20'000}, DType::f32, "fits");
  expect_error(ErrorCode::out_of_memory, {"'more'", "budget"},
               [&] { (void)device.zeros({20'000}, DType::f32, "more"); });
  EXPECT_LE(device.memory().total.bytes, 100'000U);
  device.set_memory_budget(1'000'000);
  EXPECT_EQ(device.memory().budget, 1'000'000U);
  const Tensor more = device.zeros({20'000}, DType::f32, "more");
  EXPECT_EQ(device.to_host(fits), std::vector<std::byte>(80'000));
}

TEST_P(DeviceMemory, ASessionThatDoesNotFitFailsAndTheNextOneWorks) {
  const Device device = fresh({.memory_budget = 400'000});
  GraphExecutor executor(device, {.arenas = {.first_chunk_bytes = 1024}});
  const auto run = [&](std::int64_t elements) {
    auto s = executor.begin_recorded();
    const std::vector<float> values(static_cast<std::size_t>(elements), 2);
    const Tensor x = s.input("x", {elements}, values);
    s.output("y", mul(s, add(s, x, x), x));
    return s.finish().graph.read("y");
  };
  expect_error(ErrorCode::out_of_memory, {"budget"}, [&] { (void)run(1'000'000); });
  EXPECT_EQ(run(4), std::vector<float>(4, 8));
}

TEST_P(DeviceMemory, PressureIsToldAndWhatIsTrimmedThenMakesRoom) {
  std::vector<MemoryPressure> levels;
  std::optional<Device> device;
  Tensor cache;
  OpenOptions options{.memory_budget = 1'000'000};
  options.on_memory_pressure = [&](MemoryPressure level, const MemoryInfo&) {
    levels.push_back(level);
    if (level == MemoryPressure::critical) {
      device->free(cache);
    }
  };
  device = fresh(options);
  cache = device->zeros({200'000}, DType::f32, "cache");
  device->synchronize();  // what is freed in flight makes no room yet
  const Tensor wanted = device->zeros({100'000}, DType::f32, "wanted");
  EXPECT_EQ(levels, (std::vector{MemoryPressure::moderate, MemoryPressure::critical,
                                 MemoryPressure::none}));
}

// Whoever allocates may hold locks of its own: none of them may be one that the callback needs.
TEST_P(DeviceMemory, ACallbackMayTrimAndAskWhereverMemoryIsTaken) {
  std::optional<GraphExecutor> executor;
  CapturePool pool;
  std::uint32_t calls = 0;
  OpenOptions options{.map_device_memory = false, .memory_budget = 64U << 20U};
  options.on_memory_pressure = [&](MemoryPressure, const MemoryInfo&) {
    ++calls;
    executor->trim();
    executor->defragment();
    EXPECT_FALSE(pool.sealed());
    EXPECT_LE(pool.bytes(), executor->device().memory().total.bytes);
    EXPECT_EQ(executor->device().status().state, DeviceState::ready);
  };
  const Device device = fresh(options);
  executor.emplace(device, ExecutorOptions{.arenas = {.first_chunk_bytes = 4096}});
  pool = CapturePool(device);
  const auto scarce = [&](const std::function<void()>& takes) {
    device.set_memory_budget(1);
    const std::uint32_t before = calls;
    expect_error(ErrorCode::out_of_memory, {"budget"}, takes);
    EXPECT_GT(calls, before);
    device.set_memory_budget(0);
  };
  const Tensor x = device.from_host({4}, kStored, "x");
  const auto record = [&](GraphSession& s) { s.output("y", mul(s, add(s, x, x), x)); };
  const Tensor w = device.zeros({1 << 20}, DType::f32, "w");
  device.synchronize();
  device.trim();
  scarce([&] { device.write(TensorRef(w)->buffer, 0, std::as_bytes(std::span(kStored))); });
  scarce([&] { (void)device.zeros({4}, DType::f32, "t"); });
  scarce([&] { (void)device.to_host(w); });
  scarce([&] { (void)StateBlock(device, StateLayout().host("pos")); });
  scarce([&] {
    auto s = executor->begin();
    record(s);
    (void)s.finish();
  });
  scarce([&] {
    auto s = executor->begin_recorded();
    record(s);
    (void)s.finish({.pool = pool});
  });
  const GraphOwner owner("memory");
  const GraphKey key{.owner = owner, .tag = "k"};
  scarce([&] {
    auto s = executor->begin_graph_capture();
    record(s);
    (void)executor->end_graph_capture(key, s);
  });
  GraphCache cache(*executor);
  scarce([&] { (void)cache.run(key, record); });
  EXPECT_EQ(cache.run(key, record).ticket.read("y"), (std::vector<float>{2, 8, 18, 32}));
}

TEST_P(DeviceMemory, TrimGivesBackWhatIsIdleAndEverythingGoesOn) {
  const Device device = fresh({.map_device_memory = false});
  GraphExecutor executor(device);
  const auto direct = [&] {
    auto s = executor.begin();
    const Tensor x = s.input("x", {4}, kStored);
    s.output("y", mul(s, add(s, x, x), x));
    return s.finish().read("y");
  };
  const std::vector<float> expected{2, 8, 18, 32};
  const Tensor w = device.from_host({4}, kStored, "w");
  EXPECT_EQ(direct(), expected);
  device.synchronize();
  EXPECT_GT(used(device, MemoryPurpose::arenas).bytes, 0U);
  executor.trim();
  EXPECT_EQ(used(device, MemoryPurpose::arenas).bytes, 0U);
  EXPECT_EQ(used(device, MemoryPurpose::staging).bytes, 0U);
  EXPECT_EQ(device.to_host<float>(w), kStored);
  EXPECT_EQ(direct(), expected);
}

TEST_P(DeviceMemory, ArenasBeginAsLargeAsAsked) {
  const Device device = fresh();
  GraphExecutor executor(device, {.arenas = {.first_chunk_bytes = 1U << 16U, .max_idle = 0}});
  {
    auto s = executor.begin();
    const Tensor x = s.input("x", {4}, kStored);
    s.output("y", mul(s, add(s, x, x), x));
    EXPECT_EQ(used(device, MemoryPurpose::arenas).bytes, 1U << 16U);
    EXPECT_EQ(s.finish().read("y"), (std::vector<float>{2, 8, 18, 32}));
  }
  EXPECT_EQ(used(device, MemoryPurpose::arenas).buffers, 0U) << "none is kept";
}

TEST_P(DeviceMemory, DefragmentingMakesOnePieceOfAnArena) {
  const Device device = fresh();
  GraphExecutor executor(device, {.arenas = {.first_chunk_bytes = 4096}});
  const auto direct = [&](std::int64_t elements) {
    auto s = executor.begin();
    const std::vector<float> values(static_cast<std::size_t>(elements), 3);
    const Tensor x = s.input("x", {elements}, values);
    const Tensor a = add(s, x, x), b = mul(s, x, x), c = add(s, a, b);
    s.output("y", add(s, c, a));
    return s.finish().read("y");
  };
  const std::vector<float> expected(1000, 21);
  EXPECT_EQ(direct(1000), expected);
  const MemoryUse pieces = used(device, MemoryPurpose::arenas);
  EXPECT_GT(pieces.buffers, 1U);
  executor.defragment();
  EXPECT_EQ(used(device, MemoryPurpose::arenas).buffers, 1U);
  EXPECT_EQ(used(device, MemoryPurpose::arenas).bytes, pieces.bytes);
  EXPECT_EQ(direct(1000), expected);
  EXPECT_EQ(used(device, MemoryPurpose::arenas).buffers, 1U);
}

TEST_P(DeviceMemory, BuffersStartWhereAsked) {
  const Device device = fresh();
  const std::uint64_t max = device.capabilities().allocation_alignment;
  EXPECT_GE(max, 64U);
  for (std::uint64_t alignment = 1; alignment <= max; alignment *= 2) {
    const auto buffer = device.allocate("b", 100, BufferKind::upload, alignment);
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(buffer->mapped()) % alignment, 0U);
    EXPECT_EQ(buffer->bytes(), 100U);
  }
  for (const std::uint64_t alignment : {std::uint64_t{0}, std::uint64_t{3}, 2 * max}) {
    expect_error(ErrorCode::invalid_argument,
                 {"alignment of (" + std::to_string(alignment) + ")", std::to_string(max)},
                 [&] { (void)device.allocate("b", 100, BufferKind::device, alignment); });
  }
  expect_error(ErrorCode::invalid_argument, {"import()"},
               [&] { (void)device.allocate("b", 100, BufferKind::imported); });
}

TEST_P(DeviceMemory, SizesThatCannotBeAreRefusedBeforeTheDriver) {
  const Device device = fresh();
  const std::uint64_t before = device.status().allocations;
  expect_error(ErrorCode::invalid_argument, {"(0)"}, [&] { (void)device.allocate("none", 0); });
  for (const std::uint64_t bytes :
       {std::uint64_t{1} << 60U, ~std::uint64_t{0}, ~std::uint64_t{0} - 14}) {
    expect_error(ErrorCode::out_of_memory, {"'huge'", "(" + std::to_string(bytes) + ")"},
                 [&] { (void)device.allocate("huge", bytes); });
  }
  EXPECT_EQ(device.status().allocations, before);
  EXPECT_EQ(device.memory().total.bytes, 0U);
}

TEST_P(DeviceMemory, CopiesBetweenTensorsAreInOrderWithOtherWork) {
  for (const bool mapped : {true, false}) {
    const Device device = fresh({.map_device_memory = mapped});
    const Tensor a = device.from_host({4}, kStored, "a"), b = device.zeros({2, 2}, DType::f32, "b");
    const Tensor c = device.zeros({4}, DType::f32, "c");
    const Ticket first = device.copy_async(a, b);
    const Ticket second = device.copy_async(b, c);
    second.wait();
    EXPECT_TRUE(first.done());
    EXPECT_EQ(device.to_host<float>(c), kStored);
    device.copy(device.from_host({4}, std::vector<float>{9, 8, 7, 6}), c);
    EXPECT_EQ(device.to_host<float>(c), (std::vector<float>{9, 8, 7, 6}));
    EXPECT_EQ(device.to_host<float>(b), kStored);
  }
}

TEST_P(DeviceMemory, CopiesFromAnotherDeviceGoThroughTheHost) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  std::mt19937_64 rng(seed);
  constexpr std::int64_t kElements = (17 << 20) / 4 + 3;  // more than a piece of staging
  const auto bytes = random_bytes(rng, DType::f32, kElements, -1, 1);
  const Device device = fresh(), other = open_device("cpu");
  const Tensor here = device.zeros({kElements}, DType::f32, "here");
  device.copy_from(other, other.from_host({kElements}, DType::f32, bytes, "there"), here);
  EXPECT_TRUE(device.to_host(here) == bytes);
}

TEST_P(DeviceMemory, CopiesThatDoNotFitAreRefused) {
  const Device device = fresh();
  const Tensor a = device.from_host({4}, kStored, "a"), b = device.zeros({3}, DType::f32, "b");
  expect_error(ErrorCode::invalid_argument, {"'a'", "'b'", "[4]", "[3]"},
               [&] { device.copy(a, b); });
  expect_error(ErrorCode::invalid_argument, {"overlap"}, [&] { device.copy(a, a); });
  device.free(b);
  const Tensor c = device.zeros({3}, DType::f32, "c"), d = device.zeros({3}, DType::f32, "d");
  expect_error(ErrorCode::stale, {"(b)"}, [&] { device.copy(b, c); });
  expect_error(ErrorCode::invalid_argument, {"empty"}, [&] { device.copy(Tensor(), c); });
  const Device other = fresh();
  expect_error(ErrorCode::invalid_argument, {"another device"}, [&] { other.copy(c, d); });
}

}  // namespace
}  // namespace reprise::testing
