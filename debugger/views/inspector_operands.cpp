// The tensors of a node in the inspector.
#include <algorithm>
#include <utility>

#include "debugger/model/format.h"
#include "debugger/model/node_details.h"
#include "debugger/ui/icons.h"
#include "debugger/views/inspector_parts.h"

namespace reprise::debugger {
namespace {

std::string place_text(const Capture& capture, const Capture::Tensor& tensor) {
  std::string text = bytes_text(tensor.bytes) + "  " + tensor.role;
  if (tensor.pool) {
    text += "  " + capture.pools[*tensor.pool].kind + " +" + count_text(tensor.offset_bytes);
  }
  return text;
}

/// Nodes in one row, as many as fit.
void chips(Ui& ui, Workspace& workspace, Rows& rows, std::string_view id, std::string_view name,
           const std::vector<std::uint32_t>& nodes) {
  if (nodes.empty()) {
    return;
  }
  const auto scope = ui.scope(id);
  const Capture& capture = *workspace.document.capture();
  const Box row = rows.next();
  float x = row.min.x + ui.px(58);
  ui.text_in("", {{row.min.x + ui.px(24), row.min.y}, {x, row.max.y}}, name,
             {.colour = Colour::dim});
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const std::string text = "#" + std::to_string(nodes[n]) + " " + capture.nodes[nodes[n]].op;
    const std::string more = "+" + count_text(nodes.size() - n);
    const float width = ui.text_size(text).x + ui.px(10);
    const float kept = n + 1 < nodes.size() ? ui.text_size(more).x + ui.px(8) : 0;
    if (x + width + kept > row.max.x && n > 0) {
      ui.text_in("", {{x, row.min.y}, row.max}, more, {.colour = Colour::dim});
      return;
    }
    const Box box{{x, row.min.y}, {std::min(x + width, row.max.x), row.max.y}};
    if (link(ui, std::to_string(nodes[n]), box, text)) {
      workspace.select_node(nodes[n]);
    }
    x += width + ui.px(2);
  }
}

/// The memory that a tensor was recorded with: always if it is stale, else where it is no arena.
void binding_line(Ui& ui, const Workspace& workspace, Rows& rows, const Capture::Tensor& tensor) {
  const Bindings* const bindings = workspace.bindings.value();
  if (bindings == nullptr || !tensor.pool || *tensor.pool >= bindings->of_pool.size()) {
    return;
  }
  const Binding& binding = bindings->of_pool[*tensor.pool];
  const bool stale = is_stale(binding.state);
  if (!stale && workspace.document.capture()->pools[*tensor.pool].kind == "arena") {
    return;
  }
  const Box row = rows.next(ui.px(18));
  ui.text_in("binding", {{row.min.x + ui.px(24), row.min.y}, row.max},
             (stale ? std::string(icon::kWarning) + "  " : "") + binding_text(binding),
             {.colour = stale ? Colour::error : Colour::dim});
}

/// Where a result held its first NaN or infinity, as far as its contents were kept. `look`: the
/// only one of a node whose contents are read.
void not_finite_line(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t tensor, bool& look) {
  const TensorStatistics* const numbers = workspace.numbers.value();
  const TensorSums* const sums = numbers == nullptr ? nullptr : numbers->sums_of(tensor);
  if (sums == nullptr || (sums->nan == 0 && sums->infinite == 0)) {
    return;
  }
  std::string text = sums->nan > 0 ? count_text(sums->nan) + " NaN" : "";
  if (sums->infinite > 0) {
    text += (text.empty() ? "" : ", ") + count_text(sums->infinite) + " infinite";
  }
  const auto kept =
      std::ranges::find(numbers->kept_not_finite, std::int64_t{tensor}, &KeptNotFinite::tensor);
  const SnapshotRow* const snapshot =
      kept == numbers->kept_not_finite.end() ? nullptr : numbers->snapshot_of(tensor, kept->replay);
  if (snapshot == nullptr) {
    text += "; no contents of it were kept";
  } else if (std::exchange(look, false)) {
    auto& read = workspace.first_not_finite;
    read.show(workspace.reads, {workspace.document.capture(), *snapshot});
    const std::string* const first = read.value();
    const std::string& problem = read.problem();
    if (first != nullptr && !first->empty()) {
      text += "; replay " + count_text(snapshot->of.sequence) + ": first " + *first;
    } else if (!problem.empty()) {
      text += "; " + problem;
    }
  }
  const Box row = rows.next(ui.px(18));
  ui.text_in("not_finite", {{row.min.x + ui.px(24), row.min.y}, row.max}, text,
             {.colour = Colour::nan});
}

}  // namespace

void inspect_operands(Ui& ui, Workspace& workspace, Rows& rows, std::uint32_t index) {
  const std::shared_ptr<const Capture> capture = workspace.document.capture();
  const Capture::Node& node = capture->nodes[index];
  if (node.operands.count == 0) {
    return;
  }
  heading(ui, rows, "Tensors");
  workspace.show_bindings();
  const Bindings* const bindings = workspace.bindings.value();
  if (bindings != nullptr && !bindings->stale_reason.empty()) {
    ui.paragraph("stale", bindings->stale_reason, Colour::error);
  }
  workspace.show_numbers();
  bool look = true;
  const auto scope = ui.scope("operand");
  for (std::uint32_t o = 0; o < std::min<std::size_t>(node.operands.count, kMaxInspected); ++o) {
    const Capture::Operand& operand = capture->operands[node.operands.first + o];
    const Capture::Tensor& tensor = capture->tensors[operand.tensor];
    const auto own = ui.scope(o);
    const char* const access = operand.reads && operand.writes ? "rw" : operand.writes ? "w" : "r";
    const Box first = rows.next();
    const std::string type = tensor.dtype + " " + tensor.shape_json;
    const float split = std::max(first.max.x - ui.text_size(type, FontKind::mono).x - ui.px(4),
                                 first.min.x + first.width() / 2);
    ui.text_in("access", {first.min, {first.min.x + ui.px(22), first.max.y}}, access,
               {.font = FontKind::mono, .colour = operand.writes ? Colour::warning : Colour::ok});
    ui.text_in("name", {{first.min.x + ui.px(24), first.min.y}, {split, first.max.y}}, operand.name,
               {});
    ui.text_in("type", {{split, first.min.y}, first.max}, type,
               {.font = FontKind::mono, .align = Align::right});
    const Box second = rows.next(ui.px(18));
    const std::string place = place_text(*capture, tensor);
    const float place_split = std::max(second.max.x - ui.text_size(place).x - ui.px(4),
                                       second.min.x + second.width() / 3);
    ui.text_in("tensor", {{second.min.x + ui.px(24), second.min.y}, {place_split, second.max.y}},
               tensor.name, {.colour = Colour::dim});
    ui.text_in("place", {{place_split, second.min.y}, second.max}, place,
               {.colour = Colour::dim, .align = Align::right});
    if (operand.writes) {
      not_finite_line(ui, workspace, rows, operand.tensor, look);
    }
    binding_line(ui, workspace, rows, tensor);
    const Neighbours near = neighbours_of(*capture, index, operand.tensor);
    chips(ui, workspace, rows, "from", "from", near.before);
    chips(ui, workspace, rows, "to", "to", near.after);
    rows.gap(4);
  }
  rest_line(ui, rows, node.operands.count);
}

}  // namespace reprise::debugger
