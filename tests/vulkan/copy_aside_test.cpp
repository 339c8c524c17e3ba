// Copies to the host beside other work, when they hang and while they run. Software drivers have
// one queue; it stands for both here.
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "backends/vulkan/host_signal.h"
#include "backends/vulkan/queue.h"
#include "tests/testing.h"
#include "tests/vulkan/fault_run.h"
#include "tests/vulkan/open_vulkan.h"

namespace reprise::fault {
namespace {

using std::chrono_literals::operator""min;
using testing::expect_error;
using vulkan::VulkanBuffer;

class CopyAside : public ::testing::Test {
 protected:
  void SetUp() override {
    inject({});
    std::iota(values_.begin(), values_.end(), std::uint8_t{1});
    std::memcpy(from_->mapped(), values_.data(), values_.size());
  }
  void TearDown() override {
    inject({});
    queue_.reset();
    EXPECT_EQ(log_.validation(), "");
  }

  std::shared_ptr<vulkan::Device> open(std::chrono::milliseconds hang_timeout) {
    const auto instance = std::make_shared<const vulkan::Instance>(true, log_.callback());
    const std::size_t index = vulkan::test_device(vulkan::enumerate());
    return std::make_shared<vulkan::Device>(instance,
                                            vulkan::usable_devices(instance->get())[index],
                                            OpenOptions{.hang_timeout = hang_timeout});
  }
  std::shared_ptr<VulkanBuffer> buffer(BufferKind kind) {
    return std::make_shared<VulkanBuffer>(device_, "copied", values_.size(), kind,
                                          MemoryPurpose::staging);
  }
  bool copy(const std::shared_ptr<VulkanBuffer>& to) {
    return queue_->copy_aside(from_, 0, to, values_.size());
  }
  void hang_in_a_copy(const std::shared_ptr<VulkanBuffer>& to) {
    inject({"vkWaitSemaphores", 1, true, VK_TIMEOUT});
    expect_error(ErrorCode::timeout, {"within 60000 ms"}, [&] { (void)copy(to); });
  }
  /// What hung comes to its end.
  void go_on() {
    inject({});
    ASSERT_EQ(vkDeviceWaitIdle(device_->get()), VK_SUCCESS);
  }
  void expect_copied(const VulkanBuffer& to) {
    EXPECT_EQ(std::memcmp(to.mapped(), values_.data(), values_.size()), 0);
  }

  std::vector<std::uint8_t> values_ = std::vector<std::uint8_t>(64);
  Log log_;
  const std::shared_ptr<vulkan::Device> device_ = open(1min);
  std::shared_ptr<VulkanBuffer> from_ = buffer(BufferKind::upload);
  std::optional<vulkan::Queue> queue_{std::in_place, device_, device_->queue()};
};

TEST_F(CopyAside, ThatHangsKeepsItsBuffersAndLeavesOthersToTheMainQueue) {
  auto to = buffer(BufferKind::download);
  hang_in_a_copy(to);
  const std::weak_ptr<VulkanBuffer> used[] = {from_, to};
  to.reset();
  from_ = buffer(BufferKind::upload);
  std::memcpy(from_->mapped(), values_.data(), values_.size());
  const auto next = buffer(BufferKind::download);
  const std::uint64_t submissions = calls("vkQueueSubmit2");
  EXPECT_FALSE(copy(next));
  EXPECT_EQ(calls("vkQueueSubmit2"), submissions);
  EXPECT_FALSE(used[0].expired());
  EXPECT_FALSE(used[1].expired());
  go_on();
  EXPECT_TRUE(copy(next));
  expect_copied(*next);
  EXPECT_TRUE(used[0].expired());
  EXPECT_TRUE(used[1].expired());
}

TEST_F(CopyAside, ThatHangsKeepsMemoryThatIsFreed) {
  hang_in_a_copy(buffer(BufferKind::download));
  queue_->free(from_);
  EXPECT_NE(from_->get(), VkBuffer{});
  go_on();
  queue_->release_freed();
  EXPECT_EQ(from_->get(), VkBuffer{});
}

TEST_F(CopyAside, IsKeptByADriverErrorToo) {
  auto to = buffer(BufferKind::download);
  const std::weak_ptr<VulkanBuffer> used = to;
  inject({"vkWaitSemaphores", 1, false, VK_ERROR_OUT_OF_HOST_MEMORY});
  expect_error(ErrorCode::out_of_memory, {"vkWaitSemaphores"}, [&] { (void)copy(to); });
  to.reset();
  EXPECT_FALSE(used.expired());
}

TEST_F(CopyAside, ThatHungIsWaitedForByTheEndOfItsQueue) {
  hang_in_a_copy(buffer(BufferKind::download));
  inject({});
  queue_.reset();
  EXPECT_EQ(calls("vkWaitSemaphores"), 1U);
}

TEST_F(CopyAside, KeepsNobodyFromAskingWhatIsSubmittedAndComplete) {
  const std::uint64_t submission = queue_->submit({});
  ASSERT_EQ(vkDeviceWaitIdle(device_->get()), VK_SUCCESS);
  // The copy runs behind this, so that it waits for the host.
  vulkan::VulkanHostSignal signal(device_);
  VkSemaphoreSubmitInfo raised{};
  raised.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  raised.semaphore = signal.get();
  raised.value = 1;
  raised.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  VkSubmitInfo2 behind{};
  behind.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  behind.waitSemaphoreInfoCount = 1;
  behind.pWaitSemaphoreInfos = &raised;
  ASSERT_EQ(vkQueueSubmit2(device_->queue(), 1, &behind, VK_NULL_HANDLE), VK_SUCCESS);
  const auto to = buffer(BufferKind::download);
  std::atomic<bool> copied = false;
  std::thread reader([&] {
    try {
      copied = copy(to);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  });
  while (calls("vkQueueSubmit2") < 3) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(queue_->complete(submission));
  EXPECT_EQ(queue_->last_submission(), submission);
  EXPECT_FALSE(copied);
  signal.raise();
  reader.join();
  EXPECT_TRUE(copied);
  expect_copied(*to);
}

TEST_F(CopyAside, WaitsAYearAtMost) {
  EXPECT_EQ(open(std::chrono::milliseconds::max())->hang_timeout(), std::chrono::hours(365 * 24));
}

}  // namespace
}  // namespace reprise::fault
