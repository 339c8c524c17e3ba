#include "debugger/model/settings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include "reprise/core/error.h"
#include "reprise/core/new_file.h"

namespace reprise::debugger {
namespace {

using nlohmann::json;

constexpr float kLeastSize = 60, kMostSize = 4000;
constexpr std::size_t kMostBookmarks = 1000;
constexpr int kMaxZoom = 50;              // more steps than there are scales
constexpr int kMaxPixels = 1 << 16;       // of a screen
constexpr std::size_t kMaxFilter = 4096;  // bytes

const json* member(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? nullptr : &*found;
}

template <class T>
void read(const json& object, const char* key, T& into) {
  const json* value = member(object, key);
  if constexpr (std::is_same_v<T, bool>) {
    into = value != nullptr && value->is_boolean() ? value->get<bool>() : into;
  } else if constexpr (std::is_same_v<T, std::string>) {
    into = value != nullptr && value->is_string() ? value->get<std::string>() : into;
  } else {
    into = value != nullptr && value->is_number_integer() ? value->get<T>() : into;
  }
}

void read_size(const json& object, const char* key, float& into) {
  const json* value = member(object, key);
  if (value != nullptr && value->is_number() && std::isfinite(value->get<double>())) {
    into = std::clamp(static_cast<float>(value->get<double>()), kLeastSize, kMostSize);
  }
}

void read_layout(const json& from, Layout& layout) {
  if (const json* front = member(from, "front"); front != nullptr && front->is_array()) {
    for (std::size_t i = 0; i < std::min(front->size(), layout.front.size()); ++i) {
      if ((*front)[i].is_string()) {
        layout.front[i] = (*front)[i].get<std::string>();
      }
    }
  }
  read_size(from, "left", layout.left);
  read_size(from, "right", layout.right);
  read_size(from, "bottom", layout.bottom);
}

std::optional<std::uint32_t> number(const json& from, const char* key) {
  const json* value = member(from, key);
  return value != nullptr && value->is_number_unsigned() && *value <= UINT32_MAX
             ? std::optional(value->get<std::uint32_t>())
             : std::nullopt;
}

/// None if it cannot be the place of a window.
std::optional<WindowPlace> read_window(const json* from) {
  WindowPlace place;
  if (from == nullptr) {
    return std::nullopt;
  }
  read(*from, "x", place.x);
  read(*from, "y", place.y);
  read(*from, "width", place.width);
  read(*from, "height", place.height);
  read(*from, "maximised", place.maximised);
  const auto in = [](int value, int min) { return value >= min && value <= kMaxPixels; };
  const bool possible = in(place.x, -kMaxPixels) && in(place.y, -kMaxPixels) &&
                        in(place.width, 1) && in(place.height, 1);
  return possible ? std::optional(place) : std::nullopt;
}

std::vector<Bookmark> read_bookmarks(const json& from) {
  std::vector<Bookmark> bookmarks;
  for (const json& row : from.is_array() ? from : json::array()) {
    Bookmark bookmark;
    read(row, "run", bookmark.capture.run);
    read(row, "graph", bookmark.capture.graph);
    bookmark.place = {.node = number(row, "node"), .item = number(row, "item")};
    const bool one = bookmark.place.node.has_value() != bookmark.place.item.has_value();
    if (one && bookmarks.size() < kMostBookmarks) {
      bookmarks.push_back(bookmark);
    }
  }
  return bookmarks;
}

json to_json(const Bookmark& bookmark) {
  json row{{"run", bookmark.capture.run}, {"graph", bookmark.capture.graph}};
  if (bookmark.place.node) {
    row["node"] = *bookmark.place.node;
  } else {
    row["item"] = *bookmark.place.item;
  }
  return row;
}

}  // namespace

std::filesystem::path settings_path() {
  const auto of = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::filesystem::path() : std::filesystem::path(value);
  };
  std::filesystem::path folder = of("XDG_CONFIG_HOME");
  if (!folder.is_absolute()) {
    folder = of("HOME").empty() ? std::filesystem::path() : of("HOME") / ".config";
  }
  return folder.empty() ? folder : folder / "reprise" / "debugger.json";
}

Settings read_settings(const std::filesystem::path& path) {
  Settings settings;
  std::error_code error;
  std::ifstream in;
  if (std::filesystem::is_regular_file(path, error)) {  // a pipe would wait for a writer
    in.open(path);
  }
  const json all = json::parse(in, nullptr, false);
  read(all, "light", settings.light);
  read(all, "zoom", settings.zoom);
  settings.zoom = std::clamp(settings.zoom, -kMaxZoom, kMaxZoom);
  settings.window = read_window(member(all, "window"));
  if (const json* layouts = member(all, "layouts")) {
    for (Layout& layout : settings.layouts) {
      if (const json* saved = member(*layouts, layout.name.c_str())) {
        read_layout(*saved, layout);
      }
    }
  }
  settings.layout =
      std::min<std::size_t>(number(all, "layout").value_or(0), settings.layouts.size() - 1);
  if (const json* bookmarks = member(all, "bookmarks"); bookmarks && bookmarks->is_object()) {
    for (const auto& [database, rows] : bookmarks->items()) {
      settings.bookmarks[database] = read_bookmarks(rows);
    }
  }
  if (const json* filters = member(all, "filters"); filters && filters->is_object()) {
    for (const auto& [database, filter] : filters->items()) {
      std::string text;
      read(*filters, database.c_str(), text);
      if (!text.empty() && text.size() <= kMaxFilter) {
        settings.filters[database] = text;
      }
    }
  }
  return settings;
}

bool write_settings(const Settings& settings, const std::filesystem::path& path) {
  json all{{"light", settings.light}, {"layout", settings.layout}, {"zoom", settings.zoom}};
  if (settings.window) {
    const WindowPlace& place = *settings.window;
    all["window"] = {{"x", place.x},
                     {"y", place.y},
                     {"width", place.width},
                     {"height", place.height},
                     {"maximised", place.maximised}};
  }
  for (const auto& [database, filter] : settings.filters) {
    all["filters"][database] = filter;
  }
  for (const Layout& layout : settings.layouts) {
    all["layouts"][layout.name] = {{"front", layout.front},
                                   {"left", layout.left},
                                   {"right", layout.right},
                                   {"bottom", layout.bottom}};
  }
  for (const auto& [database, bookmarks] : settings.bookmarks) {
    for (const Bookmark& bookmark : bookmarks) {
      all["bookmarks"][database].push_back(to_json(bookmark));
    }
  }
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  try {
    NewFile file(path);
    file.stream() << all.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    file.publish();
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace reprise::debugger
