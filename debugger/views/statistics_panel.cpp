#include "debugger/views/statistics_panel.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "debugger/model/document_reads.h"
#include "debugger/model/format.h"
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

/// While ranges are compared, what differs stands beside each other.
const std::vector<PanelColumn<StatisticsPanel>>& StatisticsPanel::columns(bool compared) {
  using P = StatisticsPanel;
  using Columns = std::vector<PanelColumn<P>>;
  using Group = std::uint32_t;
  const auto make = [](bool two) {
    Columns made;
    const auto number = [&](const std::string& id, const std::string& title, float width, auto cell,
                            auto key) {
      made.push_back(
          {{id, title, width, Align::right, FontKind::mono}, std::move(cell), sort_by<P>(key)});
    };
    // Of A, and of B behind it.
    const auto times = [&](const std::string& id, const std::string& title, float width, auto cell,
                           auto key) {
      for (const bool b : {false, true}) {
        const auto of = [b](const P& p, Group g) -> const GroupTimes& {
          return (b ? p.b_ : p.a_).times[g];
        };
        if (two || !b) {
          number(
              id + (b ? "_b" : ""),
              title + (!two ? ""
                       : b  ? " B"
                            : " A"),
              width, [of, cell](const P& p, Group g) { return cell(p, of(p, g)); },
              [of, key](const P& p, Group g) { return key(of(p, g)); });
        }
      }
    };
    const auto count = [&] {
      times(
          "count", "Replays", 76,
          [](const P&, const GroupTimes& of) { return dim_cell(count_text(of.ns.size())); },
          [](const GroupTimes& of) { return of.ns.size(); });
    };
    const auto time = [&](const char* id, std::uint64_t GroupTimes::*member) {
      times(
          id, id, 90,
          [member](const P&, const GroupTimes& of) { return time_cell(of, of.*member); },
          [member](const GroupTimes& of) { return of.*member; });
    };
    const auto rate = [&](const char* id, const char* title, float width, auto work,
                          const char* unit) {
      const auto of = [work](const P& p, Group g) {
        return rate_of(p.groups_[g].*work, p.a_.times[g]);
      };
      number(
          id, title, width, [of, unit](const P& p, Group g) { return rate_cell(of(p, g), unit); },
          [of](const P& p, Group g) { return of(p, g).value_or(0); });
    };
    const auto change = [&](const char* id, const char* title, float width, auto text, auto key) {
      number(
          id, title, width,
          [text](const P& p, Group g) {
            const auto& of = p.changes_[g];
            return of ? TableCell{.text = text(*of), .colour = colour_of(*of)} : none();
          },
          key);
    };
    made.push_back(
        {{"name", "Group", 0},
         [](const P& p, Group g) { return p.name_cell(g); },
         sort_by<P>([](const P& p, Group g) { return std::string_view(p.groups_[g].name); })});
    number(
        "nodes", "Nodes", 64,
        [](const P& p, Group g) { return dim_cell(count_text(p.groups_[g].nodes.size())); },
        [](const P& p, Group g) { return p.groups_[g].nodes.size(); });
    if (!two) {
      count();
    }
    time("p50", &GroupTimes::p50_ns);
    if (two) {
      change("change", "Change", 96, change_text,
             [](const P& p, Group g) { return p.changes_[g] ? p.changes_[g]->ratio : 0; });
      change("probability", "p-value", 84, probability_text, [](const P& p, Group g) {
        return p.changes_[g] ? p.changes_[g]->probability.value_or(2) : 3;
      });
    }
    time("p95", &GroupTimes::p95_ns);
    if (!two) {
      time("p99", &GroupTimes::p99_ns);
    }
    times(
        "variation", "CV", 84,
        [](const P&, const GroupTimes& of) {
          return of.ns.size() < 2 ? none() : number_cell(percent_text(of.variation));
        },
        [](const GroupTimes& of) { return of.variation; });
    times(
        "share", "p50 share", 120,
        [](const P& p, const GroupTimes& of) { return share_cell(of.share, p.most_share_); },
        [](const GroupTimes& of) { return of.p50_ns; });
    if (two) {
      count();
      made.back().header.width = 84;
    } else {
      rate("bytes", "Memory", 100, &NodeGroup::bytes, "B/s");
      rate("flops", "Arithmetic", 120, &NodeGroup::flops, "FLOP/s");
    }
    return made;
  };
  static const Columns kAlone = make(false), kCompared = make(true);
  return compared ? kCompared : kAlone;
}

// ---- what is shown

std::optional<ReplayRange> StatisticsPanel::range_of_a(const Workspace& workspace) const {
  return compares() ? pinned_ : workspace.document.range();
}

bool StatisticsPanel::read(Workspace& workspace, Side& side, std::optional<ReplayRange> range) {
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
    side.read.ask(workspace.reads,
                  {capture_, timed_replays(document.replays(), range, wanted.source)});
  }
  if (std::exchange(side.revision, side.read.revision()) == side.read.revision()) {
    return false;
  }
  group(side);
  return true;
}

void StatisticsPanel::group(Side& side) const {
  const ReplayTimes* const found = side.read.value();
  side.times = group_times(groups_, found == nullptr ? ReplayTimes() : *found);
}

void StatisticsPanel::regroup() {
  groups_ = node_groups(*capture_, static_cast<GroupBy>(by_));
  group(a_);
  group(b_);
  sort();
}

void StatisticsPanel::refresh(Workspace& workspace) {
  if (capture_ != workspace.document.capture()) {
    capture_ = workspace.document.capture();
    pinned_.reset();
    for (Side* const side : {&a_, &b_}) {
      side->asked.reset();
      side->read.forget();
    }
    choose_columns();
    regroup();
  }
  bool changed = read(workspace, a_, range_of_a(workspace));
  if (compares()) {
    changed = read(workspace, b_, workspace.document.range()) || changed;
  }
  if (changed) {
    sort();
  }
}

void StatisticsPanel::choose_columns() {
  table_.use(columns(compares()));
  table_.headers().front().title = std::array{"Op", "Kernel", "Scope"}[by_];
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
  table_.sort(*this, rows_, {"share", true});
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
  if (!a_.read.problem().empty()) {
    ui.paragraph("problem", a_.read.problem(), Colour::error);
    return;
  }
  draw_rows(ui, workspace);
}

std::string StatisticsPanel::counts_text(const Workspace& workspace) const {
  const auto text_of = [&](const Side& side, std::optional<ReplayRange> range) {
    const ReplayTimes* const times = side.read.value();
    std::string text = replays_text(range);
    if (side.read.running() || times == nullptr) {
      return text + ", reading";
    }
    return text + ", " + count_text(times->replays) + " timed" +
           (times->asked > times->replays ? " of " + count_text(times->asked) : "");
  };
  const std::string a = text_of(a_, range_of_a(workspace));
  return compares() ? "A: " + a + "    B: " + text_of(b_, workspace.document.range()) : a;
}

void StatisticsPanel::draw_bar(Ui& ui, Workspace& workspace, const Box& box) {
  const float top = box.min.y + ui.px(4), pad = ui.px(8);
  const Box row{{box.min.x + pad, top}, {box.max.x - pad, top + ui.row_height()}};
  float left = 0;
  {
    const auto scope = ui.scope("by");
    if (draw_choices(ui, row, groupings(), by_, left)) {
      choose_columns();
      regroup();
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
      .selected = [&](std::size_t row) { return is_selected(groups_[rows_[row]]); }};
  const TableEvents events = table_.draw(ui, "table", *this, rows_, rows);
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
  return row_actions("group", row, current_rows(workspace, capture_, rows_.size()),
                     [&](std::size_t to) {
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
