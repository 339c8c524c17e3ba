#include "debugger/views/outline_panel.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <utility>

#include "debugger/model/format.h"
#include "debugger/model/printable.h"
#include "debugger/ui/icons.h"
#include "debugger/views/fold_actions.h"
#include "debugger/views/selection_actions.h"
#include "debugger/views/shown_times.h"

namespace reprise::debugger {
namespace {

constexpr std::size_t kLongestName = 120;  // bytes
constexpr float kIndent = 14, kCaret = 16, kPadding = 8;
constexpr float kBar = 56, kTime = 66, kShare = 72;  // widths of columns
constexpr float kBarless = 260;                      // a panel without room for bars

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

/// Items whose name, or path if the filter has a slash, contains it, and the scopes around them.
std::vector<bool> matching(const ScopeTree& scopes, std::string_view filter) {
  const bool whole_path = filter.find('/') != std::string_view::npos;
  std::vector<bool> kept(scopes.items().size(), false);
  for (std::size_t i = kept.size(); i-- > 1;) {
    const ScopeTree::Item& item = scopes.items()[i];
    kept[i] = kept[i] || contains_ignoring_case(whole_path ? item.path : item.name, filter);
    kept[item.parent] = kept[item.parent] || kept[i];
  }
  return kept;
}

std::string count_of(const ScopeTree::Item& item) {
  switch (item.kind) {
    case ScopeTree::Kind::group:
      return "\xC3\x97" + count_text(item.children.size());
    case ScopeTree::Kind::scope:
      return count_text(item.count);
    default:
      return {};
  }
}

}  // namespace

void OutlinePanel::update_rows(const Workspace& workspace) {
  if (workspace.document.capture() == capture_ && workspace.folds.version() == folds_ &&
      filter_ == shown_filter_) {
    return;
  }
  capture_ = workspace.document.capture();
  folds_ = workspace.folds.version();
  shown_filter_ = filter_;
  const ScopeTree& scopes = workspace.scopes;
  const std::vector<bool> kept =
      filter_.empty() ? std::vector<bool>(scopes.items().size(), true) : matching(scopes, filter_);
  rows_.clear();
  std::vector<std::uint32_t> waiting(scopes[0].children.rbegin(), scopes[0].children.rend());
  while (!waiting.empty()) {
    const std::uint32_t item = waiting.back();
    waiting.pop_back();
    if (!kept[item]) {
      continue;
    }
    const auto& children = scopes[item].children;
    const auto is_kept = [&](std::uint32_t child) { return kept[child]; };
    // A filter opens what holds a match.
    const bool open = filter_.empty() ? !children.empty() && !workspace.folds.folded(item)
                                      : std::any_of(children.begin(), children.end(), is_kept);
    rows_.push_back({item, open});
    if (open) {
      waiting.insert(waiting.end(), children.rbegin(), children.rend());
    }
  }
}

std::optional<std::size_t> OutlinePanel::selected_row(const Workspace& workspace) const {
  // Rows are in the order of items: parents first, then in recorded order.
  std::uint32_t item = selected_item(workspace);
  while (item != 0) {
    const auto row = std::lower_bound(rows_.begin(), rows_.end(), item,
                                      [](const Row& a, std::uint32_t b) { return a.item < b; });
    if (row != rows_.end() && row->item == item) {
      return static_cast<std::size_t>(row - rows_.begin());
    }
    item = workspace.scopes[item].parent;
  }
  return std::nullopt;
}

void OutlinePanel::draw(Ui& ui, Workspace& workspace) {
  if (workspace.scopes.empty()) {
    draw_empty_state(ui, "The graph has no nodes, and so no scopes",
                     "const auto scope = recorder.scope(\"attn\");");
    return;
  }
  const Box all = ui.rest();
  ImGui::SetCursorScreenPos({all.min.x + ui.px(kPadding), all.min.y + ui.px(4)});
  ui.input("filter", "Filter scopes and ops", filter_, all.width() - 2 * ui.px(kPadding));
  ImGui::SetCursorScreenPos({all.min.x, ImGui::GetCursorScreenPos().y + ui.px(4)});
  update_rows(workspace);
  // The rows may scroll, the header does not.
  const float width = ui.rest().width() - ImGui::GetStyle().ScrollbarSize - ui.px(4);
  Columns columns;
  columns.right = width;
  columns.share = width - ui.px(kShare);
  columns.time = columns.share - ui.px(kTime);
  columns.bar = columns.time - (width < ui.px(kBarless) ? 0 : ui.px(kBar));
  draw_header(ui, columns);
  draw_rows(ui, workspace, columns);
  ui.publish("rows", std::to_string(rows_.size()));
}

void OutlinePanel::draw_header(Ui& ui, const Columns& columns) const {
  const Box rest = ui.rest();
  const Box box{rest.min, {rest.max.x, rest.min.y + ui.row_height()}};
  ImGui::Dummy({box.width(), box.height()});
  ui.fill(box, ui.colour(Colour::header));
  const auto title = [&](float from, float to, const char* text, Align align) {
    ui.text_in("", {{box.min.x + from, box.min.y}, {box.min.x + to, box.max.y}}, text,
               {.font = FontKind::regular, .colour = Colour::dim, .align = align});
  };
  title(ui.px(kPadding), columns.bar, "Scope", Align::left);
  title(columns.time, columns.share, "p50 sum", Align::right);
  title(columns.share, columns.right, "p50 share", Align::right);
}

void OutlinePanel::draw_rows(Ui& ui, Workspace& workspace, const Columns& columns) {
  const auto region = ui.region("row", {0, 0});
  const float height = ui.row_height();
  if (rows_.empty()) {
    ui.text("none", "No scope or op has that in its name.", {.colour = Colour::dim});
    return;
  }
  const Box seen = ui.rest();
  const ImVec2 top = ImGui::GetCursorScreenPos();
  if (workspace.selection.current() != selection_) {
    selection_ = workspace.selection.current();
    const std::optional<std::size_t> row = selected_row(workspace);
    const float at = height * static_cast<float>(row.value_or(0));
    const float scrolled = ImGui::GetScrollY(), room = ImGui::GetWindowHeight();
    if (row && (at < scrolled || at + height > scrolled + room)) {
      ImGui::SetScrollY(std::max(0.0F, at - room / 2));
    }
  }
  const ItemTimes times(workspace.document.statistics(), capture_->nodes.size());
  hottest_ = 0;
  for (const Row& row : rows_) {
    hottest_ = row.open ? hottest_ : std::max(hottest_, times.of(workspace.scopes[row.item]));
  }
  const float scrolled = ImGui::GetScrollY();
  const auto first = static_cast<std::size_t>(std::max(0.0F, std::floor(scrolled / height)));
  const auto count = static_cast<std::size_t>(std::ceil(ImGui::GetWindowHeight() / height)) + 1;
  for (std::size_t i = first; i < std::min(rows_.size(), first + count); ++i) {
    const float y = top.y + height * static_cast<float>(i);
    draw_row(ui, workspace, rows_[i], {{top.x, y}, {seen.max.x, y + height}}, columns, times);
  }
  ImGui::Dummy({1, height * static_cast<float>(rows_.size())});
  draw_context_menu(ui, std::exchange(menu_, false), [&] { return selection_menu(workspace); });
}

void OutlinePanel::draw_row(Ui& ui, Workspace& workspace, const Row& row, const Box& box,
                            const Columns& columns, const ItemTimes& times) {
  const ScopeTree::Item& item = workspace.scopes[row.item];
  const bool is_node = item.kind == ScopeTree::Kind::node;
  const bool selected = selected_item(workspace) == row.item ||
                        (is_node && workspace.selection.current().holds(item.first));
  const std::uint64_t time = times.of(item);
  const std::string name = printable(item.name.substr(0, kLongestName));
  const std::string duration = times.known() ? duration_text(time) : "";
  const std::string share = times.known() ? percent_text(times.share(item)) : "";
  std::string state = selected ? "selected" : "";
  if (!is_node) {
    state += std::string(selected ? " " : "") + (row.open ? "unfolded" : "folded");
  }
  const Hit hit =
      ui.hit(std::to_string(row.item), box, name + "\t" + duration + "\t" + share, state);
  const float indent = ui.px(kIndent) * static_cast<float>(item.depth - 1);
  const float x = box.min.x + ui.px(kPadding) + std::min(indent, columns.bar / 2);
  const Box caret{{x, box.min.y}, {x + ui.px(kCaret), box.max.y}};
  Hit folding;
  if (!is_node) {
    const auto own = ui.scope(row.item);
    folding = ui.hit("fold", caret, name, row.open ? "unfolded" : "folded");
  }
  menu_ = menu_ || hit.right_clicked;
  if (hit.clicked || hit.right_clicked) {
    select(workspace, row);
    selection_ = workspace.selection.current();  // in sight
  }
  if (!is_node && (folding.clicked || hit.double_clicked)) {
    workspace.folds.toggle(row.item);
  }

  if (selected) {
    ui.fill(box, ui.colour(Colour::selection));
  } else if (hit.hovered || folding.hovered) {
    ui.fill(box, ui.colour(Colour::raised, 0.6F));
  }
  draw_name(ui, row, item, name,
            family_colour(workspace.document.capture()->nodes[item.first].family),
            {caret.min, {box.min.x + columns.bar, box.max.y}});
  if (!times.known()) {
    return;
  }
  const double heat = hottest_ == 0 ? 0 : static_cast<double>(time) / static_cast<double>(hottest_);
  if (columns.bar < columns.time && !row.open) {
    const float left = box.min.x + columns.bar + ui.px(4), right = box.min.x + columns.time;
    const float middle = (box.min.y + box.max.y) / 2;
    const Box track{{left, middle - ui.px(3)}, {right, middle + ui.px(3)}};
    ui.fill(track, ui.colour(Colour::raised), ui.px(2));
    ui.fill({track.min,
             {left + std::max(ui.px(2), track.width() * static_cast<float>(heat)), track.max.y}},
            heat_colour(ui.theme(), heat), ui.px(2));
  }
  const Colour colour = row.open ? Colour::dim : Colour::text;
  ui.text_in("", {{box.min.x + columns.time, box.min.y}, {box.min.x + columns.share, box.max.y}},
             duration, {.font = FontKind::mono, .colour = colour, .align = Align::right});
  ui.text_in("", {{box.min.x + columns.share, box.min.y}, {box.min.x + columns.right, box.max.y}},
             share, {.font = FontKind::mono, .colour = Colour::dim, .align = Align::right});
}

void OutlinePanel::draw_name(Ui& ui, const Row& row, const ScopeTree::Item& item,
                             const std::string& name, Colour family, const Box& box) const {
  const float left = box.min.x + ui.px(kCaret);
  const Box caret{box.min, {left, box.max.y}};
  if (item.kind == ScopeTree::Kind::node) {
    const float middle = (box.min.y + box.max.y) / 2;
    ui.fill({{box.min.x + ui.px(2), middle - ui.px(3)}, {box.min.x + ui.px(8), middle + ui.px(3)}},
            ui.colour(family), ui.px(1));
  } else {
    ui.text_in("", caret, row.open ? icon::kUnfold : icon::kFold, {.colour = Colour::dim});
  }
  const std::string count = count_of(item);
  const float gap = ui.px(8), right = box.max.x - gap;
  const float counted = count.empty() ? 0 : std::ceil(ui.text_size(count).x) + gap;
  const float width =
      std::min(std::ceil(ui.text_size(name).x), std::max(right - left - counted, 0.0F));
  ui.text_in("", {{left, box.min.y}, {left + width, box.max.y}}, name);
  if (!count.empty() && left + width + counted <= right) {
    ui.text_in("", {{left + width + gap, box.min.y}, {right, box.max.y}}, count,
               {.colour = Colour::dim});
  }
}

std::string OutlinePanel::sql(const Workspace& workspace) const {
  const std::shared_ptr<const Capture> capture = workspace.document.capture();
  return "SELECT scope, count(*) AS nodes, sum(p50_ns) AS p50_sum_ns, sum(share) AS share\nFROM " +
         node_rows_sql(capture->summary.id, shown_times(workspace.document)) +
         "\nGROUP BY scope\nORDER BY min(idx);";
}

void OutlinePanel::select(Workspace& workspace, const Row& row) {
  const ScopeTree::Item& item = workspace.scopes[row.item];
  workspace.select(item.kind == ScopeTree::Kind::node ? Selection{.node = item.first, .item = {}}
                                                      : Selection{.node = {}, .item = row.item});
}

Actions OutlinePanel::actions(Workspace& workspace) {
  Actions actions = fold_actions(workspace);
  std::ranges::move(row_actions("scope or node", selected_row(workspace),
                                current_rows(workspace, capture_, rows_.size()),
                                [&](std::size_t to) { select(workspace, rows_[to]); }),
                    std::back_inserter(actions));
  return actions;
}

Gestures OutlinePanel::gestures() const {
  static constexpr Gesture kGestures[] = {
      {"Click", "Select the scope or node"},
      {"Double click", "Fold or unfold it"},
  };
  return kGestures;
}

}  // namespace reprise::debugger
