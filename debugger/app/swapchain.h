// The images of a window.
#pragma once
#include "debugger/app/renderer.h"

namespace reprise::debugger {

enum class Presented : std::uint8_t {
  shown,
  later,    // the window takes no image, perhaps because it is not seen
  outdated  // the window has changed, or has no area, and needs another swapchain
};

class Swapchain {
 public:
  /// Throws Error(unsupported) if the window cannot show what the renderer draws.
  Swapchain(Renderer& renderer, const vk::raii::SurfaceKHR& surface, vk::Extent2D size);
  ~Swapchain();
  Swapchain(const Swapchain&) = delete;
  Swapchain& operator=(const Swapchain&) = delete;

  /// Draws the last frame of the Gui. Waits for an image of the window, but not for long.
  Presented present();

 private:
  struct Image {
    vk::raii::ImageView view;
    vk::raii::Framebuffer framebuffer;
    vk::raii::Semaphore drawn;
  };

  Renderer& renderer_;
  vk::Extent2D size_;
  vk::raii::SwapchainKHR swapchain_ = nullptr;
  vk::raii::RenderPass pass_;
  std::vector<Image> images_;
  vk::raii::CommandBuffer commands_;
  vk::raii::Semaphore acquired_;
  vk::raii::Fence done_;
};

}  // namespace reprise::debugger
