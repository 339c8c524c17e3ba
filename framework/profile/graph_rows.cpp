#include "framework/profile/graph_rows.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "framework/graph/edges.h"
#include "framework/graph/hasher.h"
#include "framework/graph/hazards.h"
#include "framework/graph/make_plan.h"
#include "framework/graph/structure_hash.h"
#include "framework/graph/tensor_names.h"
#include "framework/profile/json.h"

namespace reprise::profile {
namespace {

Value value_of(std::integral auto number) { return static_cast<std::int64_t>(number); }
Value value_of(std::string_view text) { return std::string(text); }
Value value_of(const std::same_as<Value> auto& value) { return value; }
template <class... Columns>
void append(std::vector<Value>& values, const Columns&... columns) {
  (values.push_back(value_of(columns)), ...);
}
Value index(std::uint32_t value) { return value == kNoIndex ? Value{} : value_of(value); }
Value text_or_null(std::string_view value) { return value.empty() ? Value{} : value_of(value); }

class RowMaker {
 public:
  RowMaker(const RecordingRecord& record, const DeviceInfo& device, GraphRows& rows)
      : graph_(*record.plan->graph),
        plan_(*record.plan),
        fields_(graph_.state_fields),
        record_(record),
        device_(device),
        edges_(edges_of(graph_)),
        rows_(rows) {}

  void make() {
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      scopes_.push_back(graph_.names.path(graph_.nodes[n].scope));
    }
    add_nodes();
    add_steps();
    add_tensors();
    for (const Edge& e : edges_) {
      add(4, e.src, e.dst, e.tensor, name_of(e.kind));
    }
    add_barriers();
    add_causes();
    for (std::size_t p = 0; p < plan_.pools.size(); ++p) {
      add(6, p, plan_.pools[p].kind, plan_.pools[p].bytes);
    }
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const StateFieldInfo& field = fields_[f];
      add(7, f, field.name, name_of(field.dtype), field.count, std::uint64_t{field.word} * 4,
          name_of(field.owner), text_or_null(field.expression));
    }
    for (std::size_t d = 0; d < plan_.decisions.size(); ++d) {
      const PassDecision& decision = plan_.decisions[d];
      add(8, decision.pass, d, decision.kind, index(decision.node), decision.applied ? 1 : 0,
          text_or_null(decision.reason));
    }
    append(rows_.graph, structure_hash(graph_), graph_.name, graph_.nodes.size(),
           plan_.steps.size(), edges_.size(), plan_.barriers.size(), plan_.arena_bytes,
           plan_.naive_bytes, plan_.live_peak_bytes, weights_bytes());
  }

 private:
  template <class... Columns>
  void add(std::size_t table, const Columns&... columns) {
    append(rows_.tables[table], columns...);
  }

  /// Longest path to each node.
  std::vector<std::uint32_t> levels() const {
    std::vector<std::uint32_t> level(graph_.nodes.size(), 0);
    for (const Edge& e : edges_) {  // in order of dst, and src < dst
      level[e.dst] = std::max(level[e.dst], level[e.src] + 1);
    }
    return level;
  }

  void add_nodes() {
    const std::vector<std::uint32_t> level = levels();
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      const bool known = node.op->cost != nullptr;
      const Cost cost = known ? graph_.cost_of(n) : Cost{};
      add(0, n, node.op->name, name_of(node.op->family), text_or_null(graph_.label_of(n)),
          scopes_[n], attributes_json(*node.op, graph_.attributes_of(node), fields_),
          known ? value_of(cost.operations) : Value{}, known ? value_of(cost.read_bytes) : Value{},
          known ? value_of(cost.write_bytes) : Value{}, level[n], text_or_null(node.where.file),
          node.where.line, text_or_null(node.where.function));
      for (const Use& use : graph_.uses_of(node)) {
        const std::string_view access = !writes(use.access) ? "r" : reads(use.access) ? "rw" : "w";
        add(3, n, use.slot, operand_name(*node.op, use.slot), use.tensor, access);
      }
    }
  }

  void add_steps() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      const bool dispatch = step.kind == StepKind::dispatch;
      const auto push = plan_.steps.bytes(step);
      const auto size = [&](std::size_t i) { return dispatch ? value_of(step.grid[i]) : Value{}; };
      add(kStepsTable, s, index(step.node), name_of(step.kind),
          dispatch ? value_of(kernel_row(step.kernel, step.kernel.shader)) : function_row(s),
          size(0), size(1), size(2), dispatch ? Value{Blob(push.begin(), push.end())} : Value{});
    }
  }

  /// The function of the backend that a call runs: a kernel of its own, or the op's reference.
  /// Nothing for functions of the caller.
  Value function_row(std::size_t s) {
    const Step& step = plan_.steps[s];
    if (step.kind != StepKind::call || s >= record_.references.size() ||
        graph_.host_steps.contains(step.node) || owner_of(*step.op) != nullptr) {
      return {};
    }
    return value_of(kernel_row({}, record_.references[s]
                                       ? "reference"
                                       : device_.backend + ":" + std::string(step.op->name)));
  }

  std::size_t kernel_row(const Kernel& kernel, std::string_view name) {
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      if (kernels_[k] == kernel && rows_.kernels[k].name == name) {
        return k;
      }
    }
    kernels_.push_back(kernel);
    rows_.kernels.push_back({std::string(name), "", json_of(kernel), {}});
    const auto known =
        std::ranges::find(record_.kernels, kernel, &std::pair<Kernel, KernelInfo>::first);
    if (known != record_.kernels.end()) {
      KernelRow& row = rows_.kernels.back();
      row.info = known->second;
      row.spirv_hash = Hasher().bytes(std::as_bytes(row.info->spirv)).hex();
    }
    return kernels_.size() - 1;
  }

  void add_tensors() {
    const std::vector<std::string> names = tensor_names(graph_);
    const std::uint32_t last_step =
        plan_.steps.size() == 0 ? kNoIndex : static_cast<std::uint32_t>(plan_.steps.size() - 1);
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      const GraphTensor& tensor = graph_.tensors[t];
      const Place& place = plan_.places[tensor.storage];
      const bool placed =
          graph_.storages[tensor.storage].is_persistent() || place.first_step != kNoIndex;
      add(2, t, text_or_null(names[t]), name_of(tensor.spec.dtype), json_of(tensor.spec.shape),
          json_of(std::span(tensor.spec.strides).first(tensor.spec.shape.rank())),
          tensor.spec.bytes(), name_of(tensor.role), placed ? value_of(place.pool) : Value{},
          placed ? value_of(place.offset + tensor.offset) : Value{},
          index(std::min(place.first_step, last_step)),
          // Outputs live past the last step, which is no step.
          place.last_step == kNoIndex ? Value{} : index(std::min(place.last_step, last_step)),
          index(tensor.alias_of));
    }
  }

  std::string who(std::uint32_t s) const {
    const Step& step = plan_.steps[s];
    if (step.node >= graph_.nodes.size()) {
      return std::string(step.op == nullptr ? name_of(step.kind) : step.op->name);
    }
    const std::string& scope = scopes_[step.node];
    return std::string((step.op == nullptr ? graph_.nodes[step.node].op : step.op)->name) +
           (scope.empty() ? "" : " (" + scope + ")");
  }

  void add_barriers() {
    for (std::size_t b = 0; b < plan_.barriers.size(); ++b) {
      const Barrier& barrier = plan_.barriers[b];
      const std::string reason = who(barrier.cause_src) +
                                 (barrier.kind == HazardKind::war ? " reads" : " wrote") +
                                 " what " + who(barrier.before_step) +
                                 (barrier.kind == HazardKind::raw ? " reads" : " overwrites");
      add(5, b, barrier.before_step, 1, 1, barrier.cause_src, barrier.before_step,
          name_of(barrier.kind), barrier.range.buffer, barrier.range.begin,
          barrier.range.end - barrier.range.begin, reason);
    }
  }

  /// The hazards that a barrier separates its step from: with steps since the barrier before.
  /// Ranges of one step that touch are not joined.
  void add_causes() {
    std::vector<Touch> later;
    std::vector<Touch> earlier;
    std::uint32_t first = 0;
    for (std::size_t b = 0; b < plan_.barriers.size(); ++b) {
      const std::uint32_t before = plan_.barriers[b].before_step;
      touches_of(plan_.steps, plan_.steps[before], later);
      std::set<std::tuple<std::uint32_t, HazardKind, std::uint32_t, std::uint64_t, std::uint64_t>>
          causes;
      for (std::uint32_t s = first; s < before; ++s) {
        touches_of(plan_.steps, plan_.steps[s], earlier);
        for (const Touch& from : earlier) {
          for (const Touch& to : later) {
            const std::uint64_t begin = std::max(from.range.begin, to.range.begin);
            const std::uint64_t end = std::min(from.range.end, to.range.end);
            if (from.range.buffer == to.range.buffer && begin < end &&
                (writes(from.access) || writes(to.access))) {
              causes.emplace(s, hazard_kind(from.access, to.access), from.range.buffer, begin, end);
            }
          }
        }
      }
      std::size_t c = 0;
      for (const auto& [step, kind, pool, begin, end] : causes) {
        add(kBarrierCausesTable, b, c++, step, name_of(kind), pool, begin, end - begin);
      }
      first = before;
    }
  }

  std::uint64_t weights_bytes() const {
    std::vector<bool> counted(graph_.storages.size(), false);
    std::uint64_t bytes = 0;
    for (const GraphTensor& tensor : graph_.tensors) {
      if (tensor.role == TensorRole::param && !counted[tensor.storage]) {
        counted[tensor.storage] = true;
        bytes += graph_.storages[tensor.storage].bytes;
      }
    }
    return bytes;
  }

  const ComputeGraph& graph_;
  const ExecutionPlan& plan_;
  const std::vector<StateFieldInfo>& fields_;
  const RecordingRecord& record_;
  const DeviceInfo& device_;
  const std::vector<Edge> edges_;
  GraphRows& rows_;
  std::vector<std::string> scopes_;  // one per node
  std::vector<Kernel> kernels_;      // one per row of rows_.kernels; empty: a function
};

void add(Hasher& hash, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    hash.number(static_cast<std::uint64_t>(*integer));
  } else if (const auto* string = std::get_if<std::string>(&value)) {
    hash.text(*string);
  } else if (const auto* blob = std::get_if<Blob>(&value)) {
    hash.bytes(*blob);
  } else {
    hash.nothing();
  }
}

/// Rows and columns in which direct sessions of one pass differ: what follows from where the arena
/// had room, from where the session was cut into parts, and from live rows of extents.
bool differs_in_direct_sessions(std::size_t table) {
  return kGraphTables[table].starts_with("barriers(") || kGraphTables[table].starts_with("pools(");
}
bool differs_in_direct_sessions(std::size_t table, std::size_t column) {
  const std::string_view list = kGraphTables[table];
  std::size_t at = list.find('(');
  for (std::size_t c = 0; c <= column; ++c) {  // graph_id comes first
    at = list.find(',', at + 1);
  }
  const std::string_view name = list.substr(at + 1, list.find_first_of(",)", at + 1) - at - 1);
  return name == "pool_idx" || name == "offset_bytes" || name.starts_with("grid_");
}

std::string content_hash(const GraphRows& rows, const RecordingRecord& record,
                         const DeviceInfo& device) {
  Hasher hash;
  hash.text(device.backend).text(device.name).text(device.device_uuid).text(device.driver_uuid);
  hash.number(device.driver_version).text(device.driver_info);
  if (record.direct) {
    hash.text("direct").text(name_of(record.precision));
  }
  constexpr std::size_t kHashAndName = 2;
  for (const Value& value :
       std::span(rows.graph).first(record.direct ? kHashAndName : rows.graph.size())) {
    add(hash, value);
  }
  for (const KernelRow& kernel : rows.kernels) {
    hash.text(kernel.name).text(kernel.spirv_hash).text(kernel.spec_json);
    for (const std::uint32_t size : kernel.info.value_or(KernelInfo{}).local_size) {
      hash.number(size);
    }
    hash.number(kernel.info ? kernel.info->push_bytes : 0);
  }
  for (std::size_t t = 0; t < rows.tables.size(); ++t) {
    if (t == kBarrierCausesTable ||  // it follows from the others, and files of version 2 lack it
        (record.direct && differs_in_direct_sessions(t))) {
      continue;
    }
    const std::vector<Value>& values = rows.tables[t];
    hash.number(values.size());
    std::vector<bool> left_out(columns_of(kGraphTables[t]));
    for (std::size_t c = 0; record.direct && c < left_out.size(); ++c) {
      left_out[c] = differs_in_direct_sessions(t, c);
    }
    for (std::size_t v = 0; v < values.size(); ++v) {
      if (!left_out[v % left_out.size()]) {
        add(hash, values[v]);
      }
    }
  }
  return hash.hex();
}

}  // namespace

GraphRows rows_of(const RecordingRecord& record, const DeviceInfo& device) {
  GraphRows rows;
  RowMaker(record, device, rows).make();
  rows.content_hash = content_hash(rows, record, device);
  return rows;
}

}  // namespace reprise::profile

namespace reprise {

std::string content_hash(const RecordingRecord& record, const DeviceInfo& device) {
  return profile::rows_of(record, device).content_hash;
}

}  // namespace reprise
