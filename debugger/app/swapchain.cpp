#include "debugger/app/swapchain.h"

#include <algorithm>

#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

constexpr std::uint64_t kAcquireNs = 100'000'000;  // a window that is not seen can still be closed

void require_format(const vk::raii::PhysicalDevice& device, const vk::raii::SurfaceKHR& surface) {
  const std::vector<vk::SurfaceFormatKHR> formats = device.getSurfaceFormatsKHR(*surface);
  std::string names;
  for (const vk::SurfaceFormatKHR& format : formats) {
    if (format.format == Renderer::kFormat &&
        format.colorSpace == vk::ColorSpaceKHR::eSrgbNonlinear) {
      return;
    }
    names += (names.empty() ? "" : ", ") + vk::to_string(format.format);
  }
  throw_error(ErrorCode::unsupported, "The window shows no images of the format (",
              vk::to_string(Renderer::kFormat), "), only of (", names, ").");
}

}  // namespace

Swapchain::Swapchain(Renderer& renderer, const vk::raii::SurfaceKHR& surface, vk::Extent2D size)
    : renderer_(renderer),
      size_(size),
      pass_(renderer.render_pass_to(vk::ImageLayout::ePresentSrcKHR)),
      commands_(renderer.graphics().new_command_buffer()),
      acquired_(renderer.graphics().device(), vk::SemaphoreCreateInfo()),
      done_(renderer.graphics().device(), vk::FenceCreateInfo(vk::FenceCreateFlagBits::eSignaled)) {
  const GraphicsDevice& graphics = renderer.graphics();
  require_format(graphics.physical(), surface);
  const vk::SurfaceCapabilitiesKHR can = graphics.physical().getSurfaceCapabilitiesKHR(*surface);
  if (can.currentExtent.width != UINT32_MAX) {
    size_ = can.currentExtent;
  }
  if (size_.width == 0 || size_.height == 0) {
    return;
  }
  const std::uint32_t max = can.maxImageCount == 0 ? UINT32_MAX : can.maxImageCount;
  const auto alpha = can.supportedCompositeAlpha & vk::CompositeAlphaFlagBitsKHR::eOpaque
                         ? vk::CompositeAlphaFlagBitsKHR::eOpaque
                         : vk::CompositeAlphaFlagBitsKHR::eInherit;
  swapchain_ = {graphics.device(),
                vk::SwapchainCreateInfoKHR({}, *surface, std::min(can.minImageCount + 1, max),
                                           Renderer::kFormat, vk::ColorSpaceKHR::eSrgbNonlinear,
                                           size_, 1, vk::ImageUsageFlagBits::eColorAttachment,
                                           vk::SharingMode::eExclusive, {}, can.currentTransform,
                                           alpha, vk::PresentModeKHR::eFifo, VK_TRUE)};
  for (const VkImage image : swapchain_.getImages()) {
    const vk::ImageSubresourceRange whole(vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1);
    vk::raii::ImageView view(
        graphics.device(),
        vk::ImageViewCreateInfo({}, image, vk::ImageViewType::e2D, Renderer::kFormat, {}, whole));
    vk::raii::Framebuffer framebuffer = renderer.framebuffer(*view, size_);
    images_.push_back({std::move(view), std::move(framebuffer),
                       vk::raii::Semaphore(graphics.device(), vk::SemaphoreCreateInfo())});
  }
}

Swapchain::~Swapchain() { vkDeviceWaitIdle(*renderer_.graphics().device()); }

Presented Swapchain::present() try {
  if (images_.empty()) {
    return Presented::outdated;
  }
  const GraphicsDevice& graphics = renderer_.graphics();
  (void)graphics.device().waitForFences(*done_, VK_TRUE, UINT64_MAX);
  const auto [acquired, index] = swapchain_.acquireNextImage(kAcquireNs, *acquired_);
  if (acquired == vk::Result::eTimeout) {
    return Presented::later;
  }
  const Image& image = images_[index];
  graphics.device().resetFences(*done_);
  commands_.reset();
  commands_.begin({vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
  renderer_.draw(commands_, pass_, image.framebuffer, size_);
  commands_.end();
  const vk::PipelineStageFlags stage = vk::PipelineStageFlagBits::eColorAttachmentOutput;
  graphics.queue().submit(vk::SubmitInfo(*acquired_, stage, *commands_, *image.drawn), *done_);
  (void)graphics.queue().presentKHR(vk::PresentInfoKHR(*image.drawn, *swapchain_, index));
  return Presented::shown;  // suboptimal images show well enough
} catch (const vk::OutOfDateKHRError&) {
  return Presented::outdated;
}

}  // namespace reprise::debugger
