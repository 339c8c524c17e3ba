#include "debugger/views/tensors_panel.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "debugger/model/format.h"
#include "debugger/model/sql_text.h"
#include "debugger/ui/icons.h"
#include "debugger/ui/plots.h"
#include "debugger/views/selection_actions.h"

namespace reprise::debugger {
namespace {

// At 1x.
constexpr float kWide = 760, kFactsWidth = 380, kHistogramHeight = 110;
constexpr std::size_t kMaxReplays = 256;  // to choose from, the latest
constexpr const char* kWatch =
    "executor.set_watches({{.tensors = \"*\", .every = 10, .contents = true}});";

std::string node_text(const Capture& capture, std::uint32_t node) {
  return "#" + std::to_string(node) + " " + capture.nodes[node].op;
}

std::string tensor_text(const Capture& capture, std::uint32_t tensor) {
  const std::string& name = capture.tensors[tensor].name;
  return name.empty() ? "tensor " + std::to_string(tensor) : name;
}

/// Of so many elements; only of finite ones there is a value.
template <class Sums>
std::string real_text(const std::optional<double>& value, const Sums& of) {
  return value                              ? value_text(*value)
         : of.nan + of.infinite >= of.count ? "none is finite"
                                            : "\xE2\x80\x94";
}

}  // namespace

void TensorsPanel::refresh(Workspace& workspace) {
  workspace.show_numbers();
  const auto selected = workspace.selection.current().node;
  const bool other_capture = capture_ != workspace.document.capture();
  if (other_capture) {
    capture_ = workspace.document.capture();
    chosen_.reset();
    listed_.reset();
    node_.reset();
  }
  if (workspace.numbers.value() == nullptr) {
    entries_.clear();
    listed_.reset();
    revision_ = 0;
    return;
  }
  if (other_capture || revision_ != workspace.numbers.revision() || node_ != selected) {
    revision_ = workspace.numbers.revision();
    const bool moved = node_ != selected;
    node_ = selected;
    list_entries(workspace);
    const bool gone =
        chosen_ && std::find(entries_.begin(), entries_.end(), *chosen_) == entries_.end();
    if ((moved && node_ && (!chosen_ || chosen_->node != *node_)) || !chosen_ || gone) {
      const auto first = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return !node_ || entry.node == *node_;
      });
      chosen_.reset();
      if (first != entries_.end()) {
        choose(*first);
      }
    }
  }
  read_chosen(workspace);
}

void TensorsPanel::read_chosen(Workspace& workspace) {
  if (chosen_) {
    watched_.show(workspace.reads, {capture_, chosen_->tensor});
  } else {
    watched_.forget();
  }
  list_replays(workspace);
  if (const SnapshotRow* const snapshot =
          chosen_ ? workspace.numbers.value()->snapshot_of(chosen_->tensor, replay_) : nullptr) {
    contents_.show(workspace.reads, {capture_, *snapshot});
  } else {
    contents_.forget();
  }
}

void TensorsPanel::list_entries(const Workspace& workspace) {
  const TensorStatistics& numbers = *workspace.numbers.value();
  entries_.clear();
  for (const TensorSums& sums : numbers.sums) {
    entries_.push_back(
        {static_cast<std::uint32_t>(sums.node), static_cast<std::uint32_t>(sums.tensor)});
  }
  for (const SnapshotRow& row : numbers.snapshots) {
    entries_.push_back(
        {static_cast<std::uint32_t>(row.of.node), static_cast<std::uint32_t>(row.of.tensor)});
  }
  const bool any = !entries_.empty();
  if (node_ && any) {
    for (const std::uint32_t tensor : results_of(*capture_, *node_)) {
      entries_.push_back({*node_, tensor});
    }
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.node, a.tensor) < std::tie(b.node, b.tensor);
  });
  entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
  names_.clear();
  for (const Entry& entry : entries_) {
    names_.push_back(node_text(*capture_, entry.node) + "  " +
                     tensor_text(*capture_, entry.tensor));
  }
}

void TensorsPanel::choose(const Entry& entry) {
  chosen_ = entry;
  listed_.reset();
  overwrite_ = overwrite_of(*capture_, entry.tensor);
  replay_.reset();
}

void TensorsPanel::list_replays(const Workspace& workspace) {
  const auto& wish = workspace.watched_replay;
  const auto wished =
      wish && chosen_ && wish->node == chosen_->node ? std::optional(wish->replay) : std::nullopt;
  const Listed wanted{chosen_, wished, workspace.numbers.revision(), watched_.revision()};
  if (listed_ == wanted) {
    return;
  }
  listed_ = wanted;
  replays_.clear();
  if (!chosen_) {
    return;
  }
  const TensorStatistics& numbers = *workspace.numbers.value();
  const std::span<const TensorStatsRow> rows = watched_rows();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const WatchedTensor& of = rows[r].of;
    if (rows.size() - r > kMaxReplays && of.replay != wished) {
      continue;
    }
    const bool kept = numbers.snapshot_of(chosen_->tensor, of.replay) != nullptr;
    replays_.push_back(
        {of.replay, "replay " + count_text(of.sequence) + (kept ? ", with values" : "")});
  }
  const auto has = [&](std::int64_t id) {
    return std::any_of(replays_.begin(), replays_.end(), [&](const auto& r) { return r.id == id; });
  };
  if (replay_ && !has(*replay_)) {
    replay_.reset();
  }
  if (wished && has(*wished)) {
    replay_ = wished;
  }
  if (!replay_) {
    const SnapshotRow* const latest = numbers.snapshot_of(chosen_->tensor, {});
    if (latest != nullptr && has(latest->of.replay)) {
      replay_ = latest->of.replay;
    } else if (!replays_.empty()) {
      replay_ = replays_.back().id;
    }
  }
}

std::span<const TensorStatsRow> TensorsPanel::watched_rows() const {
  return watched_.value() == nullptr ? std::span<const TensorStatsRow>() : *watched_.value();
}

const TensorStatsRow* TensorsPanel::statistics() const {
  const std::span<const TensorStatsRow> rows = watched_rows();
  const auto found =
      std::ranges::find_if(rows, [&](const auto& r) { return r.of.replay == replay_; });
  return found == rows.end() ? nullptr : &*found;
}

void TensorsPanel::draw(Ui& ui, Workspace& workspace) {
  refresh(workspace);
  if (workspace.numbers.value() == nullptr) {
    const std::string& problem = workspace.numbers.problem();
    draw_empty_state(ui, problem.empty() ? "Reading what tensors held" : problem, "");
    return;
  }
  if (entries_.empty()) {
    draw_empty_state(ui, "No launch was watched: the file does not say what tensors held.", kWatch);
    return;
  }
  const Box all = ui.rest();
  const float pad = ui.px(10), top = all.min.y + ui.px(4);
  const Box bar{{all.min.x + pad, top}, {all.max.x - pad, top + ui.row_height()}};
  draw_choice(ui, workspace, bar);
  const Box body{{all.min.x + pad, bar.max.y + ui.px(4)}, all.max};
  const bool wide = body.width() > ui.px(kWide);
  const float facts = wide ? ui.px(kFactsWidth) : body.width();
  {
    ImGui::SetCursorScreenPos(body.min);
    const auto region = ui.region("all", {facts, body.height()});
    menu_ = ui.hit("facts", ui.rest()).right_clicked && chosen_;
    if (chosen_ != drawn_) {
      drawn_ = chosen_;
      ImGui::SetScrollY(0);
    }
    Rows rows(ui, pad);
    draw_facts(ui, workspace, rows);
    if (!wide) {
      draw_values(ui, workspace, rows, ui.px(480));
    }
    rows.gap(8);
  }
  if (wide) {
    ImGui::SetCursorScreenPos({body.min.x + facts + pad, body.min.y});
    const auto region = ui.region("contents", {body.width() - facts - pad, body.height()});
    Rows rows(ui, pad);
    draw_values(ui, workspace, rows, body.height() - ui.px(8));
  }
  if (menu_ && chosen_ && workspace.selection.current().node != chosen_->node) {
    workspace.select_node(chosen_->node);
  }
  draw_context_menu(ui, std::exchange(menu_, false), [&] { return selection_menu(workspace); });
}

void TensorsPanel::draw_choice(Ui& ui, Workspace& workspace, const Box& box) {
  std::size_t chosen = entries_.size();
  if (chosen_) {
    chosen = static_cast<std::size_t>(std::find(entries_.begin(), entries_.end(), *chosen_) -
                                      entries_.begin());
  }
  const float gap = ui.px(6), replays = std::min(ui.px(190), box.width() * 0.4F);
  ImGui::SetCursorScreenPos(box.min);
  const float tensors = std::min(box.width() - replays - gap, ui.px(420));
  if (ui.combo("tensor", names_, chosen, tensors)) {
    const Entry entry = entries_[chosen];
    node_ = entry.node;
    choose(entry);
    workspace.select_node(entry.node);
  }
  if (replays_.empty()) {
    return;
  }
  std::vector<std::string> names;
  std::size_t shown = 0;
  for (const WatchedReplay& replay : replays_) {
    shown = replay.id == replay_ ? names.size() : shown;
    names.push_back(replay.name);
  }
  ImGui::SetCursorScreenPos({box.min.x + tensors + gap, box.min.y});
  if (ui.combo("replay", names, shown, replays)) {
    replay_ = replays_[shown].id;
    workspace.watched_replay.reset();
  }
}

void TensorsPanel::draw_facts(Ui& ui, Workspace& workspace, Rows& rows) const {
  if (!chosen_) {
    ui.paragraph("nothing", "The selected node computes no tensor.", Colour::dim);
    return;
  }
  draw_banner(ui, workspace, rows);
  draw_statistics(ui, workspace, rows);
}

void TensorsPanel::draw_banner(Ui& ui, Workspace& workspace, Rows& rows) const {
  const Capture::Tensor& tensor = capture_->tensors[chosen_->tensor];
  if (!tensor.pool) {
    return;
  }
  const Box row = rows.next();
  if (!overwrite_) {
    ui.text_in("valid", row, "Its memory stays its own to the end of the replay.",
               {.colour = Colour::dim});
    return;
  }
  const std::string until = overwrite_->node ? node_text(*capture_, *overwrite_->node)
                                             : "step " + std::to_string(overwrite_->step);
  ui.fill(row, ui.colour(Colour::warning, 0.12F), ui.px(3));
  if (link(ui, "valid", row,
           std::string(icon::kWarning) + "  valid until " + until + ": then " +
               (overwrite_->tensor == chosen_->tensor ? "written in place"
                                                      : tensor_text(*capture_, overwrite_->tensor)),
           {.colour = Colour::warning}) &&
      overwrite_->node) {
    workspace.select_node(*overwrite_->node);
  }
  ui.text_in("copied", rows.next(), "Values were copied before that, when they were computed.",
             {.colour = Colour::dim});
}

void TensorsPanel::draw_statistics(Ui& ui, const Workspace& workspace, Rows& rows) const {
  const TensorSums* const sums = workspace.numbers.value()->sums_of(chosen_->tensor);
  const TensorStatsRow* const one = statistics();
  if (!watched_.problem().empty()) {
    ui.paragraph("problem", watched_.problem(), Colour::error);
  }
  heading(ui, rows, "Statistics");
  if (sums == nullptr) {
    ui.paragraph("unwatched",
                 "No statistics of it. Watches that match its name keep them:", Colour::dim);
    ui.text_in("call", rows.next(), kWatch, {.font = FontKind::mono, .colour = Colour::dim});
    return;
  }
  const auto line = [&](std::string_view id, std::string_view name, const std::string& of_one,
                        const std::string& of_all, Colour colour) {
    const Box row = rows.next(ui.px(19));
    const float first = row.min.x + ui.px(76), middle = (first + row.max.x) / 2;
    const auto own = ui.scope(id);
    ui.text_in("", {row.min, {first, row.max.y}}, name, {.colour = Colour::dim});
    ui.text_in("one", {{first, row.min.y}, {middle, row.max.y}}, of_one,
               {.font = FontKind::mono, .colour = colour, .align = Align::right});
    ui.text_in("all", {{middle, row.min.y}, row.max}, of_all,
               {.font = FontKind::mono, .colour = colour, .align = Align::right});
  };
  const auto scope = ui.scope("statistics");
  line("of", "of", one == nullptr ? "" : "replay " + count_text(one->of.sequence),
       count_text(sums->replays) + (sums->replays == 1 ? " replay" : " replays"), Colour::dim);
  const auto counts = [&](std::string_view id, std::string_view name, auto of_one, auto of_all,
                          Colour bad) {
    const std::uint64_t all = sums->*of_all;
    line(id, name, one == nullptr ? "" : count_text(one->*of_one), count_text(all),
         all > 0 ? bad : Colour::text);
  };
  counts("count", "elements", &TensorStatsRow::count, &TensorSums::count, Colour::text);
  counts("nan", "NaN", &TensorStatsRow::nan, &TensorSums::nan, Colour::nan);
  counts("infinite", "infinite", &TensorStatsRow::infinite, &TensorSums::infinite,
         Colour::infinite);
  counts("zero", "zero", &TensorStatsRow::zero, &TensorSums::zero, Colour::text);
  const auto values = [&](std::string_view name, auto of_one, auto of_all) {
    line(name, name, one == nullptr ? "" : real_text(one->*of_one, *one),
         real_text(sums->*of_all, *sums), Colour::text);
  };
  values("min", &TensorStatsRow::min, &TensorSums::min);
  values("max", &TensorStatsRow::max, &TensorSums::max);
  values("mean", &TensorStatsRow::mean, &TensorSums::mean);
  line("rms", "rms", one == nullptr ? "" : real_text(one->rms, *one), "", Colour::text);
  if (one == nullptr || !one->histogram || !one->min || !one->max) {
    return;
  }
  const double low = *one->min, width = (*one->max - low) / 64;
  std::vector<PlotBar> bars;
  for (std::size_t b = 0; b < one->histogram->size(); ++b) {
    const auto left = static_cast<double>(b);
    bars.push_back(
        {low + left * width, low + (left + 1) * width, static_cast<double>((*one->histogram)[b])});
  }
  rows.gap(4);
  draw_histogram(ui, "histogram", rows.next(ui.px(kHistogramHeight)), bars, {}, value_text,
                 BarHeight::logarithmic);
  ui.text_in("", rows.next(), "finite values; heights are logarithms of counts",
             {.colour = Colour::dim});
}

/// Leads to the first replay from the shown one on whose values the file has, or else the last.
void TensorsPanel::draw_other_values(Ui& ui, Workspace& workspace, Rows& rows) {
  const WatchedReplay* with_values = nullptr;
  for (const WatchedReplay& replay : replays_) {
    if (workspace.numbers.value()->snapshot_of(chosen_->tensor, replay.id) != nullptr &&
        (with_values == nullptr || with_values->id < replay_)) {
      with_values = &replay;
    }
  }
  if (with_values != nullptr && link(ui, "other", rows.next(), "Show " + with_values->name)) {
    replay_ = with_values->id;
    workspace.watched_replay.reset();
  }
}

void TensorsPanel::draw_values(Ui& ui, Workspace& workspace, Rows& rows, float height) {
  if (!chosen_) {
    return;
  }
  heading(ui, rows, "Values");
  const auto scope = ui.scope("values");
  const SnapshotRow* const snapshot =
      workspace.numbers.value()->snapshot_of(chosen_->tensor, replay_);
  if (snapshot == nullptr) {
    ui.paragraph("none",
                 "The file has no values of it in this replay: they are kept of launches watched "
                 "with .contents = true.",
                 Colour::dim);
    draw_other_values(ui, workspace, rows);
  } else if (!contents_.problem().empty()) {
    ui.paragraph("problem", contents_.problem(), Colour::error);
  } else if (contents_.value() != nullptr) {
    menu_ = values_.draw(ui, rows, *contents_.value(), contents_.revision(), height - ui.px(30)) ||
            menu_;
  }
}

std::string TensorsPanel::sql(const Workspace& workspace) const {
  const CaptureId id = workspace.document.capture()->summary.id;
  return "SELECT r.seq AS replay, s.node_idx AS node, x.name, s.n, s.nan_count, s.inf_count,\n"
         "  s.zero_count, s.min, s.max, s.mean, s.rms, k.id AS snapshot\n"
         "FROM tensor_stats s JOIN replays r ON r.id = s.replay_id\n"
         "  JOIN recordings c ON c.id = r.recording_id AND " +
         sql_capture(id) +
         "\n  LEFT JOIN tensors x ON x.graph_id = s.graph_id AND x.idx = s.tensor_idx\n"
         "  LEFT JOIN snapshots k ON k.replay_id = s.replay_id AND k.tensor_idx = s.tensor_idx\n"
         "WHERE s.graph_id = " +
         std::to_string(id.graph) +
         (chosen_ ? " AND s.tensor_idx = " + std::to_string(chosen_->tensor) : "") +
         "\nORDER BY s.replay_id, s.node_idx, s.tensor_idx";
}

Gestures TensorsPanel::gestures() const {
  static constexpr Gesture kGestures[] = {
      {"Click the map", "Go to the value"},
  };
  return kGestures;
}

}  // namespace reprise::debugger
