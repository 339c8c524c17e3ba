#include "bench/debugger_panels.h"

#include <ctime>
#include <memory>
#include <string>

#include "bench/clock.h"
#include "bench/panel_wall.h"
#include "bench/samples.h"

namespace reprise::bench {
namespace {

constexpr int kFrames = 3;  // of a round

double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

void measure_frames(PanelWall& wall, const std::string& name, Samples& samples) {
  wall.frame();  // what was not drawn in the frame before is placed anew
  wall.frame();
  for (int i = 0; i < kFrames; ++i) {
    const double start = thread_cpu_ms();
    wall.frame();
    samples.add(name, thread_cpu_ms() - start);
  }
}

nlohmann::ordered_json measure_all(PanelWall& wall, int rounds) {
  Samples samples;
  for (int round = 0; round < rounds; ++round) {
    wall.show_none();
    measure_frames(wall, "none", samples);
    wall.show_all();
    measure_frames(wall, "all", samples);
    for (debugger::Panel* const panel : wall.panels()) {
      wall.show(panel);
      measure_frames(wall, std::string(panel->id()), samples);
    }
  }
  wall.show_all();
  nlohmann::ordered_json json{{"none", samples.median("none")}, {"all", samples.median("all")}};
  for (const debugger::Panel* const panel : wall.panels()) {
    json[std::string(panel->id())] = samples.median(std::string(panel->id()));
  }
  return json;
}

}  // namespace

nlohmann::ordered_json measure_panels(const std::filesystem::path& database, int rounds) {
  const double start = now_us();
  PanelWall wall(database);
  nlohmann::ordered_json json{{"open_ms", (now_us() - start) / 1e3}};
  json["folded"] = measure_all(wall, rounds);
  wall.workspace().folds.unfold_all();
  wall.run("wait");
  json["unfolded"] = measure_all(wall, rounds);
  wall.run("click graph/frame_all");
  json["in_sight"] = measure_all(wall, rounds);
  return json;
}

}  // namespace reprise::bench
