#include "debugger/app/window_state.h"

#include <nlohmann/json.hpp>

#include "framework/core/new_file.h"

namespace reprise::debugger {

void write_window_state(const WindowState& state, const WidgetRegistry& drawn,
                        const std::filesystem::path& file) {
  using nlohmann::json;
  json all{{"frames", state.frames},  {"inputs", state.inputs}, {"still", state.still},
           {"width", state.width},    {"height", state.height}, {"scale", state.scale},
           {"values", drawn.values()}};
  for (const Overflow& overflow : drawn.overflows()) {
    all["overflows"].push_back(overflow.path + " (" + overflow.text + ")");
  }
  json& widgets = all["widgets"] = json::object();
  for (const auto& [path, widget] : drawn.widgets()) {
    const Rect& box = widget.visible;
    widgets[path] = {{"box", {box.min_x, box.min_y, box.max_x, box.max_y}},
                     {"text", widget.text},
                     {"state", widget.state}};
  }
  NewFile out(file);
  out.stream() << all.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  out.publish();
}

}  // namespace reprise::debugger
