#include "debugger/app/window_host.h"

#define GLFW_INCLUDE_VULKAN  // for the functions that present
#include <GLFW/glfw3.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "debugger/app/frame_loop.h"
#include "debugger/app/renderer.h"
#include "debugger/app/swapchain.h"
#include "debugger/app/ui_scale.h"
#include "debugger/app/window_keys.h"
#include "debugger/app/window_state.h"
#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

constexpr float kDoubleClickSeconds = 0.3F;

[[noreturn]] void fail(const std::string& what) {
  const char* why = nullptr;
  glfwGetError(&why);
  throw_error(ErrorCode::unsupported, what, " (", (why == nullptr ? "no reason given" : why),
              "). Pictures need no window: see reprise-debugger shot --help.");
}

}  // namespace

struct WindowHost::State final : LoopWindow {
  struct Glfw {
    Glfw() {
      if (glfwInit() == GLFW_FALSE) {
        fail("A window needs a display");
      }
    }
    Glfw(const Glfw&) = delete;
    Glfw& operator=(const Glfw&) = delete;
    ~Glfw() { glfwTerminate(); }
  };

  struct DestroyWindow {
    void operator()(GLFWwindow* made) const { glfwDestroyWindow(made); }
  };
  struct DestroyCursor {
    void operator()(GLFWcursor* made) const { glfwDestroyCursor(made); }
  };
  using Cursor = std::unique_ptr<GLFWcursor, DestroyCursor>;

  explicit State(const WindowOptions& options)
      : fixed_scale(options.scale),
        state_file(options.state),
        window(open_window(options)),
        place(options.place.value_or(WindowPlace())),
        zoom(options.zoom),
        gui(zoom.scale(screen_scale())) {
    glfwSetWindowUserPointer(window.get(), this);
    install_callbacks();
    install_clipboard();
    GraphicsOptions graphics;
    graphics.validation = options.validation;
    graphics.presents = true;
    std::uint32_t count = 0;
    const char** extensions = glfwGetRequiredInstanceExtensions(&count);
    if (extensions == nullptr) {
      fail("Drawing in a window needs a Vulkan driver that presents");
    }
    graphics.instance_extensions.assign(extensions, extensions + count);
    graphics.can_present = [](VkInstance instance, VkPhysicalDevice device, std::uint32_t family) {
      return glfwGetPhysicalDevicePresentationSupport(instance, device, family) == GLFW_TRUE;
    };
    renderer.emplace(gui, graphics);
    const vk::raii::Instance& instance = renderer->graphics().instance();
    VkSurfaceKHR made = VK_NULL_HANDLE;
    if (glfwCreateWindowSurface(*instance, window.get(), nullptr, &made) != VK_SUCCESS) {
      fail("The window cannot be drawn into");
    }
    surface = {instance, made};
  }

  using Window = std::unique_ptr<GLFWwindow, DestroyWindow>;

  static Window open_window(const WindowOptions& options) {
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);  // until it is known what a click would hit
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "reprise-debugger");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "reprise-debugger");
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    float scale = options.scale.value_or(1);
    int width = INT_MAX, height = INT_MAX;
    if (monitor != nullptr) {
      float y_scale = 1;
      int x = 0, y = 0;
      if (!options.scale) {
        glfwGetMonitorContentScale(monitor, &scale, &y_scale);
      }
      glfwGetMonitorWorkarea(monitor, &x, &y, &width, &height);
    }
    scale = nearest_ui_scale(scale);
    Window window(glfwCreateWindow(std::min(static_cast<int>(options.width * scale), width),
                                   std::min(static_cast<int>(options.height * scale), height),
                                   options.title.c_str(), nullptr, nullptr));
    if (!window) {
      fail("No window could be opened");
    }
    const auto min = [&](int at_1x, float opened, int screen) {
      return std::min(static_cast<int>(std::min(static_cast<float>(at_1x), opened) * scale),
                      screen);
    };
    glfwSetWindowSizeLimits(window.get(), min(kMinWidth, options.width, width),
                            min(kMinHeight, options.height, height), GLFW_DONT_CARE,
                            GLFW_DONT_CARE);
    if (options.place && on_a_screen(*options.place)) {
      glfwSetWindowPos(window.get(), options.place->x, options.place->y);
      glfwSetWindowSize(window.get(), options.place->width, options.place->height);
      if (options.place->maximised) {
        glfwMaximizeWindow(window.get());
      }
    }
    return window;
  }

  /// Its upper edge, at which it can be moved, can be seen.
  static bool on_a_screen(const WindowPlace& place) {
    int count = 0;
    GLFWmonitor** const monitors = glfwGetMonitors(&count);
    return std::any_of(monitors, monitors + count, [&](GLFWmonitor* monitor) {
      int x = 0, y = 0, width = 0, height = 0;
      glfwGetMonitorWorkarea(monitor, &x, &y, &width, &height);
      return place.x < x + width && place.x + place.width > x && place.y >= y &&
             place.y < y + height;
    });
  }

  void note_place() {
    const bool maximised = glfwGetWindowAttrib(window.get(), GLFW_MAXIMIZED) == GLFW_TRUE;
    place.maximised = maximised;
    if (!maximised && !hidden()) {
      glfwGetWindowPos(window.get(), &place.x, &place.y);
      glfwGetWindowSize(window.get(), &place.width, &place.height);
    }
  }

  static State& of(GLFWwindow* window) {
    State& state = *static_cast<State*>(glfwGetWindowUserPointer(window));
    state.pacing.wake();
    return state;
  }

  void install_callbacks() {
    GLFWwindow* w = window.get();
    glfwSetKeyCallback(w, [](GLFWwindow* source, int key, int scancode, int action, int mods) {
      of(source).on_key(key, scancode, action, mods);
    });
    glfwSetCharCallback(w, [](GLFWwindow* source, unsigned int character) {
      of(source).gui.keys().push_character(character);
    });
    glfwSetCursorPosCallback(w, [](GLFWwindow* source, double x, double y) {
      State& state = of(source);
      state.gui.mouse().move(state.pixel(x, y));
    });
    glfwSetCursorEnterCallback(w, [](GLFWwindow* source, int entered) {
      if (entered == GLFW_FALSE) {
        of(source).gui.mouse().move({-FLT_MAX, -FLT_MAX});
      }
    });
    glfwSetMouseButtonCallback(w, [](GLFWwindow* source, int button, int action, int /*mods*/) {
      if (button < ImGuiMouseButton_COUNT) {
        State& state = of(source);
        state.gui.mouse().press(button, action == GLFW_PRESS);
        state.shown.inputs += action == GLFW_RELEASE ? 1 : 0;
      }
    });
    glfwSetScrollCallback(w, [](GLFWwindow* source, double x, double y) {
      State& state = of(source);
      state.gui.mouse().turn_wheel({static_cast<float>(x), static_cast<float>(y)});
      ++state.shown.inputs;
    });
    glfwSetDropCallback(w, [](GLFWwindow* source, int count, const char** paths) {
      State& state = of(source);
      state.dropped = count > 0 ? paths[count - 1] : state.dropped;
    });
    glfwSetFramebufferSizeCallback(
        w, [](GLFWwindow* source, int /*width*/, int /*height*/) { of(source).swapchain.reset(); });
    glfwSetWindowRefreshCallback(w, [](GLFWwindow* source) { of(source); });
    glfwSetWindowIconifyCallback(w, [](GLFWwindow* source, int /*iconified*/) { of(source); });
    glfwSetWindowContentScaleCallback(
        w, [](GLFWwindow* source, float /*x*/, float /*y*/) { of(source); });
  }

  void on_key(int key, int scancode, int action, int mods) {
    const bool down = action != GLFW_RELEASE;
    const auto pressed = [&](int bit, int left, int right) {
      // X11 reports the modifiers as they were before the event.
      return key == left || key == right ? down : (mods & bit) != 0;
    };
    const KeyPress press{
        .key = key_of_glfw(key, scancode),
        .ctrl = pressed(GLFW_MOD_CONTROL, GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL),
        .shift = pressed(GLFW_MOD_SHIFT, GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT),
        .alt = pressed(GLFW_MOD_ALT, GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT)};
    gui.keys().push(press, down, action == GLFW_REPEAT);
    const bool modifier = key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
    shown.inputs += down || modifier ? 0 : 1;
  }

  void install_clipboard() {
    ImGuiIO& io = ImGui::GetIO();
    io.ClipboardUserData = window.get();
    io.SetClipboardTextFn = [](void* user, const char* text) {
      glfwSetClipboardString(static_cast<GLFWwindow*>(user), text);
    };
    io.GetClipboardTextFn = [](void* user) {
      return glfwGetClipboardString(static_cast<GLFWwindow*>(user));
    };
  }

  float screen_scale() const {
    float x = 1, y = 1;
    glfwGetWindowContentScale(window.get(), &x, &y);
    return fixed_scale.value_or(x);
  }

  vk::Extent2D pixels() const {
    int width = 0, height = 0;
    glfwGetFramebufferSize(window.get(), &width, &height);
    return {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
  }

  /// Systems differ in what they say of a minimised window.
  bool hidden() const override {
    const vk::Extent2D size = pixels();
    return size.width == 0 || size.height == 0 ||
           glfwGetWindowAttrib(window.get(), GLFW_ICONIFIED) == GLFW_TRUE;
  }

  /// Where GLFW's unit is larger than a pixel, as with Wayland.
  ImVec2 pixel(double x, double y) const {
    int width = 0, height = 0;
    glfwGetWindowSize(window.get(), &width, &height);
    const vk::Extent2D size = pixels();
    return {static_cast<float>(x * size.width / std::max(width, 1)),
            static_cast<float>(y * size.height / std::max(height, 1))};
  }

  void show_cursor() {
    const std::array shapes{std::pair(ImGuiMouseCursor_TextInput, GLFW_IBEAM_CURSOR),
                            std::pair(ImGuiMouseCursor_ResizeNS, GLFW_VRESIZE_CURSOR),
                            std::pair(ImGuiMouseCursor_ResizeEW, GLFW_HRESIZE_CURSOR),
                            std::pair(ImGuiMouseCursor_Hand, GLFW_HAND_CURSOR)};
    const ImGuiMouseCursor wanted = ImGui::GetMouseCursor();
    if (wanted == shown_cursor) {
      return;
    }
    shown_cursor = wanted;
    const auto* const shape =
        std::ranges::find(shapes, wanted, &std::pair<ImGuiMouseCursor_, int>::first);
    Cursor next(shape == shapes.end() ? nullptr : glfwCreateStandardCursor(shape->second));
    glfwSetCursor(window.get(), next.get());
    cursor = std::move(next);
  }

  void take_requests(const View& view) {
    const HostRequests requests = view.take_requests();
    if (requests.zoom) {
      *requests.zoom == 0  ? zoom.reset()
      : *requests.zoom > 0 ? zoom.in(screen_scale())
                           : zoom.out(screen_scale());
      pacing.wake();
    }
    if (requests.close) {
      glfwSetWindowShouldClose(window.get(), GLFW_TRUE);
    }
    if (std::string wanted = view.title(); !wanted.empty() && wanted != title) {
      title = std::move(wanted);
      glfwSetWindowTitle(window.get(), title.c_str());
    }
  }

  bool draw(const View& view) override {
    const vk::Extent2D size = pixels();
    if (const float scale = zoom.scale(screen_scale()); scale != gui.scale()) {
      gui.set_scale(scale);
      renderer->upload_fonts();
    }
    gui.make_current();
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(size.width), static_cast<float>(size.height)};
    const double time = glfwGetTime();
    io.DeltaTime = std::max(static_cast<float>(time - last_time), 1e-4F);
    last_time = time;
    if (!dropped.empty()) {
      view.open_file(std::exchange(dropped, {}));
    }
    gui.set_theme(view.theme());
    gui.frame(view.draw);
    take_requests(view);
    ++shown.frames;
    shown.width = size.width;
    shown.height = size.height;
    shown.scale = gui.scale();
    show_cursor();
    if (!visible) {
      visible = true;
      glfwShowWindow(window.get());
    }
    if (!swapchain) {
      swapchain.emplace(*renderer, surface, size);
    }
    if (const Presented presented = swapchain->present(); presented != Presented::shown) {
      pacing.wake();
      if (presented == Presented::outdated) {
        swapchain.reset();
      }
    }
    view.drawn({[this] { return renderer->picture(); },
                [this](const Box& box, const auto& path) { gui.write_svg(box, path); }});
    return gui.pending();
  }

  bool closed() const override { return glfwWindowShouldClose(window.get()) == GLFW_TRUE; }

  void wait_for_input(double seconds) override {
    tell_state(seconds >= FramePacing::kIdleSeconds);
    // Both presses of a double click and the release in between take a frame each: a person who
    // was quick does not answer for slow ones.
    const auto drawing = static_cast<float>(glfwGetTime() - woken);
    ImGui::GetIO().MouseDoubleClickTime = std::max(kDoubleClickSeconds, 4 * drawing);
    seconds > 0 ? glfwWaitEventsTimeout(seconds) : glfwPollEvents();
    woken = glfwGetTime();
  }

  /// Where somebody wants to know, if it is another one.
  void tell_state(bool still) {
    if (state_file.empty() || (told == shown.frames && still == shown.still)) {
      return;
    }
    told = shown.frames;
    shown.still = still;
    write_window_state(shown, gui.registry(), state_file);
  }

  Glfw glfw;
  std::optional<float> fixed_scale;
  std::filesystem::path state_file;
  WindowState shown;
  std::uint64_t told = 0;  // the frames of the state that was written last
  Window window;
  WindowPlace place;  // where it was before it was maximised or minimised
  Zoom zoom;
  Gui gui;
  std::optional<Renderer> renderer;
  vk::raii::SurfaceKHR surface = nullptr;
  std::optional<Swapchain> swapchain;
  Cursor cursor;
  ImGuiMouseCursor shown_cursor = ImGuiMouseCursor_Arrow;
  bool visible = false;
  std::string title;
  std::filesystem::path dropped;  // a file, since the last frame
  FramePacing pacing;
  double last_time = 0;
  double woken = 0;  // when the last wait for input ended
};

WindowHost::WindowHost(const WindowOptions& options) : state_(std::make_unique<State>(options)) {}

WindowHost::~WindowHost() = default;

void WindowHost::run(const View& view) { run_frames(*state_, state_->pacing, view); }

void WindowHost::close() { glfwSetWindowShouldClose(state_->window.get(), GLFW_TRUE); }

int WindowHost::zoom() const { return state_->zoom.steps(); }

WindowPlace WindowHost::place() const {
  state_->note_place();
  return state_->place;
}

const WidgetRegistry& WindowHost::registry() const { return state_->gui.registry(); }

std::shared_ptr<const ValidationLog> WindowHost::validation_log() const {
  return state_->renderer->graphics().log();
}

}  // namespace reprise::debugger
