#include "debugger/views/memory_panel.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "debugger/model/format.h"
#include "debugger/model/timeline.h"
#include "debugger/ui/rows.h"
#include "debugger/views/move_actions.h"
#include "debugger/views/selection_actions.h"

namespace reprise::debugger {
namespace {

// Heights and widths at 1x.
constexpr float kLabels = 76, kTitle = 26, kAxis = 20, kLive = 44, kGap = 4;
constexpr float kNamed = 4;  // a box at least so wide and high can be pointed at by its path
constexpr double kTickDistance = 110, kByteTickDistance = 34;
constexpr std::size_t kMaxNames = 4;  // in what is told of a box
constexpr float kList = 400,
                kRoomy = 1000;  // the list of what lives at the peak, and a panel with room for it

constexpr std::size_t kNameColumn = 0, kSizeColumn = 1;
const std::vector<TableColumn>& peak_columns() {
  static const std::vector<TableColumn> kColumns = {
      {"name", "Tensor", 0, Align::left, FontKind::regular, false},
      {"size", "Size", 92, Align::right, FontKind::mono, false},
      {"role", "Role", 84, Align::left, FontKind::regular, false}};
  return kColumns;
}

struct RoleColour {
  std::string_view role;
  Colour colour;
};
constexpr RoleColour kRoles[] = {{"activation", Colour::product}, {"input", Colour::ok},
                                 {"output", Colour::attention},   {"scratch", Colour::movement},
                                 {"handle", Colour::sampling},    {"state", Colour::norm}};

Colour colour_of_role(std::string_view role) {
  const auto* const known = std::find_if(std::begin(kRoles), std::end(kRoles),
                                         [&](const RoleColour& r) { return r.role == role; });
  return known == std::end(kRoles) ? Colour::elementwise : known->colour;
}

/// The least power of two that is not less.
double byte_step(double min) { return std::exp2(std::ceil(std::log2(std::max(min, 1.0)))); }

std::string tensor_name(const Capture& capture, std::uint32_t tensor) {
  const std::string& name = capture.tensors[tensor].name;
  return name.empty() ? "tensor " + std::to_string(tensor) : name;
}

/// Where it fits as a whole: a part of a name is no name.
void draw_name(Ui& ui, const Box& box, std::string_view name, bool bright) {
  if (box.width() < ui.px(24) || box.height() < ui.px(19) ||
      ui.text_size(name).x > box.width() - ui.px(8)) {
    return;
  }
  const float middle = (box.min.y + box.max.y) / 2, half = ui.px(9);
  ui.text_in("", {{box.min.x + ui.px(5), middle - half}, {box.max.x, middle + half}}, name,
             {.colour = bright ? Colour::background : Colour::text});
}

Box below(const Box& all, float& y, float height, float gap) {
  const Box box{{all.min.x, y}, {all.max.x, y + height}};
  y += height + gap;
  return box;
}

std::string summary_of(const Capture& capture, const MemoryMap& map) {
  const auto tensors = static_cast<std::size_t>(
      std::count_if(map.storage_of.begin(), map.storage_of.end(),
                    [](const auto& storage) { return storage.has_value(); }));
  std::string text = "Arena " + bytes_text(map.bytes) + ", live peak " +
                     bytes_text(capture.live_peak_bytes) + ", without reuse " +
                     bytes_text(capture.unshared_bytes);
  if (map.bytes > 0) {
    text += fmt::format(" ({:.1f} times as much)", static_cast<double>(capture.unshared_bytes) /
                                                       static_cast<double>(map.bytes));
  }
  text += "; " + count_text(tensors) + " tensors in " + count_text(map.storages.size()) + " places";
  return text + (map.left_out == 0 ? ""
                                   : ", " + count_text(map.left_out) +
                                         " left out: their place or steps make no sense");
}

}  // namespace

void MemoryPanel::refresh(const Workspace& workspace) {
  if (capture_ == workspace.document.capture()) {
    return;
  }
  capture_ = workspace.document.capture();
  map_ = make_memory_map(*capture_);
  at_.reset();
  picked_.reset();
  peak_ =
      map_.live.empty() ? std::vector<LiveTensor>() : live_tensors(*capture_, map_, map_.peak_step);
  boxed_ = {};
  boxes_.clear();
  summary_ = summary_of(*capture_, map_);
  steps_.show_all();
  bytes_.show_all();
  colours_.clear();
  for (const MemoryStorage& storage : map_.storages) {
    colours_.push_back(colour_of_role(role_of(*capture_, storage)));
  }
  roles_.clear();
  for (const RoleColour& known : kRoles) {
    const auto has = [&](const auto& storage) { return role_of(*capture_, storage) == known.role; };
    if (std::any_of(map_.storages.begin(), map_.storages.end(), has)) {
      roles_.push_back(known.role);
    }
  }
}

MemoryPanel::Parts MemoryPanel::parts_of(const Ui& ui, const Box& all) {
  const float gap = ui.px(kGap);
  float y = all.min.y;
  Parts parts;
  parts.title = below(all, y, ui.px(kTitle), 0);
  const Box lanes{{all.min.x + ui.px(kLabels), y}, {all.max.x - ui.px(8), all.max.y - gap}};
  parts.axis = below(lanes, y, ui.px(kAxis), gap);
  parts.live = below(lanes, y, ui.px(kLive), gap);
  parts.map = {{lanes.min.x, y}, {lanes.max.x, std::max(lanes.max.y, y + ui.px(20))}};
  return parts;
}

MemoryView MemoryPanel::view_of(const Box& map) const {
  const auto steps = static_cast<double>(map_.live.size());
  const double bytes = std::max(static_cast<double>(map_.bytes), 1.0);
  const float width = std::max(map.width(), 1.0F), height = std::max(map.height(), 1.0F);
  return {.first_step = steps_.begin() * steps,
          .steps_per_pixel = steps_.length() * steps / static_cast<double>(width),
          .first_byte = bytes_.begin() * bytes,
          .bytes_per_pixel = bytes_.length() * bytes / static_cast<double>(height),
          .width = width,
          .height = height};
}

void MemoryPanel::draw(Ui& ui, Workspace& workspace) {
  refresh(workspace);
  if (!map_.pool || map_.live.empty()) {
    draw_empty_state(ui, "The capture has no plan of an arena.", "");
    return;
  }
  if (map_.storages.empty()) {
    draw_empty_state(ui, "Nothing of this graph lives in the arena.", "");
    return;
  }
  Box all = ui.rest();
  if (all.width() >= ui.px(kRoomy)) {
    all.max.x -= ui.px(kList);
    draw_peak_list(ui, workspace, {{all.max.x + ui.px(8), all.min.y}, ui.rest().max});
  }
  const Parts parts = parts_of(ui, all);
  draw_title(ui, parts.title);
  const MemoryView view = view_of(parts.map);
  const Box lanes{parts.axis.min, parts.map.max};
  Hit mouse = ui.hit("map", lanes);
  const auto canvas = ui.canvas({{parts.title.min.x, lanes.min.y}, lanes.max});
  draw_axes(ui, parts, view);
  draw_live(ui, workspace, parts, view, mouse);
  draw_boxes(ui, workspace, parts.map, view, mouse);
  handle_mouse(parts, mouse);
  draw_context_menu(ui, std::exchange(menu_, false), [&] { return selection_menu(workspace); });
}

float MemoryPanel::draw_legend(Ui& ui, const Box& box) const {
  float right = box.max.x;
  for (auto role = roles_.rbegin(); role != roles_.rend(); ++role) {
    const float left = right - ui.text_size(*role).x - ui.px(1);
    const float middle = (box.min.y + box.max.y) / 2, half = ui.px(5);
    ui.text_in("", {{left, box.min.y}, {right, box.max.y}}, *role, {.colour = Colour::dim});
    ui.fill({{left - ui.px(16), middle - half}, {left - ui.px(6), middle + half}},
            ui.colour(colour_of_role(*role)), ui.px(2));
    right = left - ui.px(26);
  }
  return right;
}

void MemoryPanel::draw_title(Ui& ui, const Box& box) {
  const float pad = ui.px(8), button = ui.text_size("by size").x + ui.px(17);
  const float left = box.max.x - pad - button;
  ImGui::SetCursorScreenPos({left, box.min.y + ui.px(2)});
  ui.toggle("by_size", "by size", by_size_);
  const Box rest{{box.min.x + pad, box.min.y}, {left - ui.px(12), box.max.y}};
  // Where there is little room the numbers matter more than the legend.
  const bool roomy = rest.width() > ui.px(900);
  float right = rest.max.x;
  if (roomy && !by_size_) {
    right = draw_legend(ui, rest);
  } else if (roomy) {
    const std::string text = "coloured from 0 B to " + bytes_text(map_.greatest_bytes);
    ui.text_in("scale", {{right - ui.text_size(text).x - ui.px(1), box.min.y}, rest.max}, text,
               {.colour = Colour::dim});
    right -= ui.text_size(text).x + ui.px(12);
  }
  ui.text_in("summary", {rest.min, {right, rest.max.y}}, summary_, {.colour = Colour::dim});
}

void MemoryPanel::draw_axes(Ui& ui, const Parts& parts, const MemoryView& view) const {
  const auto scale = static_cast<double>(ui.scale());
  const double step = std::max(tick_step(view.steps_per_pixel * kTickDistance * scale), 1.0);
  const double end = view.first_step + view.steps_per_pixel * static_cast<double>(view.width);
  for (double tick = std::ceil(view.first_step / step) * step; tick <= end; tick += step) {
    const float x = std::floor(parts.map.min.x +
                               static_cast<float>((tick - view.first_step) / view.steps_per_pixel));
    ui.fill({{x, parts.axis.min.y + ui.px(4)}, {x + 1, parts.map.max.y}},
            ui.colour(Colour::separator));
    const std::string text = "step " + count_text(static_cast<std::uint64_t>(tick));
    const float right = x + ui.px(5) + ui.text_size(text, FontKind::mono).x;
    if (right <= parts.axis.max.x) {
      ui.text_in("", {{x + ui.px(4), parts.axis.min.y}, {right, parts.axis.max.y}}, text,
                 {.font = FontKind::mono, .colour = Colour::dim});
    }
  }
  const double last = view.first_byte + view.bytes_per_pixel * static_cast<double>(view.height);
  const double byte = byte_step(view.bytes_per_pixel * kByteTickDistance * scale);
  const float half = ui.px(9);
  for (double tick = std::ceil(view.first_byte / byte) * byte; tick <= last; tick += byte) {
    const float y = std::floor(parts.map.max.y -
                               static_cast<float>((tick - view.first_byte) / view.bytes_per_pixel));
    ui.fill({{parts.map.min.x - ui.px(4), y}, {parts.map.max.x, y + 1}},
            ui.colour(Colour::separator));
    const float middle = std::clamp(y, parts.map.min.y + half, parts.map.max.y - half);
    ui.text_in("",
               {{parts.title.min.x + ui.px(4), middle - half},
                {parts.map.min.x - ui.px(6), middle + half}},
               bytes_text(static_cast<std::uint64_t>(tick)),
               {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
  }
  ui.publish("view", fmt::format("steps {:.2f} to {:.2f}, bytes {:.0f} to {:.0f}", view.first_step,
                                 end, view.first_byte, last));
}

void MemoryPanel::select_step(Workspace& workspace, std::uint32_t step) const {
  if (capture_->steps[step].node) {
    workspace.select_node(*capture_->steps[step].node);
  }
}

void MemoryPanel::draw_live(Ui& ui, Workspace& workspace, const Parts& parts,
                            const MemoryView& view, Hit& mouse) {
  const Box& lane = parts.live;
  const float middle = (lane.min.y + lane.max.y) / 2, half = ui.px(10);
  ui.text_in(
      "", {{parts.title.min.x + ui.px(8), middle - half}, {lane.min.x - ui.px(4), middle + half}},
      "In use", {.colour = Colour::dim});
  ui.fill(lane, ui.colour(Colour::header));
  const Hit hit = ui.hit("live", lane);
  mouse.join(hit);
  const std::vector<std::uint64_t> columns = live_columns(
      map_, view.first_step, view.steps_per_pixel, static_cast<std::size_t>(view.width));
  // The whole lane is the arena.
  const auto whole = static_cast<double>(std::max({map_.bytes, map_.peak_bytes, std::uint64_t{1}}));
  for (std::size_t first = 0, end = 0; first < columns.size(); first = end) {
    while (end < columns.size() && columns[end] == columns[first]) {
      ++end;
    }
    const float height =
        static_cast<float>(static_cast<double>(columns[first]) / whole) * lane.height();
    ui.fill({{lane.min.x + static_cast<float>(first), lane.max.y - height},
             {lane.min.x + static_cast<float>(end), lane.max.y}},
            ui.colour(Colour::norm, 0.6F));
  }
  if (hit.hovered || hit.clicked) {
    const double at = view.first_step + static_cast<double>(ImGui::GetMousePos().x - lane.min.x) *
                                            view.steps_per_pixel;
    const auto step =
        static_cast<std::uint32_t>(std::clamp(at, 0.0, static_cast<double>(map_.live.size() - 1)));
    ui.tooltip(describe_step(step) + "\n" + bytes_text(map_.live[step]) + " of " +
               bytes_text(map_.bytes) + " in use");
    if (hit.clicked) {
      select_step(workspace, step);
    }
  }
  draw_peak(ui, workspace, lane, view, mouse);
}

void MemoryPanel::draw_peak(Ui& ui, Workspace& workspace, const Box& lane, const MemoryView& view,
                            Hit& mouse) {
  const float x = lane.min.x + static_cast<float>((map_.peak_step + 0.5 - view.first_step) /
                                                  view.steps_per_pixel);
  if (x < lane.min.x || x >= lane.max.x) {
    return;
  }
  const std::string text = bytes_text(map_.peak_bytes) + " at step " + count_text(map_.peak_step);
  const float width = ui.text_size(text, FontKind::mono).x + ui.px(12);
  const float left = std::clamp(x, lane.min.x, std::max(lane.max.x - width, lane.min.x));
  const Box box{{left, lane.min.y}, {left + width, lane.min.y + ui.px(18)}};
  const Hit hit = ui.hit("peak", box, text);
  mouse.join(hit);
  ui.fill({{x - ui.px(0.5F), lane.min.y}, {x + ui.px(0.5F) + 1, lane.max.y}},
          ui.colour(Colour::warning));
  ui.fill(box, ui.colour(hit.hovered ? Colour::raised : Colour::header, 0.85F));
  ui.text_in("", {{box.min.x + ui.px(6), box.min.y}, box.max}, text,
             {.font = FontKind::mono, .colour = Colour::warning, .elide = false});
  if (hit.hovered) {
    ui.tooltip("The most bytes in use\n" + describe_step(map_.peak_step) +
               "\nA click selects what lives then");
  }
  if (hit.clicked) {
    select_live(workspace, peak_);
  }
}

void MemoryPanel::draw_peak_list(Ui& ui, Workspace& workspace, const Box& box) {
  std::uint64_t outside = 0;
  for (const LiveTensor& live : peak_) {
    outside += live.storage ? 0 : live.bytes;
  }
  const float title = box.min.y + ui.px(kTitle);
  const std::string text = "At the peak: " + bytes_text(map_.peak_bytes) + " of the arena, " +
                           bytes_text(outside) + " beside it";
  if (link(ui, "peak_title", {box.min, {box.max.x, title}}, text)) {
    select_live(workspace, peak_);
  }
  const TableRows rows{
      .count = peak_.size(),
      .id = [&](std::size_t row) { return peak_[row].tensor; },
      .cell =
          [&](std::size_t row, std::size_t column) {
            const LiveTensor& live = peak_[row];
            return column == kNameColumn
                       ? TableCell{.text = tensor_name(*capture_, live.tensor),
                                   .mark = live.storage ? std::optional(colours_[*live.storage])
                                                        : std::nullopt}
                   : column == kSizeColumn ? number_cell(bytes_text(live.bytes))
                                           : TableCell{.text = live.role, .colour = Colour::dim};
          },
      .selected =
          [&](std::size_t row) {
            return picked_ && picked_->revision == workspace.selection.revision() &&
                   std::ranges::find(picked_->tensors, peak_[row].tensor) != picked_->tensors.end();
          }};
  ImGui::SetCursorScreenPos({box.min.x, title});
  const TableEvents events = draw_table(ui, "peak_list", peak_columns(), rows, peak_table_,
                                        {box.width(), box.max.y - title});
  if (const auto row = events.clicked ? events.clicked : events.right_clicked) {
    select_live(workspace, std::span(peak_).subspan(*row, 1));
  }
  menu_ = menu_ || events.right_clicked;
}

void MemoryPanel::select_live(Workspace& workspace, std::span<const LiveTensor> live) {
  workspace.select_nodes(nodes_of(*capture_, map_, live));
  picked_ = Picked{workspace.selection.revision(), {}, {}};
  for (const LiveTensor& of : live) {
    picked_->tensors.push_back(of.tensor);
    if (of.storage) {
      picked_->storages.push_back(*of.storage);
    }
  }
  std::ranges::sort(picked_->storages);
}

ImU32 MemoryPanel::colour_of(const Ui& ui, std::uint32_t storage, float alpha) const {
  if (!by_size_) {
    return ui.colour(colours_[storage], alpha);
  }
  const ImU32 heat = heat_colour(
      ui.theme(), static_cast<double>(map_.storages[storage].bytes) /
                      static_cast<double>(std::max<std::uint64_t>(map_.greatest_bytes, 1)));
  return (heat & ~IM_COL32_A_MASK) | static_cast<ImU32>(std::lround(alpha * 255))
                                         << IM_COL32_A_SHIFT;
}

std::vector<std::uint32_t> MemoryPanel::selected_storages(const SelectionHistory& history) const {
  if (picked_ && picked_->revision == history.revision()) {
    return picked_->storages;
  }
  const Selection& selection = history.current();
  std::vector<std::uint32_t> nodes = selection.nodes;
  if (selection.node) {
    nodes.push_back(*selection.node);
  }
  std::vector<std::uint32_t> found;
  for (const std::uint32_t node : nodes) {
    const auto of_node = storages_of_node(*capture_, map_, node);
    found.insert(found.end(), of_node.begin(), of_node.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void MemoryPanel::draw_boxes(Ui& ui, Workspace& workspace, const Box& map, const MemoryView& view,
                             Hit& mouse) {
  const std::vector<std::uint32_t> marked = selected_storages(workspace.selection);
  const ImVec2 at = ImGui::GetMousePos();
  const MemoryBox* under = nullptr;
  if (boxed_ != view) {
    boxed_ = view;
    boxes_ = memory_boxes(map_, view);
  }
  const auto place_of = [&](const MemoryBox& box) {
    return Box{
        {map.min.x + static_cast<float>(box.left), map.min.y + static_cast<float>(box.top)},
        {map.min.x + static_cast<float>(box.right), map.min.y + static_cast<float>(box.bottom)}};
  };
  {
    const auto scope = ui.scope("storage");
    for (const MemoryBox& box : boxes_) {
      const MemoryStorage& storage = map_.storages[box.storage];
      const Box place = place_of(box);
      under = place.contains(at) ? &box : under;
      const bool selected = std::binary_search(marked.begin(), marked.end(), box.storage);
      const bool bright = selected || marked.empty();
      const float gap = place.width() > ui.px(3) && place.height() > ui.px(3) ? 1.0F : 0.0F;
      const Box filled{{place.min.x, place.min.y + gap}, {place.max.x - gap, place.max.y}};
      ui.fill(filled, colour_of(ui, box.storage, bright ? 0.85F : 0.3F));
      if (place.width() < ui.px(kNamed) || place.height() < ui.px(kNamed)) {
        continue;
      }
      const std::string name = tensor_name(*capture_, storage.tensors.front());
      mouse.join(
          ui.hit(std::to_string(storage.tensors.front()), place, name, selected ? "selected" : ""));
      draw_name(ui, place, name.substr(name.rfind('/') + 1), bright);
    }
  }
  // Also of those that another one stands for.
  for (const std::uint32_t storage : marked) {
    if (const auto box = memory_box(map_, view, storage)) {
      ui.frame(place_of(*box), ui.colour(Colour::text), 0, ui.px(2));
    }
  }
  if (under == nullptr || !mouse.hovered) {
    return;
  }
  ui.frame(place_of(*under), ui.colour(Colour::text), 0, ui.px(1));
  ui.tooltip(describe(*under));
  if (mouse.clicked || mouse.right_clicked) {
    select_storage(workspace, under->storage);
  }
  menu_ = menu_ || mouse.right_clicked;
}

void MemoryPanel::select_storage(Workspace& workspace, std::uint32_t index) {
  at_ = index;
  const MemoryStorage& storage = map_.storages[index];
  select_step(workspace,
              capture_->steps[storage.first_step].node ? storage.first_step : storage.last_step);
}

Actions MemoryPanel::actions(Workspace& workspace) {
  Actions actions = row_actions(
      "place", at_, current_rows(workspace, capture_, map_.storages.size()),
      [&](std::size_t to) { select_storage(workspace, static_cast<std::uint32_t>(to)); });
  std::ranges::move(move_actions(
                        [this](double right, double down) {
                          steps_.pan(right * steps_.length());
                          bytes_.pan(-down * bytes_.length());
                        },
                        [this](double steps) { steps_.zoom(steps, 0.5); }),
                    std::back_inserter(actions));
  return actions;
}

std::string MemoryPanel::describe_step(std::uint32_t step) const {
  const auto node = capture_->steps[step].node;
  std::string text = "step " + count_text(step);
  if (node) {
    const Capture::Node& of = capture_->nodes[*node];
    text += ": #" + std::to_string(*node) + " " + of.op + (of.scope.empty() ? "" : "  ") + of.scope;
  }
  return text;
}

std::string MemoryPanel::describe(const MemoryBox& box) const {
  const MemoryStorage& storage = map_.storages[box.storage];
  const Capture::Tensor& tensor = capture_->tensors[storage.tensors.front()];
  std::string text = tensor_name(*capture_, storage.tensors.front()) + "  " + tensor.dtype + " " +
                     tensor.shape_json + "  " + std::string(role_of(*capture_, storage)) + "\n" +
                     bytes_text(storage.bytes) + " at " + count_text(storage.offset) +
                     " of the arena\nfrom " + describe_step(storage.first_step) + "\nto " +
                     describe_step(storage.last_step);
  for (std::size_t t = 1; t < std::min(storage.tensors.size(), kMaxNames + 1); ++t) {
    text += "\nalso " + tensor_name(*capture_, storage.tensors[t]);
  }
  if (storage.tensors.size() > kMaxNames + 1) {
    text += "\nand " + count_text(storage.tensors.size() - kMaxNames - 1) + " more";
  }
  return text +
         (box.count > 1 ? "\nthe greatest of " + count_text(box.count) + " places here" : "");
}

void MemoryPanel::handle_mouse(const Parts& parts, const Hit& mouse) {
  const auto width = static_cast<double>(std::max(parts.map.width(), 1.0F));
  const auto height = static_cast<double>(std::max(parts.map.height(), 1.0F));
  if (mouse.double_clicked) {
    steps_.show_all();
    bytes_.show_all();
  } else if (mouse.held) {
    steps_.pan(-static_cast<double>(mouse.dragged.x) * steps_.length() / width);
    bytes_.pan(static_cast<double>(mouse.dragged.y) * bytes_.length() / height);
  }
  if (mouse.hovered && mouse.wheel != 0) {
    const ImVec2 at = ImGui::GetMousePos();
    const auto turned = static_cast<double>(mouse.wheel);
    if (ImGui::GetIO().KeyShift) {
      bytes_.zoom(turned, std::clamp(static_cast<double>(parts.map.max.y - at.y) / height, 0., 1.));
    } else {
      steps_.zoom(turned, static_cast<double>(at.x - parts.map.min.x) / width);
    }
  }
}

std::string MemoryPanel::sql(const Workspace& workspace) const {
  const std::string graph = std::to_string(workspace.document.capture()->summary.id.graph);
  return "SELECT t.idx AS tensor, t.name, t.role, t.nbytes, t.offset_bytes,\n"
         "  t.offset_bytes + t.nbytes AS end_bytes, t.first_use, t.last_use, t.alias_of,\n"
         "  s.node_idx AS node\nFROM tensors t JOIN pools p ON p.graph_id = t.graph_id AND p.idx ="
         " t.pool_idx AND p.kind = 'arena'\n"
         "  LEFT JOIN steps s ON s.graph_id = t.graph_id AND s.idx = t.first_use\n"
         "WHERE t.graph_id = " +
         graph + "\nORDER BY t.first_use, t.offset_bytes";
}

Gestures MemoryPanel::gestures() const {
  static constexpr Gesture kGestures[] = {
      {"Wheel", "Fewer or more steps"},
      {"Shift+wheel", "Fewer or more bytes"},
      {"Drag", "Move what is seen"},
      {"Double click", "Show all of the memory"},
      {"Click the peak", "Select all that lives then"},
  };
  return kGestures;
}

}  // namespace reprise::debugger
