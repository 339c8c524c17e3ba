#include "debugger/views/timeline_panel.h"

#include <algorithm>
#include <cmath>

#include "debugger/model/format.h"
#include "debugger/model/replay_strip.h"
#include "debugger/model/sql_text.h"
#include "debugger/views/move_actions.h"
#include "debugger/views/selection_actions.h"
#include "debugger/views/shown_times.h"

namespace reprise::debugger {
namespace {

// Heights and widths at 1x.
constexpr float kLabels = 76, kTitle = 24, kAxis = 20, kLane = 20, kTicks = 14, kGap = 4;
constexpr float kTallestSteps = 96, kLowestSteps = 20;
constexpr std::size_t kMaxScopeLanes = 3;
constexpr double kTickDistance = 110;

Box lane_at(const Box& lanes, float& y, float height, float gap) {
  const Box lane{{lanes.min.x, y}, {lanes.max.x, y + height}};
  y += height + gap;
  return lane;
}

void label(Ui& ui, const Box& lane, std::string_view text) {
  const float left = lane.min.x - ui.px(kLabels);
  const float middle = (lane.min.y + lane.max.y) / 2, half = ui.px(10);
  ui.text_in("", {{left + ui.px(8), middle - half}, {lane.min.x - ui.px(4), middle + half}}, text,
             {.colour = Colour::dim});
}

}  // namespace

void TimelinePanel::refresh(const Workspace& workspace) {
  const Document& document = workspace.document;
  if (capture_ == document.capture() && revision_ == document.revision()) {
    return;
  }
  if (capture_ != document.capture()) {
    fit();
  }
  capture_ = document.capture();
  revision_ = document.revision();
  const auto shown = document.shown_replay();
  timeline_ = shown ? make_timeline(*capture_, workspace.scopes, document.replays().rows[*shown],
                                    document.step_times())
                    : Timeline();
}

void TimelinePanel::fit() {
  seen_.show_all();
  measure_.reset();
}

TimelinePanel::View TimelinePanel::view_of(const Box& lanes) const {
  const double whole = timeline_.end - timeline_.begin;
  return {
      lanes, timeline_.begin + seen_.begin() * whole,
      std::max(seen_.length() * whole, 1e-3) / static_cast<double>(std::max(lanes.width(), 1.0F))};
}

void TimelinePanel::draw(Ui& ui, Workspace& workspace) {
  Document& document = workspace.document;
  if (document.replays().rows.empty()) {
    draw_empty_state(ui, "The graph was not replayed yet", "CapturedGraph::launch()");
    return;
  }
  if (!document.shown_replay()) {
    document.follow_newest();
  }
  refresh(workspace);
  const Box all = ui.rest();
  draw_title(ui, document, {all.min, {all.max.x, all.min.y + ui.px(kTitle)}});

  const float gap = ui.px(kGap);
  const Box lanes{{all.min.x + ui.px(kLabels), all.min.y + ui.px(kTitle)},
                  {all.max.x - ui.px(8), all.max.y - gap}};
  const View view = view_of(lanes);
  Hit mouse = ui.hit("lanes", lanes);
  const auto canvas = ui.canvas({{all.min.x, lanes.min.y}, lanes.max});
  float y = lanes.min.y;
  draw_axis(ui, view, lane_at(lanes, y, ui.px(kAxis), gap));
  if (!timeline_.host.empty()) {
    draw_host(ui, view, lane_at(lanes, y, ui.px(kLane), gap), mouse);
  }
  const std::size_t depths = std::min(timeline_.scopes.size(), kMaxScopeLanes);
  for (std::size_t depth = 0; depth < depths; ++depth) {
    draw_scopes(ui, workspace, view, depth, lane_at(lanes, y, ui.px(kLane), ui.px(1)), mouse);
  }
  y += depths == 0 ? 0 : gap;
  if (timeline_.steps.empty()) {
    const std::string& problem = document.problem();
    ui.text_in("no-steps", lane_at(lanes, y, ui.px(kLane), 0),
               document.busy() ? "Reading the times of the steps"
               : problem.empty()
                   ? "The file has no step times of this replay: "
                     "CapturedGraph::set_timing(TimingMode::node)"
                   : "The file changed since it was opened and cannot be read: " + problem,
               {.colour = problem.empty() ? Colour::dim : Colour::error});
  } else {
    if (!timeline_.barriers.empty()) {
      draw_barriers(ui, view, lane_at(lanes, y, ui.px(kTicks), gap), mouse);
    }
    const float left = lanes.max.y - y;
    draw_steps(ui, workspace, view,
               lane_at(lanes, y, std::clamp(left, ui.px(kLowestSteps), ui.px(kTallestSteps)), 0),
               mouse);
  }
  draw_measure(ui, view);
  handle_mouse(view, mouse);
  draw_context_menu(ui, mouse.right_clicked, [&] { return selection_menu(workspace); });
}

void TimelinePanel::draw_title(Ui& ui, Document& document, Box box) const {
  const auto shown = document.shown_replay();
  if (!shown) {
    return;
  }
  const ReplayRow& row = document.replays().rows[*shown];
  std::string text = "Replay #" + count_text(row.sequence);
  if (row.device_ns) {
    text += ", " + duration_text(*row.device_ns) + " on the device";
  }
  const auto barriers = std::ranges::count_if(capture_->barriers, &Capture::Barrier::emitted);
  text += ", " + count_text(capture_->steps.size()) + " steps, " +
          count_text(static_cast<std::uint64_t>(barriers)) + " barriers" +
          (timeline_.steps.empty() ? ", not timed" : "");
  const float pad = ui.px(8);
  if (document.live()) {
    const std::string follow = "Follow the newest";
    const float width = ui.text_size(follow).x + ui.px(17);
    ImGui::SetCursorScreenPos({box.max.x - width - pad, box.min.y + ui.px(1)});
    bool on = document.follows_newest();
    if (ui.toggle("follow", follow, on)) {
      on ? document.follow_newest() : document.show_replay(shown);
    }
    box.max.x -= width + pad;
  }
  const float middle = (box.min.x + box.max.x) / 2;
  ui.text_in("title", {{box.min.x + pad, box.min.y}, {middle, box.max.y}}, text,
             {.colour = Colour::dim});
  if (measure_) {
    ui.text_in("measure", {{middle, box.min.y}, {box.max.x - pad, box.max.y}},
               duration_text(whole_ns(std::abs(measure_->to - measure_->from))) + " measured",
               {.font = FontKind::mono, .colour = Colour::accent, .align = Align::right});
  } else {
    ui.text_in("hint", {{middle, box.min.y}, {box.max.x - pad, box.max.y}},
               "wheel zooms, drag pans, Shift+drag measures, double click shows all",
               {.colour = Colour::dim, .align = Align::right});
  }
}

void TimelinePanel::draw_axis(Ui& ui, const View& view, const Box& box) const {
  const double step =
      tick_step(view.ns_per_pixel * kTickDistance * static_cast<double>(ui.scale()));
  const double end = view.ns_at(box.max.x);
  for (double tick = std::ceil(view.begin / step); tick * step <= end; ++tick) {
    const float x = std::floor(view.x_of(tick * step));
    ui.fill({{x, box.min.y + ui.px(4)}, {x + 1, view.box.max.y}}, ui.colour(Colour::separator));
    const std::string text = tick_text(tick * step, step);
    const float left = x + ui.px(4);
    const float right = left + ui.text_size(text, FontKind::mono).x + 1;
    if (right <= box.max.x) {
      ui.text_in("", {{left, box.min.y}, {right, box.max.y}}, text,
                 {.font = FontKind::mono, .colour = Colour::dim});
    }
  }
  ui.publish("axis", tick_text(view.begin, step) + " to " + tick_text(end, step));
}

void TimelinePanel::draw_host(Ui& ui, const View& view, const Box& lane, Hit& mouse) const {
  label(ui, lane, "Host");
  ui.fill(lane, ui.colour(Colour::header));
  for (const HostPhase& phase : timeline_.host) {
    const float left = std::max(view.x_of(phase.begin), lane.min.x);
    const float right = std::min(std::max(view.x_of(phase.end), left + 1), lane.max.x);
    if (right <= left || left >= lane.max.x) {
      continue;
    }
    const Box bar{{left, lane.min.y}, {right, lane.max.y}};
    const Hit hit = ui.hit(phase.name, bar, phase.name);
    mouse.join(hit);
    const bool waits = std::string_view(phase.name) == "wait";
    ui.fill(bar, ui.colour(waits ? Colour::raised : Colour::movement, waits ? 1.0F : 0.8F));
    if (bar.width() > ui.px(40)) {
      ui.text_in("", {{left + ui.px(6), lane.min.y}, bar.max}, phase.name, {});
    }
    if (hit.hovered) {
      ui.tooltip(std::string(phase.name) + " " + duration_text(whole_ns(phase.end - phase.begin)) +
                 "\nHost and device have clocks of their own: the device is drawn as if it began "
                 "when submitting ended.");
    }
  }
}

void TimelinePanel::draw_scopes(Ui& ui, Workspace& workspace, const View& view, std::size_t depth,
                                const Box& lane, Hit& mouse) const {
  if (depth == 0) {
    label(ui, lane, "Scopes");
  }
  const auto scope = ui.scope("scope");
  for (const PixelBar& pixels :
       pixel_bars(timeline_.scopes[depth], view.begin, view.ns_per_pixel, lane.width())) {
    const TimelineBar& bar = timeline_.scopes[depth][pixels.longest];
    const ScopeTree::Item& item = workspace.scopes[bar.id];
    const float gap = pixels.end - pixels.begin > ui.px(3) ? ui.px(1) : 0;
    const Box box{{lane.min.x + pixels.begin, lane.min.y},
                  {lane.min.x + pixels.end - gap, lane.max.y}};
    const bool selected = workspace.selection.current().item == bar.id;
    const Hit hit = ui.hit(std::to_string(bar.id), box, item.path, selected ? "selected" : "");
    mouse.join(hit);
    ui.fill(box, ui.colour(selected      ? Colour::selection
                           : hit.hovered ? Colour::dim
                                         : Colour::raised));
    if (box.width() > ui.px(30)) {
      ui.text_in("", {{box.min.x + ui.px(6), box.min.y}, box.max}, item.name, {});
    }
    if (hit.hovered) {
      ui.tooltip(item.path + "\n" + duration_text(whole_ns(bar.end - bar.begin)) + ", " +
                 count_text(item.count) + " nodes");
    }
    if (hit.clicked || hit.right_clicked) {
      workspace.select({.node = {}, .item = bar.id});
    }
  }
}

void TimelinePanel::draw_barriers(Ui& ui, const View& view, const Box& lane, Hit& mouse) const {
  label(ui, lane, "Barriers");
  const auto scope = ui.scope("barrier");
  for (const PixelBar& pixels :
       pixel_bars(timeline_.barriers, view.begin, view.ns_per_pixel, lane.width())) {
    const std::uint32_t barrier = timeline_.barriers[pixels.longest].id;
    const float x = lane.min.x + pixels.begin, half = ui.px(2);
    const Hit hit =
        ui.hit(std::to_string(barrier), {{x - half, lane.min.y}, {x + half, lane.max.y}});
    mouse.join(hit);
    const float width = hit.hovered ? half : ui.px(0.5F);
    ui.fill({{x - width, lane.min.y}, {x + width + 1, lane.max.y}}, ui.colour(Colour::warning));
    if (hit.hovered) {
      const std::string more =
          pixels.count > 1 ? "\nand " + count_text(pixels.count - 1) + " more here" : "";
      ui.tooltip("barrier: " + capture_->barriers[barrier].reason + more);
    }
  }
}

std::string TimelinePanel::describe_step(std::uint32_t step) const {
  const Capture::Step& of = capture_->steps[step];
  std::string text = "step " + std::to_string(step);
  if (of.node) {
    const Capture::Node& node = capture_->nodes[*of.node];
    text = "#" + std::to_string(*of.node) + " " + node.op +
           (node.scope.empty() ? "" : "  " + node.scope) + "\n" + text;
  }
  return text + (of.kernel ? ", " + capture_->kernels[*of.kernel].name : "");
}

void TimelinePanel::draw_steps(Ui& ui, Workspace& workspace, const View& view, const Box& lane,
                               Hit& mouse) const {
  label(ui, lane, "Steps");
  ui.fill(lane, ui.colour(Colour::header));
  const auto scope = ui.scope("step");
  for (const PixelBar& pixels :
       pixel_bars(timeline_.steps, view.begin, view.ns_per_pixel, lane.width())) {
    const TimelineBar& bar = timeline_.steps[pixels.longest];
    const auto node = capture_->steps[bar.id].node;
    const float gap = pixels.end - pixels.begin > ui.px(3) ? ui.px(1) : 0;
    const Box box{{lane.min.x + pixels.begin, lane.min.y},
                  {lane.min.x + pixels.end - gap, lane.max.y}};
    const bool selected = node && workspace.selection.current().holds(*node);
    const std::string op = node ? capture_->nodes[*node].op : capture_->steps[bar.id].kind;
    const Hit hit = ui.hit(std::to_string(bar.id), box, op, selected ? "selected" : "");
    mouse.join(hit);
    const Colour colour =
        family_colour(node ? std::string_view(capture_->nodes[*node].family) : std::string_view());
    ui.fill(box, ui.colour(colour, hit.hovered || selected ? 1.0F : 0.75F));
    if (box.width() > ui.px(36)) {
      const float middle = (box.min.y + box.max.y) / 2, half = ui.px(10);
      ui.text_in("", {{box.min.x + ui.px(5), middle - half}, {box.max.x, middle + half}}, op,
                 {.colour = Colour::background});
    }
    if (selected) {
      ui.frame({{box.min.x - 1, box.min.y}, {box.max.x + 1, box.max.y}}, ui.colour(Colour::text), 0,
               ui.px(2));
    }
    if (hit.hovered) {
      ui.tooltip(
          describe_step(bar.id) + "\n" + duration_text(whole_ns(bar.end - bar.begin)) + " from " +
          duration_text(whole_ns(bar.begin)) +
          (pixels.count > 1 ? "\nthe longest of " + count_text(pixels.count) + " steps here" : ""));
    }
    if ((hit.clicked || hit.right_clicked) && node) {
      workspace.select_node(*node);
    }
  }
}

void TimelinePanel::draw_measure(Ui& ui, const View& view) const {
  if (measure_) {
    const float from = view.x_of(measure_->from), to = view.x_of(measure_->to);
    const Box box{{std::min(from, to), view.box.min.y}, {std::max(from, to), view.box.max.y}};
    ui.fill(box, ui.colour(Colour::accent, 0.15F));
    ui.frame(box, ui.colour(Colour::accent), 0, ui.px(1));
  }
}

void TimelinePanel::handle_mouse(const View& view, const Hit& mouse) {
  const auto width = static_cast<double>(std::max(view.box.width(), 1.0F));
  const float x = ImGui::GetMousePos().x;
  if (mouse.double_clicked) {
    fit();
  } else if (mouse.held && mouse.dragged.x != 0 && (measuring_ || ImGui::GetIO().KeyShift)) {
    if (!measuring_) {
      measure_ = Measure{view.ns_at(ImGui::GetIO().MouseClickedPos[0].x), 0};
    }
    measuring_ = true;
    measure_->to = view.ns_at(x);
  } else if (mouse.held && !measuring_) {
    seen_.pan(-static_cast<double>(mouse.dragged.x) * seen_.length() / width);
  }
  measuring_ = measuring_ && mouse.held;
  if (mouse.hovered && mouse.wheel != 0) {
    seen_.zoom(static_cast<double>(mouse.wheel), static_cast<double>(x - view.box.min.x) / width);
  }
}

Actions TimelinePanel::actions(Workspace& /*workspace*/) {
  Actions actions =
      move_actions([this](double right, double /*down*/) { seen_.pan(right * seen_.length()); },
                   [this](double steps) { seen_.zoom(steps, 0.5); });
  actions.push_back({"Show all of the replay", "Home", [this] { fit(); }});
  return actions;
}

std::string TimelinePanel::sql(const Workspace& workspace) const {
  const auto shown = workspace.document.shown_replay();
  const std::string replay =
      shown ? std::to_string(workspace.document.replays().rows[*shown].id) : std::string("NULL");
  return "SELECT step, node, op, scope, start_ns / 1e3 AS start_us, dur_ns / 1e3 AS duration_us\n"
         "FROM v_step_timings\nWHERE replay_id = " +
         replay + "\nORDER BY step";
}

Gestures TimelinePanel::gestures() const {
  static constexpr Gesture kGestures[] = {
      {"Wheel", "Longer or shorter time"},
      {"Drag", "Earlier or later"},
      {"Shift+drag", "Measure a time"},
      {"Double click", "Show all of the replay"},
  };
  return kGestures;
}

}  // namespace reprise::debugger
