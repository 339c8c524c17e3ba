#include "bench/debugger_frames.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "debugger/app/headless_host.h"
#include "debugger/views/shell.h"

namespace reprise::bench {
namespace {

class Window {
 public:
  explicit Window(const std::filesystem::path& database) : workspace_(database, {}) {
    workspace_.settle();
    workspace_.folds.unfold_all();
    frame();
  }

  void frame() {
    host_.frame([this](debugger::Ui& ui) { shell_.draw(ui, workspace_); });
  }
  void tap(const char* key) {
    const auto press = debugger::key_press_of(key);
    host_.keys().push(*press, true);
    host_.keys().push(*press, false);
    while (host_.pending()) {
      frame();
    }
    frame();
  }
  double median_ms() {
    std::array<double, 51> times{};
    for (double& time : times) {
      const auto start = std::chrono::steady_clock::now();
      frame();
      time = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                 .count();
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

 private:
  debugger::HeadlessHost host_;
  debugger::Workspace workspace_;
  debugger::Shell shell_;
};

}  // namespace

FrameTimes measure_frames(const std::filesystem::path& database) {
  Window window(database);
  FrameTimes times;
  times.culled_ms = window.median_ms();
  window.tap("Home");
  times.in_sight_ms = window.median_ms();
  return times;
}

}  // namespace reprise::bench
