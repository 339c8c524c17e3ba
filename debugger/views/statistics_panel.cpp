#include "debugger/views/statistics_panel.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "debugger/model/document_reads.h"
#include "debugger/model/format.h"
#include "debugger/model/panel_reads.h"
#include "debugger/views/choice_row.h"
#include "debugger/views/selection_actions.h"
#include "debugger/views/shown_times.h"

namespace reprise::debugger {
namespace {

constexpr const char* kNone = "\xE2\x80\x94";  // an em dash
const std::vector<Choice>& groupings() {
  static const std::vector<Choice> kGroupings = {
      {"op", "By op"}, {"kernel", "By kernel"}, {"scope", "By scope"}};
  return kGroupings;
}

TableCell none() { return {.text = kNone, .colour = Colour::dim}; }

TableCell time_cell(const GroupTimes& times, std::uint64_t ns) {
  return times.ns.empty() ? none() : number_cell(duration_text(ns));
}

TableCell share_cell(double share, double max) {
  TableCell cell = number_cell(percent_text(share));
  cell.bar = max > 0 ? share / max : 0;
  return cell;
}

TableCell rate_cell(std::optional<double> per_second, const char* unit) {
  return per_second ? number_cell(rate_text(*per_second, unit)) : none();
}

/// Slower is a warning, faster is good; what may be chance is neither.
Colour colour_of(const GroupChange& change) {
  if (!change.significant() || change.ratio == 1) {
    return Colour::dim;
  }
  return change.ratio > 1 ? Colour::warning : Colour::ok;
}

std::string replays_text(std::optional<ReplayRange> range) {
  return range ? "replays " + count_text(range->first) + " to " + count_text(range->last)
               : "all replays";
}

}  // namespace

enum class StatisticsPanel::Column : std::uint8_t {
  name,
  nodes,
  count,
  p50,
  p95,
  p99,
  variation,
  share,
  bytes,
  flops,
  count_b,
  p50_b,
  change,
  probability,
  p95_b,
  variation_b,
  share_b,
};

struct StatisticsPanel::ColumnDef {
  TableColumn column;
  const char* compared;  // its title while ranges are compared; null: it is left out then
  bool alone;            // shown while none are compared
};

/// In the order of Column.
const std::vector<StatisticsPanel::ColumnDef>& StatisticsPanel::column_defs() {
  constexpr Align kRight = Align::right;
  constexpr FontKind kMono = FontKind::mono;
  const auto number = [](const char* id, const char* title, float width, const char* compared,
                         bool alone) {
    return ColumnDef{{id, title, width, kRight, kMono, true}, compared, alone};
  };
  static const std::vector<ColumnDef> kDefs = {
      {{"name", "Group", 0, Align::left, FontKind::regular, true}, "Group", true},
      number("nodes", "Nodes", 64, "Nodes", true),
      number("count", "Replays", 76, "Replays A", true),
      number("p50", "p50", 90, "p50 A", true),
      number("p95", "p95", 90, "p95 A", true),
      number("p99", "p99", 90, nullptr, true),
      number("variation", "CV", 84, "CV A", true),
      number("share", "p50 share", 120, "p50 share A", true),
      number("bytes", "Memory", 100, nullptr, true),
      number("flops", "Arithmetic", 120, nullptr, true),
      number("count_b", "", 84, "Replays B", false),
      number("p50_b", "", 90, "p50 B", false),
      number("change", "", 96, "Change", false),
      number("probability", "", 84, "p-value", false),
      number("p95_b", "", 90, "p95 B", false),
      number("variation_b", "", 84, "CV B", false),
      number("share_b", "", 120, "p50 share B", false)};
  return kDefs;
}

// ---- what is shown

std::optional<ReplayRange> StatisticsPanel::range_of_a(const Workspace& workspace) const {
  return compares() ? pinned_ : workspace.document.range();
}

bool StatisticsPanel::read(Workspace& workspace, WorkerRead<ReplayTimes>& job, Side& side,
                           std::optional<ReplayRange> range) {
  const Document& document = workspace.document;
  const std::size_t size = document.replays().rows.size();
  Wanted wanted{range, document.statistics().source, range ? 0 : size};
  // Of a file that grows all the time, all replays are read again when there are an eighth more.
  const bool grew_little = side.asked && side.asked->range == wanted.range &&
                           side.asked->source == wanted.source &&
                           wanted.table_size >= side.asked->table_size &&
                           wanted.table_size - side.asked->table_size < size / 8;
  if (side.asked != wanted && !(document.live() && grew_little)) {
    side.asked = wanted;
    job.ask(
        [path = document.path(), capture = capture_,
         ids = timed_replays(document.replays(), range, wanted.source)](
            const std::stop_token& stop) { return read_replay_times(path, *capture, ids, stop); });
  }
  if (job.finished() == side.finished) {
    return false;
  }
  side.finished = job.finished();
  group(job, side);
  return true;
}

void StatisticsPanel::group(const WorkerRead<ReplayTimes>& job, Side& side) const {
  // Perhaps of a capture before: the one that was asked for comes after it.
  const ReplayTimes* const found = job.result();
  const bool fits = found != nullptr && found->nodes == capture_->nodes.size();
  side.times = group_times(groups_, fits ? *found : ReplayTimes{});
}

void StatisticsPanel::regroup(const Workspace& workspace) {
  groups_ = node_groups(*capture_, static_cast<GroupBy>(by_));
  group(workspace.reads->times_a, a_);
  group(workspace.reads->times_b, b_);
  sort();
}

void StatisticsPanel::refresh(Workspace& workspace) {
  if (capture_ != workspace.document.capture()) {
    capture_ = workspace.document.capture();
    pinned_.reset();
    a_.asked.reset();
    b_.asked.reset();
    choose_columns();
    regroup(workspace);
  }
  bool changed = read(workspace, workspace.reads->times_a, a_, range_of_a(workspace));
  if (compares()) {
    changed = read(workspace, workspace.reads->times_b, b_, workspace.document.range()) || changed;
  }
  if (changed) {
    sort();
  }
}

void StatisticsPanel::choose_columns() {
  shown_.clear();
  columns_.clear();
  // While two are compared, what differs stands beside each other.
  static const std::vector<Column> kCompared = {
      Column::name,        Column::nodes,   Column::p50,   Column::p50_b,     Column::change,
      Column::probability, Column::p95,     Column::p95_b, Column::variation, Column::variation_b,
      Column::share,       Column::share_b, Column::count, Column::count_b};
  const auto& defs = column_defs();
  const auto show = [&](Column column) {
    TableColumn shown = defs[static_cast<std::size_t>(column)].column;
    if (compares()) {
      shown.title = defs[static_cast<std::size_t>(column)].compared;
    }
    shown_.push_back(column);
    columns_.push_back(shown);
  };
  if (compares()) {
    std::for_each(kCompared.begin(), kCompared.end(), show);
  } else {
    for (std::size_t c = 0; c < defs.size(); ++c) {
      if (defs[c].alone) {
        show(static_cast<Column>(c));
      }
    }
  }
  columns_.front().title = std::array{"Op", "Kernel", "Scope"}[by_];
}

void StatisticsPanel::sort() {
  most_share_ = 0;
  changes_.assign(groups_.size(), std::nullopt);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    most_share_ = std::max(most_share_, a_.times[g].share);
    if (compares()) {
      most_share_ = std::max(most_share_, b_.times[g].share);
      changes_[g] = change_of(a_.times[g], b_.times[g]);
    }
  }
  rows_.resize(groups_.size());
  std::iota(rows_.begin(), rows_.end(), std::uint32_t{0});
  // By a column that is shown, or the greatest share first.
  const TableOrder order = table_.arranged.order.value_or(TableOrder{});
  const auto column = std::ranges::find(columns_, order.column, &TableColumn::id);
  const bool known = column != columns_.end();
  const auto by = [&](auto key) {
    std::stable_sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return !known || order.descending ? key(b) < key(a) : key(a) < key(b);
    });
  };
  const auto a = [&](std::uint32_t g) -> const GroupTimes& { return a_.times[g]; };
  const auto b = [&](std::uint32_t g) -> const GroupTimes& { return b_.times[g]; };
  switch (known ? shown_[static_cast<std::size_t>(column - columns_.begin())] : Column::share) {
    case Column::name:
      return by([&](std::uint32_t g) { return std::string_view(groups_[g].name); });
    case Column::nodes:
      return by([&](std::uint32_t g) { return groups_[g].nodes.size(); });
    case Column::count:
      return by([&](std::uint32_t g) { return a(g).ns.size(); });
    case Column::p50:
      return by([&](std::uint32_t g) { return a(g).p50_ns; });
    case Column::p95:
      return by([&](std::uint32_t g) { return a(g).p95_ns; });
    case Column::p99:
      return by([&](std::uint32_t g) { return a(g).p99_ns; });
    case Column::variation:
      return by([&](std::uint32_t g) { return a(g).variation; });
    case Column::share:
      return by([&](std::uint32_t g) { return a(g).p50_ns; });
    case Column::bytes:
      return by([&](std::uint32_t g) { return rate_of(groups_[g].bytes, a(g)).value_or(0); });
    case Column::flops:
      return by([&](std::uint32_t g) { return rate_of(groups_[g].flops, a(g)).value_or(0); });
    case Column::count_b:
      return by([&](std::uint32_t g) { return b(g).ns.size(); });
    case Column::p50_b:
      return by([&](std::uint32_t g) { return b(g).p50_ns; });
    case Column::change:
      return by([&](std::uint32_t g) { return changes_[g] ? changes_[g]->ratio : 0; });
    case Column::probability:
      return by(
          [&](std::uint32_t g) { return changes_[g] ? changes_[g]->probability.value_or(2) : 3; });
    case Column::p95_b:
      return by([&](std::uint32_t g) { return b(g).p95_ns; });
    case Column::variation_b:
      return by([&](std::uint32_t g) { return b(g).variation; });
    case Column::share_b:
      return by([&](std::uint32_t g) { return b(g).p50_ns; });
  }
}

// ---- drawing

void StatisticsPanel::draw(Ui& ui, Workspace& workspace) {
  refresh(workspace);
  if (workspace.document.timing_sources().empty()) {
    draw_empty_state(ui, "No node was timed: record with a time per node",
                     "GraphExecutor executor(device, {.profile = \"profile.db\", .timing = "
                     "TimingMode::node});");
    return;
  }
  const Box all = ui.rest();
  const float bar = ui.px(30);
  draw_bar(ui, workspace, {all.min, {all.max.x, all.min.y + bar}});
  ImGui::SetCursorScreenPos({all.min.x, all.min.y + bar});
  const auto& error = workspace.reads->times_a.error();
  if (!error.empty()) {
    ui.paragraph("problem", error, Colour::error);
    return;
  }
  draw_rows(ui, workspace);
}

std::string StatisticsPanel::counts_text(const Workspace& workspace) const {
  const auto side = [&](const WorkerRead<ReplayTimes>& job, std::optional<ReplayRange> range) {
    const ReplayTimes* const times = job.result();
    std::string text = replays_text(range);
    if (job.running() || times == nullptr) {
      return text + ", reading";
    }
    return text + ", " + count_text(times->replays) + " timed" +
           (times->asked > times->replays ? " of " + count_text(times->asked) : "");
  };
  const PanelReads& reads = *workspace.reads;
  const std::string a = side(reads.times_a, range_of_a(workspace));
  return compares() ? "A: " + a + "    B: " + side(reads.times_b, workspace.document.range()) : a;
}

void StatisticsPanel::draw_bar(Ui& ui, Workspace& workspace, const Box& box) {
  const float top = box.min.y + ui.px(4), pad = ui.px(8);
  const Box row{{box.min.x + pad, top}, {box.max.x - pad, top + ui.row_height()}};
  float left = 0;
  {
    const auto scope = ui.scope("by");
    if (draw_choices(ui, row, groupings(), by_, left)) {
      choose_columns();
      regroup(workspace);
    }
  }
  const char* const compare = compares() ? "Stop comparing" : "Compare with these replays";
  const float width = ui.text_size(compare).x + ui.px(17);
  left += pad;
  if (left + width < row.max.x) {
    ImGui::SetCursorScreenPos({left, top});
    bool on = compares();
    if (ui.toggle("compare", compare, on)) {
      const std::size_t size = workspace.document.replays().rows.size();
      pinned_ = compares() ? std::nullopt
                           : std::optional(workspace.document.range().value_or(
                                 ReplayRange{0, std::max<std::size_t>(size, 1) - 1}));
      b_.asked.reset();
      table_.arranged.order.reset();
      choose_columns();
      refresh(workspace);
      sort();
    }
    left += width + pad;
  }
  ui.text_in("replays", {{std::min(left, row.max.x - 1), row.min.y}, row.max},
             counts_text(workspace), {.colour = Colour::dim, .align = Align::right});
}

TableCell StatisticsPanel::name_cell(std::uint32_t g) const {
  TableCell cell{.text = groups_[g].name};
  if (cell.text.empty()) {
    cell = {.text = std::array{"(no name)", "(no kernel)", "(outside of scopes)"}[by_],
            .colour = Colour::dim};
  }
  if (!groups_[g].family.empty()) {
    cell.mark = family_colour(groups_[g].family);
  }
  return cell;
}

TableCell StatisticsPanel::cell(std::uint32_t g, Column column) const {
  const NodeGroup& group = groups_[g];
  const GroupTimes& a = a_.times[g];
  const GroupTimes& b = b_.times[g];
  const auto& change = changes_[g];
  const auto dim = [](std::uint64_t count) {
    return TableCell{.text = count_text(count), .colour = Colour::dim};
  };
  const auto variation = [](const GroupTimes& times) {
    return times.ns.size() < 2 ? none() : number_cell(percent_text(times.variation));
  };
  switch (column) {
    case Column::name:
      return name_cell(g);
    case Column::nodes:
      return dim(group.nodes.size());
    case Column::count:
      return dim(a.ns.size());
    case Column::count_b:
      return dim(b.ns.size());
    case Column::p50:
      return time_cell(a, a.p50_ns);
    case Column::p95:
      return time_cell(a, a.p95_ns);
    case Column::p99:
      return time_cell(a, a.p99_ns);
    case Column::p50_b:
      return time_cell(b, b.p50_ns);
    case Column::p95_b:
      return time_cell(b, b.p95_ns);
    case Column::variation:
      return variation(a);
    case Column::variation_b:
      return variation(b);
    case Column::share:
      return share_cell(a.share, most_share_);
    case Column::share_b:
      return share_cell(b.share, most_share_);
    case Column::bytes:
      return rate_cell(rate_of(group.bytes, a), "B/s");
    case Column::flops:
      return rate_cell(rate_of(group.flops, a), "FLOP/s");
    case Column::change:
      return change ? TableCell{.text = change_text(*change), .colour = colour_of(*change)}
                    : none();
    case Column::probability:
      return change ? TableCell{.text = probability_text(*change), .colour = colour_of(*change)}
                    : none();
  }
  return {};
}

void StatisticsPanel::select(Workspace& workspace, std::size_t row) {
  workspace.select_nodes(groups_[rows_[row]].nodes);
}

void StatisticsPanel::draw_rows(Ui& ui, Workspace& workspace) {
  const Selection& selection = workspace.selection.current();
  const auto is_selected = [&](const NodeGroup& group) {
    return selection.nodes.empty() ? group.nodes.size() == 1 && selection.node == group.nodes[0]
                                   : selection.nodes == group.nodes;
  };
  const TableRows rows{
      .count = rows_.size(),
      .id = [&](std::size_t row) { return rows_[row]; },
      .cell = [&](std::size_t row, std::size_t column) { return cell(rows_[row], shown_[column]); },
      .selected = [&](std::size_t row) { return is_selected(groups_[rows_[row]]); }};
  const TableEvents events = draw_table(ui, "table", columns_, rows, table_);
  if (events.sort_changed) {
    sort();
  } else if (const auto row = events.clicked ? events.clicked : events.right_clicked) {
    select(workspace, *row);
  }
  draw_context_menu(ui, events.right_clicked.has_value(),
                    [&] { return selection_menu(workspace); });
}

Actions StatisticsPanel::actions(Workspace& workspace) {
  const Selection& selection = workspace.selection.current();
  std::optional<std::size_t> row;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (!selection.nodes.empty() && groups_[rows_[r]].nodes == selection.nodes) {
      row = r;
    }
  }
  return row_actions("group", row, rows_.size(), [&](std::size_t to) {
    select(workspace, to);
    table_.scroll_to = to;
  });
}

std::string StatisticsPanel::sql(const Workspace& workspace) const {
  const CaptureId id = workspace.document.capture()->summary.id;
  static constexpr const char* kNames[] = {
      "n.op",
      ("(SELECT group_concat(DISTINCT k.name) FROM steps d JOIN kernels k ON k.id = d.kernel_id"
       " WHERE d.graph_id = n.graph_id AND d.node_idx = n.idx)"),
      "coalesce(n.scope, '')"};
  const auto rows = [&](std::optional<ReplayRange> range) {
    return group_rows_sql(id, shown_times(workspace.document, range), kNames[by_]);
  };
  if (!compares()) {
    return "SELECT *\nFROM " + rows(workspace.document.range()) + "\nORDER BY p50_ns DESC, name";
  }
  return "SELECT 'A' AS range, * FROM " + rows(pinned_) +
         "\nUNION ALL\nSELECT 'B' AS range, * FROM " + rows(workspace.document.range()) +
         "\nORDER BY name, range";
}

}  // namespace reprise::debugger
