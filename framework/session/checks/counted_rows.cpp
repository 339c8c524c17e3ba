#include "framework/session/checks/counted_rows.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "framework/session/state/state_bound.h"

namespace reprise {
namespace {

/// Rows that an op writes into a table, from a position on.
struct PlacedRows {
  std::uint32_t node;
  const GraphTensor* table;
  Param<std::int32_t> position;
  Shape shape;
  bool is_ring;  // positions are taken modulo a window
};

std::optional<Param<std::int32_t>> find_param(const ComputeGraph& graph, const Node& node,
                                              std::string_view name) {
  const auto attribute = std::ranges::find(node.op->attributes, name, &Attribute::name);
  if (attribute == node.op->attributes.end() || attribute->type != AttributeType::param_i32) {
    return std::nullopt;
  }
  Param<std::int32_t> param;
  std::memcpy(&param, graph.attributes.data() + node.attributes + attribute->offset, sizeof param);
  return param;
}

std::optional<PlacedRows> placed_rows(const ComputeGraph& graph, std::uint32_t n) {
  const Node& node = graph.nodes[n];
  const std::int8_t table = node.op->row_numbers.table;
  if (table < 0 || node.op->operands[static_cast<std::size_t>(table)].access == Access::read) {
    return std::nullopt;
  }
  // "row_position" where "position" is that of a rotation.
  auto position = find_param(graph, node, "row_position");
  position = position ? position : find_param(graph, node, "position");
  const auto uses = graph.uses_of(node);
  const auto numbers = std::ranges::find(uses, node.op->row_numbers.numbers, &Use::slot);
  const auto written = std::ranges::find(uses, table, &Use::slot);
  const auto rows = std::ranges::find(uses, table + 1, &Use::slot);  // behind the table
  const auto window = find_param(graph, node, "window");
  const bool is_ring = window && (window->dynamic() || window->value > 0);
  if (!position || numbers != uses.end() || rows == uses.end()) {
    return std::nullopt;
  }
  return PlacedRows{n, &graph.tensors[written->tensor], *position,
                    graph.tensors[rows->tensor].spec.shape, is_ring};
}

/// The value of an i32 field; none of a field that the device carries unless `carried`.
std::optional<std::int64_t> read(const StateBlock& state, std::uint32_t word, bool carried) {
  const std::vector<StateFieldInfo> fields = state.layout().fields();
  const auto field = std::ranges::find(fields, word, &StateFieldInfo::word);
  if (field == fields.end() || field->dtype != DType::i32 ||
      (field->owner == StateOwner::carried && !carried)) {
    return std::nullopt;
  }
  return state.get(field->name);
}

std::optional<std::int64_t> read(const StateBlock& state, const Param<std::int32_t>& number,
                                 bool carried) {
  return number.dynamic() ? read(state, number.word, carried) : number.value;
}

std::optional<std::int64_t> rows_of(const StateBlock& state, const Shape& shape) {
  return shape.fixed() ? shape.dim(0) : read(state, shape.extent_word(), true);
}

void add_finding(const ComputeGraph& graph, std::uint32_t n, std::string_view field,
                 std::int64_t counted, std::int64_t written, std::uint32_t run,
                 std::vector<LintFinding>& findings) {
  const bool known = std::ranges::any_of(
      findings, [&](const LintFinding& f) { return f.node == n && f.field == field; });
  if (counted == written || known) {
    return;
  }
  const Node& node = graph.nodes[n];
  findings.push_back({.node = n,
                      .op = std::string(node.op->name),
                      .scope = graph.names.path(node.scope),
                      .field = std::string(field),
                      .first = std::to_string(counted),
                      .other = std::to_string(written),
                      .run = run,
                      .where = node.where});
}

/// Whether the field is computed from the other one, which the device may carry.
bool derived_from(const StateLayout& layout, std::uint32_t field, std::uint32_t other) {
  return std::ranges::any_of(layout.derivations(), [&](const auto& derivation) {
    const auto& [target, expression] = derivation;
    const auto is = [&](std::int32_t word) {
      return word >= 0 && static_cast<std::uint32_t>(word) == other;
    };
    return target == field && (is(expression.x) || is(expression.y));
  });
}

/// Where the rows end that were written into the table last, before node `n`; none if that is
/// unknown. `count`: the field they are compared with.
std::optional<std::int64_t> end_of_rows(const StateBlock& state,
                                        const std::vector<PlacedRows>& placed, std::uint32_t n,
                                        const GraphTensor& table, std::uint32_t count) {
  for (auto rows = placed.rbegin(); rows != placed.rend(); ++rows) {
    const GraphTensor& written = *rows->table;
    if (rows->node >= n || written.storage != table.storage || written.offset != table.offset ||
        written.spec.shape.dim(0) != table.spec.shape.dim(0)) {
      continue;
    }
    const bool carried = derived_from(state.layout(), count, rows->position.word);
    const auto first = read(state, rows->position, carried);
    const auto number = rows_of(state, rows->shape);
    return first && number && !rows->is_ring ? std::optional(*first + *number) : std::nullopt;
  }
  return std::nullopt;
}

void add_misused_rows(const ComputeGraph& graph, const StateBlock& state,
                      const std::vector<PlacedRows>& placed, std::uint32_t n, std::uint32_t run,
                      std::vector<LintFinding>& findings) {
  const Node& node = graph.nodes[n];
  const auto uses = graph.uses_of(node);
  const auto tensor_of = [&](std::int8_t slot) {
    const auto use = std::ranges::find(uses, slot, &Use::slot);
    return use == uses.end() ? nullptr : &graph.tensors[use->tensor];
  };
  for (const UsedRows& used : node.op->used_rows) {
    const auto count = find_param(graph, node, used.attribute);
    const GraphTensor* table = tensor_of(used.table);
    const GraphTensor* besides = tensor_of(used.besides);
    if (!count || !count->dynamic() || table == nullptr) {
      continue;
    }
    const auto end = end_of_rows(state, placed, n, *table, count->word);
    const auto counted = read(state, *count, false);
    const auto more = besides == nullptr ? 0 : rows_of(state, besides->spec.shape);
    if (end && counted && more) {
      const std::int64_t all = table->spec.shape.dim(0);
      add_finding(graph, n, LintFinding::kUsedRows, std::min(*counted + *more, all),
                  std::min(*end, all), run, findings);
    }
  }
}

}  // namespace

void add_miscounted_rows(const ComputeGraph& graph, const StateBlock& state, std::uint32_t run,
                         std::vector<LintFinding>& findings) {
  if (!state) {
    return;
  }
  std::vector<PlacedRows> placed;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    if (const auto rows = placed_rows(graph, n)) {
      placed.push_back(*rows);
    }
  }
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    for (const StateGrowth& growth : growths_of(graph, n, n + 1)) {
      const auto rows = std::ranges::find(placed, growth.word,
                                          [](const PlacedRows& p) { return p.position.word; });
      if (rows == placed.end()) {
        continue;
      }
      const auto written = rows_of(state, rows->shape);
      const auto counted = read(state, growth.by, false);
      if (counted && written) {
        add_finding(graph, n, LintFinding::kRows, *counted, *written, run, findings);
      }
    }
    add_misused_rows(graph, state, placed, n, run, findings);
  }
}

}  // namespace reprise
