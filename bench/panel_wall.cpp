#include "bench/panel_wall.h"

#include <stdexcept>

#include "debugger/app/script_runner.h"

namespace reprise::bench {
namespace {

using debugger::Box;

constexpr std::uint32_t kWidth = 3840, kHeight = 2160;
constexpr float kStrip = 56;
constexpr std::size_t kColumns = 5;

/// Of the panel at a place of Shell::panels(), which begin with the replay strip.
Box box_of(std::size_t place, std::size_t count) {
  if (place == 0) {
    return {{0, 0}, {kWidth, kStrip}};
  }
  const std::size_t lines = (count - 1 + kColumns - 1) / kColumns;
  const float width = static_cast<float>(kWidth) / kColumns;
  const float height = (kHeight - kStrip) / static_cast<float>(lines);
  const float left = width * static_cast<float>((place - 1) % kColumns);
  const float top = kStrip + height * static_cast<float>((place - 1) / kColumns);
  return {{left, top}, {left + width, top + height}};
}

}  // namespace

PanelWall::PanelWall(const std::filesystem::path& database)
    : host_({.width = kWidth, .height = kHeight}), workspace_(database, {database.parent_path()}) {
  view_.draw = [this](debugger::Ui& ui) { draw(ui); };
  view_.poll = [this] { return workspace_.poll(); };
  view_.settle = [this] { workspace_.settle(); };
  run("wait");
  workspace_.select_node(
      static_cast<std::uint32_t>(workspace_.document.capture()->nodes.size() / 2));
  run("type sql/editor SELECT idx AS node, op, scope, level FROM nodes\nkey Ctrl+Enter\n"
      "click sql/charted\nhover replays/cells\nwait");
  require_contents();
}

void PanelWall::run(const std::string& script) {
  debugger::ScriptRunner(host_, view_).run(debugger::parse_script(script));
}

void PanelWall::draw(debugger::Ui& ui) {
  const std::vector<debugger::Panel*> all = shell_.panels();
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (!only_ || *only_ == all[p]) {
      const Box box = box_of(p, all.size());
      ui.fill(box, ui.colour(debugger::Colour::panel));
      draw_panel(ui, workspace_, *all[p], box);
      take_keys(ui, all[p]->actions(workspace_));
    }
  }
}

void PanelWall::require_contents() const {
  for (const auto& [path, widget] : host_.registry().widgets()) {
    if (path.ends_with("/empty/what")) {
      throw std::runtime_error("The synthetic capture fills not every panel: " + path + " says '" +
                               widget.text + "'");
    }
  }
}

}  // namespace reprise::bench
