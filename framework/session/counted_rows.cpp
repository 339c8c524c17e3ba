#include "framework/session/counted_rows.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "framework/session/state_bound.h"

namespace reprise {
namespace {

/// Rows that an op writes into a table, from a field of the state on.
struct PlacedRows {
  std::uint32_t position;  // word of the state
  Shape shape;
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

std::optional<PlacedRows> placed_rows(const ComputeGraph& graph, const Node& node) {
  const std::int8_t table = node.op->row_numbers.table;
  if (table < 0 || node.op->operands[static_cast<std::size_t>(table)].access == Access::read) {
    return std::nullopt;
  }
  // "row_position" where "position" is that of a rotation.
  auto position = find_param(graph, node, "row_position");
  position = position ? position : find_param(graph, node, "position");
  const auto uses = graph.uses_of(node);
  const auto numbers = std::ranges::find(uses, node.op->row_numbers.numbers, &Use::slot);
  const auto rows = std::ranges::find(uses, table + 1, &Use::slot);  // behind the table
  if (!position || !position->dynamic() || numbers != uses.end() || rows == uses.end()) {
    return std::nullopt;
  }
  return PlacedRows{position->word, graph.tensors[rows->tensor].spec.shape};
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

}  // namespace

void add_miscounted_rows(const ComputeGraph& graph, const StateBlock& state, std::uint32_t run,
                         std::vector<LintFinding>& findings) {
  std::vector<PlacedRows> placed;
  for (const Node& node : graph.nodes) {
    if (const auto rows = placed_rows(graph, node)) {
      placed.push_back(*rows);
    }
  }
  for (std::uint32_t n = 0; state && n < graph.nodes.size(); ++n) {
    for (const StateGrowth& growth : growths_of(graph, n, n + 1)) {
      const auto rows = std::ranges::find(placed, growth.word, &PlacedRows::position);
      const bool known = std::ranges::any_of(findings, [n](const LintFinding& f) {
        return f.node == n && f.field == LintFinding::kRows;
      });
      if (rows == placed.end() || known) {
        continue;
      }
      const auto written =
          rows->shape.fixed() ? rows->shape.dim(0) : read(state, rows->shape.extent_word(), true);
      const auto counted =
          growth.by.dynamic() ? read(state, growth.by.word, false) : growth.by.value;
      if (counted && written && *counted != *written) {
        const Node& node = graph.nodes[n];
        findings.push_back({.node = n,
                            .op = std::string(node.op->name),
                            .scope = graph.names.path(node.scope),
                            .field = std::string(LintFinding::kRows),
                            .first = std::to_string(*counted),
                            .other = std::to_string(*written),
                            .run = run,
                            .where = node.where});
      }
    }
  }
}

}  // namespace reprise
