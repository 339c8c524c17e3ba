#include "debugger/model/settings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "framework/core/new_file.h"
#include "reprise/core/error.h"

namespace reprise::debugger {
namespace {

using nlohmann::json;

constexpr float kMinSize = 60, kMaxSize = 4000;
constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxBookmarks = 1000, kMaxSources = 10'000;
constexpr int kMaxZoom = 50;              // more steps than there are scales
constexpr int kMaxPixels = 1 << 16;       // of a screen
constexpr std::size_t kMaxFilter = 4096;  // bytes
constexpr std::size_t kMaxRecent = 10;

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

/// Nothing if it is no number.
std::optional<float> size_of(const json* value, float min) {
  return value != nullptr && value->is_number() && std::isfinite(value->get<double>())
             ? std::optional(
                   static_cast<float>(std::clamp<double>(value->get<double>(), min, kMaxSize)))
             : std::nullopt;
}

Place read_place(const json& from, int depth) {
  Place place;
  const json* parts = member(from, "parts");
  if (parts != nullptr && parts->is_array() && parts->size() == 2 && depth < kMaxDepth) {
    for (const json& part : *parts) {
      place.parts.push_back(read_place(part, depth + 1));
    }
    read(from, "beside", place.beside);
    bool second = false;
    read(from, "second_sized", second);
    place.sized = second ? 1 : 0;
    place.size = size_of(member(from, "size"), kMinSize).value_or(kMinSize);
    return place;
  }
  if (const json* panels = member(from, "panels"); panels != nullptr && panels->is_array()) {
    for (const json& panel : *panels) {
      place.panels.push_back(panel.is_string() ? panel.get<std::string>() : "");
    }
  }
  read(from, "front", place.front);
  return place;
}

json to_json(const Place& place) {
  if (place.parts.empty()) {
    return {{"panels", place.panels}, {"front", place.front}};
  }
  return {{"parts", {to_json(place.parts[0]), to_json(place.parts[1])}},
          {"beside", place.beside},
          {"second_sized", place.sized == 1},
          {"size", place.size}};
}

/// Over the usual ones of the same name, and after them.
void read_layouts(const json& from, std::vector<Layout>& layouts) {
  for (const json& row : from.is_array() ? from : json::array()) {
    const json* all = member(row, "all");
    Layout layout{.name = {}, .all = read_place(all == nullptr ? json() : *all, 0)};
    read(row, "name", layout.name);
    if (!is_layout_name(layout.name) || !mend(layout.all)) {
      continue;
    }
    const auto same = std::ranges::find(layouts, layout.name, &Layout::name);
    if (same != layouts.end()) {
      *same = std::move(layout);
    } else if (layouts.size() < kMaxLayouts) {
      layouts.push_back(std::move(layout));
    }
  }
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
    if (one && bookmarks.size() < kMaxBookmarks) {
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

TableArrangement read_table(const json& from) {
  TableArrangement table;
  TableOrder order;
  read(from, "sorted_by", order.column);
  read(from, "descending", order.descending);
  if (!order.column.empty()) {
    table.order = order;
  }
  if (const json* widths = member(from, "widths"); widths != nullptr && widths->is_object()) {
    for (const auto& [column, width] : widths->items()) {
      if (const auto size = size_of(&width, kMinColumnWidth)) {
        table.widths[column] = *size;
      }
    }
  }
  return table;
}

json to_json(const TableArrangement& table) {
  json row = json::object();
  if (table.order) {
    row = {{"sorted_by", table.order->column}, {"descending", table.order->descending}};
  }
  if (!table.widths.empty()) {
    row["widths"] = table.widths;
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

void Settings::remember(const std::string& database) {
  std::erase(recent, database);
  recent.insert(recent.begin(), database);
  recent.resize(std::min(recent.size(), kMaxRecent));
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
    read_layouts(*layouts, settings.layouts);
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
  if (const json* sources = member(all, "sources"); sources != nullptr && sources->is_array()) {
    for (const json& hash : *sources) {
      if (hash.is_string() && settings.sources.size() < kMaxSources) {
        settings.sources.insert(hash.get<std::string>());
      }
    }
  }
  if (const json* tables = member(all, "tables"); tables != nullptr && tables->is_object()) {
    for (const auto& [table, row] : tables->items()) {
      settings.tables[table] = read_table(row);
    }
  }
  if (const json* recent = member(all, "recent"); recent && recent->is_array()) {
    for (const json& database : *recent) {
      if (database.is_string() && settings.recent.size() < kMaxRecent) {
        settings.recent.push_back(database.get<std::string>());
      }
    }
  }
  return settings;
}

namespace {

json to_json(const Settings& settings) {
  json all{{"light", settings.light}, {"layout", settings.layout}, {"zoom", settings.zoom}};
  if (settings.window) {
    const WindowPlace& place = *settings.window;
    all["window"] = {{"x", place.x},
                     {"y", place.y},
                     {"width", place.width},
                     {"height", place.height},
                     {"maximised", place.maximised}};
  }
  if (!settings.recent.empty()) {
    all["recent"] = settings.recent;
  }
  for (const auto& [database, filter] : settings.filters) {
    all["filters"][database] = filter;
  }
  for (const Layout& layout : settings.layouts) {
    all["layouts"].push_back({{"name", layout.name}, {"all", to_json(layout.all)}});
  }
  if (!settings.sources.empty()) {
    all["sources"] = settings.sources;
  }
  for (const auto& [table, arrangement] : settings.tables) {
    all["tables"][table] = to_json(arrangement);
  }
  for (const auto& [database, bookmarks] : settings.bookmarks) {
    for (const Bookmark& bookmark : bookmarks) {
      all["bookmarks"][database].push_back(to_json(bookmark));
    }
  }
  return all;
}

/// `theirs` with what became of `base` in `ours`, member by member.
json merged(const json& base, const json& ours, const json& theirs) {
  if (ours == base) {
    return theirs;
  }
  if (!ours.is_object() || !theirs.is_object()) {
    return ours;
  }
  const json before = base.is_object() ? base : json::object();
  json all = theirs;
  for (const auto& [key, value] : before.items()) {
    if (!ours.contains(key)) {
      all.erase(key);
    }
  }
  for (const auto& [key, value] : ours.items()) {
    json kept = merged(before.value(key, json()), value, theirs.value(key, json()));
    if (!kept.is_null()) {
      all[key] = std::move(kept);
    }
  }
  return all;
}

bool write(const json& all, const std::filesystem::path& path) {
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

}  // namespace

bool write_settings(const Settings& settings, const std::filesystem::path& path) {
  return write(to_json(settings), path);
}

bool write_changes(const Settings& before, const Settings& now, const std::filesystem::path& path) {
  return write(merged(to_json(before), to_json(now), to_json(read_settings(path))), path);
}

}  // namespace reprise::debugger
