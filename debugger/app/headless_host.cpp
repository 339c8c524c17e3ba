#include "debugger/app/headless_host.h"

namespace reprise::debugger {

HeadlessHost::HeadlessHost(const HeadlessOptions& options)
    : options_(options), gui_(options.scale) {
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = 1.0F / 60.0F;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // as with the renderer
}

void HeadlessHost::frame(const DrawUi& draw) {
  gui_.make_current();
  ImGui::GetIO().DisplaySize = {static_cast<float>(options_.width),
                                static_cast<float>(options_.height)};
  gui_.frame(draw);
}

Picture HeadlessHost::picture() {
  if (!renderer_) {
    renderer_.emplace(gui_, GraphicsOptions{.validation = options_.validation,
                                            .presents = false,
                                            .instance_extensions = {},
                                            .can_present = {}});
  }
  return renderer_->picture();
}

FramePictures HeadlessHost::pictures() {
  return {[this] { return picture(); },
          [this](const Box& box, const auto& path) { gui_.write_svg(box, path); }};
}

std::vector<std::string> HeadlessHost::validation_messages() const {
  return renderer_ ? renderer_->graphics().log()->messages() : std::vector<std::string>();
}

}  // namespace reprise::debugger
