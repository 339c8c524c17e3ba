// The images of a window.
#pragma once
#include "debugger/app/renderer.h"

namespace reprise::debugger {

class Swapchain {
 public:
  /// Throws Error(unsupported) if the window cannot show what the renderer draws.
  Swapchain(Renderer& renderer, const vk::raii::SurfaceKHR& surface, vk::Extent2D size);
  ~Swapchain();
  Swapchain(const Swapchain&) = delete;
  Swapchain& operator=(const Swapchain&) = delete;

  vk::Extent2D size() const { return size_; }
  /// Draws the last frame of the Gui; false if the window has changed and needs another swapchain.
  bool present();

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
