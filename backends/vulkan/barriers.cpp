#include "backends/vulkan/barriers.h"

namespace reprise::vulkan {
namespace {

void barrier(VkCommandBuffer commands, VkPipelineStageFlags2 from, VkAccessFlags2 written,
             VkPipelineStageFlags2 to, VkAccessFlags2 used) {
  const VkMemoryBarrier2 memory{
      VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, nullptr, from, written, to, used};
  VkDependencyInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  info.memoryBarrierCount = 1;
  info.pMemoryBarriers = &memory;
  vkCmdPipelineBarrier2(commands, &info);
}

}  // namespace

void opening_barrier(VkCommandBuffer commands, bool after_host) {
  constexpr VkAccessFlags2 kAny = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
  barrier(commands,
          VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT |
              (after_host ? VK_PIPELINE_STAGE_2_HOST_BIT : VK_PIPELINE_STAGE_2_NONE),
          kAny, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, kAny);
}

void step_barrier(VkCommandBuffer commands, bool grids_written) {
  // Dispatches before it have read their grids: that stage lies ahead of their shaders.
  constexpr VkPipelineStageFlags2 kStages =
      VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
  constexpr VkAccessFlags2 kWrites =
      VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
  constexpr VkAccessFlags2 kReads = VK_ACCESS_2_SHADER_STORAGE_READ_BIT |
                                    VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |
                                    VK_ACCESS_2_UNIFORM_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT;
  barrier(commands, kStages, kWrites,
          kStages | (grids_written ? VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT : 0),
          kReads | kWrites | (grids_written ? VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT : 0));
}

void host_barrier(VkCommandBuffer commands) {
  barrier(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
          VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_HOST_WRITE_BIT);
}

}  // namespace reprise::vulkan
