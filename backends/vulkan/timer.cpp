#include "backends/vulkan/timer.h"

#include <array>
#include <cstring>

#include "backends/vulkan/barriers.h"

namespace reprise::vulkan {
namespace {

using Stamps = std::array<std::uint64_t, 2>;

}  // namespace

TimerQueries::TimerQueries(std::shared_ptr<Device> device)
    : device_(std::move(device)), results_(device_, "timer", sizeof(Stamps), BufferKind::download) {
  std::memset(results_.mapped(), 0, sizeof(Stamps));
  VkQueryPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = 2;
  VkQueryPool queries = VK_NULL_HANDLE;
  device_->check(vkCreateQueryPool(device_->get(), &info, nullptr, &queries), "vkCreateQueryPool");
  queries_ = {device_->get(), queries};
}

void TimerQueries::start(VkCommandBuffer commands) const {
  vkCmdResetQueryPool(commands, queries_.get(), 0, 2);
  vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries_.get(), 0);
}

void TimerQueries::stop(VkCommandBuffer commands) const {
  vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries_.get(), 1);
  // WAIT: the copy is not ordered after the timestamp writes by barriers alone.
  vkCmdCopyQueryPoolResults(commands, queries_.get(), 0, 2, results_.get(), 0,
                            sizeof(std::uint64_t),
                            VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
  host_barrier(commands);
}

std::optional<std::uint64_t> TimerQueries::elapsed_ns() const {
  Stamps stamps{};
  std::memcpy(stamps.data(), results_.mapped(), sizeof(stamps));
  if (stamps == Stamps{}) {
    return std::nullopt;  // no submission took them yet
  }
  const std::uint32_t bits = device_->info().timestamp_valid_bits;
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t ticks = (stamps[1] - stamps[0]) & mask;  // the counter may have wrapped
  return static_cast<std::uint64_t>(static_cast<double>(ticks) *
                                    device_->info().timestamp_period_ns);
}

VulkanTimer::VulkanTimer(const std::shared_ptr<Device>& device) {
  device->require_alive();
  if (device->info().timestamp_valid_bits != 0) {
    queries_ = std::make_shared<const TimerQueries>(device);
  }
}

std::optional<std::uint64_t> VulkanTimer::elapsed_ns() {
  return queries_ == nullptr ? std::nullopt : queries_->elapsed_ns();
}

}  // namespace reprise::vulkan
