#include "debugger/app/renderer.h"

#include <array>
#include <backends/imgui_impl_vulkan.h>

#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

constexpr std::uint32_t kImages = 3;  // whose vertices may be in flight

/// ImGui's backend does not check what it goes on with.
void check_result(VkResult result) {
  if (result != VK_SUCCESS) {
    throw_error(result == VK_ERROR_DEVICE_LOST ? ErrorCode::device_lost : ErrorCode::out_of_memory,
                "Drawing failed (", vk::to_string(static_cast<vk::Result>(result)), ").");
  }
}

}  // namespace

Renderer::Renderer(Gui& gui, const GraphicsOptions& options) : gui_(gui), graphics_(options) {
  picture_pass_ = render_pass_to(vk::ImageLayout::eTransferSrcOptimal);
  start_imgui();
}

Renderer::~Renderer() {
  vkDeviceWaitIdle(*graphics_.device());
  stop_imgui();
}

void Renderer::start_imgui() {
  const vk::raii::Device& device = graphics_.device();
  const vk::DescriptorPoolSize size(vk::DescriptorType::eCombinedImageSampler, 1);
  descriptors_ = {device, vk::DescriptorPoolCreateInfo(
                              vk::DescriptorPoolCreateFlagBits::eFreeDescriptorSet, 1, size)};

  gui_.make_current();
  ImGui_ImplVulkan_InitInfo info{};
  info.Instance = *graphics_.instance();
  info.PhysicalDevice = *graphics_.physical();
  info.Device = *device;
  info.QueueFamily = graphics_.queue_family();
  info.Queue = *graphics_.queue();
  info.DescriptorPool = *descriptors_;
  info.MinImageCount = info.ImageCount = kImages;
  info.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
  info.CheckVkResultFn = check_result;
#if IMGUI_VERSION_NUM < 19030
  ImGui_ImplVulkan_Init(&info, *picture_pass_);
#else
  info.RenderPass = *picture_pass_;
  ImGui_ImplVulkan_Init(&info);
#endif
#if IMGUI_VERSION_NUM < 19000
  graphics_.run([](const vk::raii::CommandBuffer& commands) {
    ImGui_ImplVulkan_CreateFontsTexture(*commands);
  });
  ImGui_ImplVulkan_DestroyFontUploadObjects();
#else
  ImGui_ImplVulkan_CreateFontsTexture();
#endif
}

void Renderer::stop_imgui() {
  gui_.make_current();
  ImGui_ImplVulkan_Shutdown();
  descriptors_ = nullptr;
}

vk::raii::RenderPass Renderer::render_pass_to(vk::ImageLayout layout) const {
  const vk::AttachmentDescription colour(
      {}, kFormat, vk::SampleCountFlagBits::e1, vk::AttachmentLoadOp::eClear,
      vk::AttachmentStoreOp::eStore, vk::AttachmentLoadOp::eDontCare,
      vk::AttachmentStoreOp::eDontCare, vk::ImageLayout::eUndefined, layout);
  const vk::AttachmentReference reference(0, vk::ImageLayout::eColorAttachmentOptimal);
  const vk::SubpassDescription subpass({}, vk::PipelineBindPoint::eGraphics, {}, reference);
  using Stage = vk::PipelineStageFlagBits;
  using Access = vk::AccessFlagBits;
  // Before: what acquired the image waits at the colour stage. After: a copy may follow.
  const std::array dependencies{
      vk::SubpassDependency(VK_SUBPASS_EXTERNAL, 0, Stage::eColorAttachmentOutput,
                            Stage::eColorAttachmentOutput, {}, Access::eColorAttachmentWrite),
      vk::SubpassDependency(0, VK_SUBPASS_EXTERNAL, Stage::eColorAttachmentOutput, Stage::eTransfer,
                            Access::eColorAttachmentWrite, Access::eTransferRead)};
  return {graphics_.device(), vk::RenderPassCreateInfo({}, colour, subpass, dependencies)};
}

vk::raii::Framebuffer Renderer::framebuffer(vk::ImageView view, vk::Extent2D extent) const {
  return {graphics_.device(),
          vk::FramebufferCreateInfo({}, *picture_pass_, view, extent.width, extent.height, 1)};
}

void Renderer::draw(const vk::raii::CommandBuffer& commands, const vk::raii::RenderPass& pass,
                    const vk::raii::Framebuffer& framebuffer, vk::Extent2D extent) {
  const ImVec4 background = ImGui::ColorConvertU32ToFloat4(gui_.theme()[Colour::background]);
  const vk::ClearValue clear(
      vk::ClearColorValue(std::array{background.x, background.y, background.z, 1.0F}));
  commands.beginRenderPass(
      vk::RenderPassBeginInfo(*pass, *framebuffer, vk::Rect2D({}, extent), clear),
      vk::SubpassContents::eInline);
  if (ImDrawData* data = gui_.draw_data(); data != nullptr) {
    ImGui_ImplVulkan_RenderDrawData(data, *commands);
  }
  commands.endRenderPass();
}

/// ImGui's backend keeps the texture it has when it makes another, until it is shut down.
void Renderer::upload_fonts() {
  graphics_.device().waitIdle();
  stop_imgui();
  start_imgui();
}

Picture Renderer::picture() {
  const ImDrawData* data = gui_.draw_data();
  if (data == nullptr) {
    throw_invalid_argument("A picture is one of a frame, and none was drawn.");
  }
  const vk::Extent2D extent(
      static_cast<std::uint32_t>(data->DisplaySize.x * data->FramebufferScale.x),
      static_cast<std::uint32_t>(data->DisplaySize.y * data->FramebufferScale.y));
  const vk::raii::Device& device = graphics_.device();
  const vk::raii::Image image(
      device, vk::ImageCreateInfo(
                  {}, vk::ImageType::e2D, kFormat, vk::Extent3D(extent, 1), 1, 1,
                  vk::SampleCountFlagBits::e1, vk::ImageTiling::eOptimal,
                  vk::ImageUsageFlagBits::eColorAttachment | vk::ImageUsageFlagBits::eTransferSrc));
  const vk::raii::DeviceMemory image_memory =
      graphics_.memory_for(image.getMemoryRequirements(), {});
  image.bindMemory(*image_memory, 0);
  const vk::ImageSubresourceRange whole(vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1);
  const vk::raii::ImageView view(
      device, vk::ImageViewCreateInfo({}, *image, vk::ImageViewType::e2D, kFormat, {}, whole));
  const vk::raii::Framebuffer target = framebuffer(*view, extent);

  const std::size_t bytes = std::size_t{4} * extent.width * extent.height;
  const vk::raii::Buffer buffer(
      device, vk::BufferCreateInfo({}, bytes, vk::BufferUsageFlagBits::eTransferDst));
  const vk::raii::DeviceMemory memory = graphics_.memory_for(
      buffer.getMemoryRequirements(),
      vk::MemoryPropertyFlagBits::eHostVisible | vk::MemoryPropertyFlagBits::eHostCoherent);
  buffer.bindMemory(*memory, 0);

  graphics_.run([&](const vk::raii::CommandBuffer& commands) {
    draw(commands, picture_pass_, target, extent);
    const vk::ImageSubresourceLayers layers(vk::ImageAspectFlagBits::eColor, 0, 0, 1);
    commands.copyImageToBuffer(*image, vk::ImageLayout::eTransferSrcOptimal, *buffer,
                               vk::BufferImageCopy(0, 0, 0, layers, {}, vk::Extent3D(extent, 1)));
    const vk::MemoryBarrier to_host(vk::AccessFlagBits::eTransferWrite,
                                    vk::AccessFlagBits::eHostRead);
    commands.pipelineBarrier(vk::PipelineStageFlagBits::eTransfer, vk::PipelineStageFlagBits::eHost,
                             {}, to_host, {}, {});
  });
  const auto* bgra = static_cast<const std::uint8_t*>(memory.mapMemory(0, bytes));
  Picture picture{.width = extent.width, .height = extent.height, .rgba = {}};
  picture.rgba.resize(bytes);
  for (std::size_t at = 0; at < bytes; at += 4) {
    picture.rgba[at] = bgra[at + 2];
    picture.rgba[at + 1] = bgra[at + 1];
    picture.rgba[at + 2] = bgra[at];
    picture.rgba[at + 3] = 0xFF;
  }
  memory.unmapMemory();
  return picture;
}

}  // namespace reprise::debugger
