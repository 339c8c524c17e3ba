// Memory that cannot be is refused before the driver is asked.
#include <gtest/gtest.h>

#include "backends/vulkan/buffer.h"
#include "tests/testing.h"
#include "tests/vulkan/fault_run.h"
#include "tests/vulkan/open_vulkan.h"

namespace reprise::fault {
namespace {

using testing::expect_error;

class RefusedSizes : public ::testing::Test {
 protected:
  void SetUp() override { inject({}); }
  void TearDown() override { EXPECT_EQ(log_.validation(), ""); }

  Log log_;
  const Device device_ = open_logged(log_);
  const BackendCapabilities& has_ = device_.capabilities();
};

TEST_F(RefusedSizes, OfNothingAboveTheLargestBufferAndWrapping) {
  expect_error(ErrorCode::invalid_argument, {"(0)"}, [&] { (void)device_.allocate("none", 0); });
  const std::uint64_t max = ~std::uint64_t{0};
  for (const std::uint64_t bytes : {has_.buffer_bytes + 1, max / 2, max - 15, max - 14, max}) {
    expect_error(ErrorCode::out_of_memory,
                 {"'huge'", "(" + std::to_string(bytes) + ")", std::to_string(has_.buffer_bytes)},
                 [&] { (void)device_.allocate("huge", bytes); });
  }
  EXPECT_EQ(calls("vkCreateBuffer"), 0U);
  EXPECT_EQ(calls("vkAllocateMemory"), 0U);
}

TEST_F(RefusedSizes, OfMoreAllocationsThanTheDeviceTakes) {
  const auto instance = std::make_shared<const vulkan::Instance>(true, log_.callback());
  vulkan::PhysicalDevice physical =
      vulkan::usable_devices(instance->get())[vulkan::test_device(vulkan::enumerate())];
  physical.properties.limits.maxMemoryAllocationCount = 2;
  const auto device = std::make_shared<vulkan::Device>(instance, physical, OpenOptions{});
  const auto allocate = [&](const char* name) {
    return std::make_shared<vulkan::VulkanBuffer>(device, name, 64, BufferKind::device,
                                                  MemoryPurpose::tensors);
  };
  const auto first = allocate("first");
  auto second = allocate("second");
  inject({});
  expect_error(ErrorCode::out_of_memory, {"'third'", "(2) buffers", "at most 2"},
               [&] { (void)allocate("third"); });
  EXPECT_EQ(calls("vkAllocateMemory"), 0U);
  second->release_memory();
  EXPECT_NO_THROW((void)allocate("third"));
}

TEST_F(RefusedSizes, AboveTheBudgetOrTheHeap) {
  device_.set_memory_budget(1000);
  expect_error(ErrorCode::out_of_memory, {"(2048)", "1000", "budget"},
               [&] { (void)device_.allocate("beyond", 2048); });
  device_.set_memory_budget(0);
  const std::uint64_t heap = has_.heaps[0].bytes;
  if (has_.heaps.size() == 1 && has_.buffer_bytes >= heap) {
    expect_error(ErrorCode::out_of_memory, {"heap"},
                 [&] { (void)device_.allocate("heap", heap + 1); });
  }
  EXPECT_EQ(calls("vkAllocateMemory"), 0U);
}

}  // namespace
}  // namespace reprise::fault
