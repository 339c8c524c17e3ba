// Copies beside the other work, on the only queue of a software driver.
#include "backends/vulkan/read_queue.h"

#include <cstring>
#include <numeric>
#include <vector>

#include "backends/vulkan/host_signal.h"
#include "tests/vulkan/open_vulkan.h"

namespace reprise::vulkan {
namespace {

TEST(ReadQueue, CopiesWhatIsAskedForAndNothingElse) {
  std::string messages;
  const auto instance =
      std::make_shared<const Instance>(true, [&](LogLevel level, std::string_view text) {
        messages += level >= LogLevel::warning ? std::string(text) + "\n" : "";
      });
  const std::vector<PhysicalDevice> devices = usable_devices(instance->get());
  ASSERT_FALSE(devices.empty());
  const auto device = std::make_shared<Device>(instance, devices.front(), OpenOptions{});
  constexpr std::uint64_t kBytes = 256;
  const auto buffer = [&](const char* name, BufferKind kind) {
    return std::make_shared<VulkanBuffer>(device, name, kBytes, kind, MemoryPurpose::staging);
  };
  const auto from = buffer("from", BufferKind::upload);
  const auto to = buffer("to", BufferKind::download);
  std::vector<unsigned char> values(kBytes);
  std::iota(values.begin(), values.end(), std::uint8_t{0});
  std::memcpy(from->mapped(), values.data(), kBytes);
  std::memset(to->mapped(), 0xFF, kBytes);
  const SemaphoreHandle written = timeline_semaphore(*device);
  ReadQueue reads(device, device->queue());
  for (const std::uint64_t offset : {16U, 100U}) {
    reads.copy({from, to}, offset, 60, written.get(), 0);
    EXPECT_EQ(std::memcmp(to->mapped(), values.data() + offset, 60), 0) << offset;
    EXPECT_EQ(to->mapped()[60], std::byte{0xFF}) << "a copy wrote past its end";
  }
  EXPECT_EQ(messages, "");
}

}  // namespace
}  // namespace reprise::vulkan
