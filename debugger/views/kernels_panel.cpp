#include "debugger/views/kernels_panel.h"

#include <algorithm>
#include <cmath>

#include "debugger/model/format.h"
#include "debugger/model/node_details.h"
#include "debugger/ui/icons.h"
#include "debugger/views/choice_row.h"
#include "debugger/views/code_view.h"
#include "debugger/views/source_question.h"

namespace reprise::debugger {
namespace {

constexpr float kListWidth = 430, kNarrow = 900;  // at 1x
constexpr std::size_t kSource = 0, kSpirv = 1;
constexpr const char* kDot = "  \xC2\xB7  ";

enum Column : std::size_t { name, steps, share };
const std::vector<TableColumn>& columns() {
  static const std::vector<TableColumn> kColumns = {
      {"name", "Kernel", 0, Align::left, FontKind::mono, false},
      {"steps", "Steps", 62, Align::right, FontKind::mono, false},
      {"share", "p50 share", 104, Align::right, FontKind::mono, false}};
  return kColumns;
}

std::string size_text(const std::array<std::uint32_t, 3>& size) {
  return std::to_string(size[0]) + " \xC3\x97 " + std::to_string(size[1]) + " \xC3\x97 " +
         std::to_string(size[2]);
}

bool contains(const std::string& line, const std::string& wanted) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::search(line.begin(), line.end(), wanted.begin(), wanted.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != line.end();
}

}  // namespace

// ---- what is shown

void KernelsPanel::refresh(Workspace& workspace) {
  if (capture_ != workspace.document.capture()) {
    capture_ = workspace.document.capture();
    nodes_.assign(capture_->kernels.size(), {});
    steps_.assign(capture_->kernels.size(), 0);
    for (const Capture::Step& step : capture_->steps) {
      if (step.kernel) {
        ++steps_[*step.kernel];
        if (step.node) {
          nodes_[*step.kernel].push_back(*step.node);
        }
      }
    }
    for (std::vector<std::uint32_t>& nodes : nodes_) {
      std::sort(nodes.begin(), nodes.end());
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    }
    shown_ = 0;
    read_.forget();
    codes_ = {};
    facts_.clear();
    search();
  }
  if (capture_->kernels.empty()) {
    return;
  }
  const Selection& selection = workspace.selection.current();
  if (!(selection == selection_)) {
    selection_ = selection;
    const auto uses = [&](std::size_t kernel) {
      return std::binary_search(nodes_[kernel].begin(), nodes_[kernel].end(), *selection.node);
    };
    for (std::size_t k = 0; selection.node && !uses(shown_) && k < nodes_.size(); ++k) {
      shown_ = uses(k) ? static_cast<std::uint32_t>(k) : shown_;
    }
  }
  if (read_.show(workspace.reads, {capture_, shown_})) {
    codes_ = {};
    facts_.clear();
    search();
  }
  if (const auto code = read_.take()) {
    show_code(workspace, *code);
  }
}

void KernelsPanel::show_code(Workspace& workspace, const KernelCode& code) {
  const Capture::Kernel& kernel = capture_->kernels[shown_];
  Code& source = codes_[kSource];
  source = {.title = "Source", .problem = {}, .lines = code.source, .matches = {}};
  if (is_function(kernel)) {
    source.problem = "This is a function of the backend, compiled into the program: no shader.";
  } else if (code.source.empty()) {
    const std::string usual = usual_source_of(kernel);
    const SourceFile& file = workspace.sources.find(usual);
    const bool edited = !edited_since(file, capture_->summary.start_utc).empty();
    source.lines = file.lines;
    source.title = usual + (file.lines.empty() ? ""
                            : edited           ? ", written after this run began"
                                               : ", as it is on this disk now");
    source.title_colour = edited ? Colour::warning : Colour::text;
    source.outside = file.outside ? usual : "";
    source.problem =
        "The database has no source of this kernel, and there is no " + usual +
        " under the source folders: --source FOLDER names one. Kernels of a program store theirs.";
  }
  Code& spirv = codes_[kSpirv];
  spirv = {
      .title = "SPIR-V", .problem = code.spirv.problem, .lines = code.spirv.lines, .matches = {}};
  if (code.spirv_bytes) {
    spirv.title += kDot + bytes_text(*code.spirv_bytes);
  }
  facts_.clear();
  for (const KernelConstant& constant : constants_of(kernel, code.spirv)) {
    facts_ +=
        (facts_.empty() ? "" : ", ") +
        (constant.name.empty() ? "constant " + std::to_string(constant.number) : constant.name) +
        " = " + constant.value;
  }
  facts_ = facts_.empty() ? "no specialisation constants" : facts_;
  if (code.create_ns) {
    facts_ += kDot + ("created in " + duration_text(*code.create_ns));
  }
  search();
}

void KernelsPanel::search() {
  matches_.clear();
  for (std::size_t c = 0; c < codes_.size(); ++c) {
    codes_[c].matches.clear();
    for (std::size_t l = 0; !wanted_.empty() && l < codes_[c].lines.size(); ++l) {
      if (contains(codes_[c].lines[l], wanted_)) {
        codes_[c].matches.push_back(l);
        matches_.push_back({c, l});
      }
    }
  }
  jump(0);
}

void KernelsPanel::jump(std::size_t match) {
  match_ = match;
  scroll_to_ = matches_.empty() ? std::nullopt : std::optional(matches_[match]);
}

// ---- drawing

void KernelsPanel::draw(Ui& ui, Workspace& workspace) {
  refresh(workspace);
  if (capture_->kernels.empty()) {
    draw_empty_state(ui, "The steps of this capture ran no kernels: a CPU calls functions.",
                     "GraphExecutor executor(open_device(\"vulkan\"), {.profile = "
                     "\"profile.db\"});");
    return;
  }
  const Box all = ui.rest();
  const float list = std::min(ui.px(kListWidth), all.width() * 0.34F), row = ui.row_height();
  const float left = all.min.x + list + ui.px(8), right = all.max.x - ui.px(8);
  draw_list(ui, workspace, {all.min, {all.min.x + list, all.max.y}});
  float top = all.min.y + ui.px(4);
  draw_facts(ui, {{left, top}, {right, top + 2 * row}});
  top += 2 * row + ui.px(2);
  draw_search(ui, {{left, top}, {right, top + row}});
  top += row + ui.px(4);
  if (top < all.max.y) {
    draw_codes(ui, workspace, {{left, top}, {all.max.x, all.max.y}});
  }
}

TableCell KernelsPanel::cell(const Workspace& workspace, std::uint32_t kernel,
                             std::size_t column) const {
  if (column == name) {
    return {.text = capture_->kernels[kernel].name};
  }
  if (column == steps) {
    return {.text = count_text(steps_[kernel]), .colour = Colour::dim};
  }
  const CaptureStatistics& statistics = workspace.document.statistics();
  double sum = 0;
  for (const std::uint32_t node : nodes_[kernel]) {
    const NodeTiming* const timing = timing_of(statistics, node);
    sum += timing == nullptr ? 0 : share_of(statistics, *timing);
  }
  if (statistics.nodes.empty()) {
    return {.text = "\xE2\x80\x94", .colour = Colour::dim};
  }
  TableCell cell = number_cell(percent_text(sum));
  cell.bar = sum;
  return cell;
}

void KernelsPanel::draw_list(Ui& ui, Workspace& workspace, const Box& box) {
  const TableRows rows{.count = capture_->kernels.size(),
                       .id = [](std::size_t row) { return row; },
                       .cell =
                           [&](std::size_t row, std::size_t column) {
                             return cell(workspace, static_cast<std::uint32_t>(row), column);
                           },
                       .selected = [&](std::size_t row) { return row == shown_; }};
  ImGui::SetCursorScreenPos(box.min);
  const TableEvents events =
      draw_table(ui, "table", columns(), rows, table_, {box.width(), box.height()});
  if (events.clicked) {
    show(workspace, *events.clicked);
  }
}

void KernelsPanel::show(Workspace& workspace, std::size_t kernel) {
  shown_ = static_cast<std::uint32_t>(kernel);
  if (!nodes_[shown_].empty()) {
    workspace.select_nodes(nodes_[shown_]);
    selection_ = workspace.selection.current();
  }
}

Actions KernelsPanel::actions(Workspace& workspace) {
  return row_actions("kernel", shown_, current_rows(workspace, capture_, nodes_.size()),
                     [&](std::size_t to) {
                       show(workspace, to);
                       table_.scroll_to = to;
                     });
}

void KernelsPanel::draw_facts(Ui& ui, const Box& box) {
  const Capture::Kernel& kernel = capture_->kernels[shown_];
  std::string launch = "workgroup " + size_text(kernel.local_size) + kDot +
                       bytes_text(kernel.push_bytes) + " of push constants" + kDot +
                       bytes_text(kernel.shared_bytes) + " shared";
  const auto add = [&](std::optional<std::uint64_t> number, const char* unit) {
    launch += number && *number > 0 ? kDot + count_text(*number) + unit : "";
  };
  add(kernel.subgroup_size, " in a subgroup");
  add(kernel.registers, " registers");
  add(kernel.spill_bytes, " bytes spilled");
  const float half = box.min.y + ui.row_height();
  ui.text_in("launch", {box.min, {box.max.x, half}}, kernel.name + kDot + launch, {});
  const bool failed = !read_.running() && !read_.problem().empty();
  ui.text_in("facts", {{box.min.x, half}, box.max},
             failed           ? read_.problem()
             : facts_.empty() ? "reading"
                              : facts_,
             {.colour = failed ? Colour::error : Colour::dim});
}

void KernelsPanel::draw_search(Ui& ui, const Box& box) {
  const float gap = ui.px(6);
  ImGui::SetCursorScreenPos(box.min);
  const float width = std::min(ui.px(260), box.width() * 0.4F);
  if (ui.input("search", "search both", wanted_, width)) {
    search();
  }
  float x = box.min.x + width + gap;
  ImGui::SetCursorScreenPos({x, box.min.y});
  if (ui.icon_button("next", icon::kUnfold, "Next match", !matches_.empty())) {
    jump((match_ + 1) % matches_.size());
  }
  x += ui.row_height() + gap;
  const std::string found = wanted_.empty() ? ""
                            : matches_.empty()
                                ? "no match"
                                : count_text(match_ + 1) + " of " + count_text(matches_.size());
  const float text = ui.px(90);
  if (x + text < box.max.x) {
    ui.text_in("matches", {{x, box.min.y}, {x + text, box.max.y}}, found, {.colour = Colour::dim});
    x += text + gap;
  }
  static const std::vector<Choice> kSides = {
      {"both", "Both"}, {"source", "Source"}, {"spirv", "SPIR-V"}};
  float left = x;
  const auto scope = ui.scope("sides");
  draw_choices(ui, {{x, box.min.y}, {std::max(box.max.x, x + 1), box.max.y}}, kSides, sides_, left);
}

void KernelsPanel::draw_codes(Ui& ui, Workspace& workspace, const Box& box) {
  // Too narrow for both: the one that there is, unless somebody asked for the other.
  const bool both = sides_ == 0 && box.width() >= ui.px(kNarrow) * 0.6F;
  const bool spirv_alone = sides_ == 2 || (sides_ == 0 && codes_[kSource].lines.empty() &&
                                           !codes_[kSpirv].lines.empty());
  const float middle = both ? std::floor((box.min.x + box.max.x) / 2) : box.max.x;
  const float row = ui.row_height(), gap = ui.px(4);
  constexpr std::array<const char*, 2> kIds{"source", "spirv"};
  for (std::size_t c = 0; c < codes_.size(); ++c) {
    if (!both && c != (spirv_alone ? kSpirv : kSource)) {
      continue;
    }
    const float left = both && c == kSpirv ? middle + gap : box.min.x;
    const float right = both && c == kSource ? middle - gap : box.max.x;
    const Code& code = codes_[c];
    const auto scope = ui.scope(kIds[c]);
    ui.text_in("title", {{left, box.min.y}, {right, box.min.y + row}}, code.title,
               {.font = FontKind::semibold, .colour = code.title_colour});
    const Box place{{left, box.min.y + row}, {right, box.max.y}};
    if (place.empty()) {
      continue;
    }
    ui.fill(place, ui.colour(Colour::background));
    if (code.lines.empty()) {
      ImGui::SetCursorScreenPos({place.min.x + ui.px(8), place.min.y + ui.px(6)});
      const auto region = ui.region("problem", {place.width() - ui.px(16), place.height() - row});
      if (code.outside.empty()) {
        ui.paragraph("text", code.problem, Colour::dim);
      } else if (draw_source_question(ui, workspace, code.outside)) {
        read_.forget();
      }
      continue;
    }
    CodeLook look{.language = c == kSource ? CodeLanguage::glsl : CodeLanguage::spirv};
    look.matches = code.matches;
    if (!matches_.empty() && matches_[match_].code == c) {
      look.shown_match = matches_[match_].line;
    }
    if (scroll_to_ && scroll_to_->code == c) {
      look.scroll_to = scroll_to_->line;
      scroll_to_.reset();
    }
    draw_code(ui, "code", place, code.lines, look);
  }
}

std::string KernelsPanel::sql(const Workspace& workspace) const {
  return kernels_sql(workspace.document.capture()->summary.id);
}

}  // namespace reprise::debugger
