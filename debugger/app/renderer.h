// Draws ImGui's draw data through Vulkan: into a picture, or into the image of a window. One
// renderer per Gui, whose context it uses; destroyed before the Gui.
#pragma once
#include "debugger/app/graphics_device.h"
#include "debugger/app/gui.h"
#include "debugger/app/picture.h"

namespace reprise::debugger {

class Renderer {
 public:
  /// Of pictures and windows alike, so that one pipeline draws both.
  static constexpr vk::Format kFormat = vk::Format::eB8G8R8A8Unorm;

  Renderer(Gui& gui, const GraphicsOptions& options);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  const GraphicsDevice& graphics() const { return graphics_; }
  /// After Gui::set_scale().
  void upload_fonts();
  /// The last frame of the Gui, as a picture of its size.
  Picture picture();

  // For windows.
  vk::raii::Framebuffer framebuffer(vk::ImageView view, vk::Extent2D extent) const;
  vk::raii::RenderPass render_pass_to(vk::ImageLayout layout) const;
  void draw(const vk::raii::CommandBuffer& commands, const vk::raii::RenderPass& pass,
            const vk::raii::Framebuffer& framebuffer, vk::Extent2D extent);

 private:
  void start_imgui();
  /// After the device is idle.
  void stop_imgui();

  Gui& gui_;
  GraphicsDevice graphics_;
  vk::raii::DescriptorPool descriptors_ = nullptr;
  vk::raii::RenderPass picture_pass_ = nullptr;
};

}  // namespace reprise::debugger
