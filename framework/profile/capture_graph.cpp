// A graph and its plan out of a database. Whatever a row says is checked against what was read
// before it; rows that say something else are left out.
#include <algorithm>

#include "framework/profile/captures.h"

namespace reprise {
namespace profile {
namespace {

constexpr std::array kTablesOfAGraph{"nodes",        "steps",          "kernels",   "tensors",
                                     "node_tensors", "edges",          "barriers",  "pools",
                                     "state_fields", "pass_decisions", "node_stats"};

constexpr std::int64_t kMaxSmall = std::numeric_limits<std::uint32_t>::max();

/// A JSON object: what has another form would not be one.
std::string object_or_empty(std::string text) { return text.empty() ? "{}" : std::move(text); }

std::uint32_t size_of(const auto& rows) { return static_cast<std::uint32_t>(rows.size()); }

class GraphReader {
 public:
  GraphReader(Database& database, std::int64_t graph, Capture& capture)
      : database_(database), graph_(graph), c_(capture) {}

  void read() {
    read_totals();
    read_pools();
    read_nodes();
    read_kernels();
    read_steps();
    read_tensors();
    read_operands();
    read_edges();
    read_barriers();
    read_state_fields();
    read_pass_decisions();
  }

 private:
  /// Calls `add` for every row of this graph; false: it was left out because of `why`.
  template <class Add>
  void each(const std::string& what, const char* why, std::string_view sql, Add&& add) {
    Statement rows(database_, sql);
    rows.bind_all(graph_);
    std::uint64_t left_out = 0;
    while (rows.step()) {
      if (!add(rows)) {
        ++left_out;
      }
    }
    note_left_out(c_.problems, left_out, what, why);
    note_odd(what);
  }
  void note_odd(const std::string& of) {
    add_problem(c_.problems, odd_, of,
                "numbers of " + of +
                    " are negative, too large or not whole: the nearest that can be is shown.");
    odd_ = 0;
  }
  std::uint64_t amount(const Statement& row, int column) {
    odd_ += is_odd(row, column) ? 1 : 0;
    return count(row, column);
  }
  std::optional<std::uint64_t> optional_amount(const Statement& row, int column) {
    return row.null(column) ? std::nullopt : std::optional(amount(row, column));
  }
  std::uint32_t small(const Statement& row, int column) {
    odd_ += is_odd(row, column, kMaxSmall) ? 1 : 0;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.integer(column), 0, kMaxSmall));
  }
  std::array<std::uint32_t, 3> three(const Statement& row, int column) {
    return {small(row, column), small(row, column + 1), small(row, column + 2)};
  }
  /// As each(), of rows whose first column numbers them from 0: what comes after a gap is left out.
  template <class Row, class Make>
  void each_in_order(const char* what, std::vector<Row>& rows, std::string_view sql, Make&& make) {
    each(what, "their numbers do not go on from 0", sql, [&](const Statement& row) {
      if (row.integer(0) != static_cast<std::int64_t>(rows.size())) {
        return false;
      }
      rows.push_back(make(row));
      return true;
    });
  }
  /// An index into something of that size, if it is one.
  static std::optional<std::uint32_t> index(const Statement& row, int column, std::size_t size) {
    const std::int64_t value = row.integer(column);
    return row.null(column) || value < 0 || static_cast<std::uint64_t>(value) >= size
               ? std::nullopt
               : std::optional(static_cast<std::uint32_t>(value));
  }
  /// As index(), for what may be NULL: anything else that is no index is counted.
  std::optional<std::uint32_t> reference(const Statement& row, int column, std::size_t size) {
    const auto found = index(row, column, size);
    if (!found && !row.null(column)) {
      ++dangling_;
    }
    return found;
  }
  void note_dangling(const std::string& of) {
    add_problem(c_.problems, dangling_, of,
                "references of " + of + " were left out: the graph has nothing of that number.");
    dangling_ = 0;
  }

  void read_totals() {
    Statement row(database_,
                  "SELECT arena_bytes, naive_bytes, live_peak_bytes FROM graphs WHERE id=?");
    row.bind_all(graph_);
    while (row.step()) {
      c_.arena_bytes = amount(row, 0);
      c_.unshared_bytes = amount(row, 1);
      c_.live_peak_bytes = amount(row, 2);
    }
    note_odd("graphs");
  }

  void read_pools() {
    each_in_order("pools", c_.pools,
                  "SELECT idx, kind, size_bytes FROM pools WHERE graph_id=? ORDER BY idx",
                  [&](const Statement& row) {
                    return Capture::Pool{row.text(1), amount(row, 2)};
                  });
  }

  void read_nodes() {
    each_in_order("nodes", c_.nodes,
                  "SELECT idx, op, label, scope, attributes_json, src_file, src_func, src_line, "
                  "flops, read_bytes, write_bytes, family FROM nodes WHERE graph_id=? ORDER BY idx",
                  [&](const Statement& row) {
                    Capture::Node node;
                    node.op = row.text(1);
                    node.label = row.text(2);
                    node.scope = row.text(3);
                    node.attributes_json = object_or_empty(row.text(4));
                    node.source_file = row.text(5);
                    node.source_function = row.text(6);
                    node.source_line = small(row, 7);
                    node.flops = optional_amount(row, 8);
                    node.read_bytes = optional_amount(row, 9);
                    node.write_bytes = optional_amount(row, 10);
                    node.family = row.text(11);
                    return node;
                  });
    if (c_.summary.nodes != c_.nodes.size()) {
      c_.problems.push_back({"nodes", "The graph has (" + std::to_string(c_.summary.nodes) +
                                          ") nodes, of which the file holds (" +
                                          std::to_string(c_.nodes.size()) + ")."});
      c_.summary.nodes = c_.nodes.size();
    }
  }

  void read_kernels() {
    Statement rows(
        database_,
        "SELECT k.id, k.name, k.spec_json, k.source_path, k.local_x, k.local_y, k.local_z, "
        "k.shared_bytes, k.push_bytes, k.subgroup_size, k.registers, k.spill_bytes FROM kernels k "
        "WHERE k.id IN (SELECT kernel_id FROM steps WHERE graph_id=?) ORDER BY k.id");
    rows.bind_all(graph_);
    while (rows.step()) {
      kernels_[rows.integer(0)] = size_of(c_.kernels);
      c_.kernels.push_back({rows.text(1), object_or_empty(rows.text(2)), rows.text(3),
                            three(rows, 4), amount(rows, 7), amount(rows, 8), amount(rows, 9),
                            optional_amount(rows, 10), optional_amount(rows, 11)});
    }
    note_odd("kernels");
  }

  void read_steps() {
    each_in_order("steps", c_.steps,
                  "SELECT idx, kind, node_idx, kernel_id, grid_x, grid_y, grid_z, grid_expr, push "
                  "FROM steps WHERE graph_id=? ORDER BY idx",
                  [&](const Statement& row) {
                    Capture::Step step;
                    step.kind = row.text(1);
                    step.node = reference(row, 2, c_.nodes.size());
                    const auto kernel = kernels_.find(row.integer(3));
                    if (kernel != kernels_.end()) {
                      step.kernel = kernel->second;
                    } else if (!row.null(3)) {
                      ++dangling_;
                    }
                    step.grid = three(row, 4);
                    step.grid_expression = row.text(7);
                    const std::span<const std::byte> push = row.blob(8);
                    step.push.resize((push.size() + 3) / 4);
                    for (std::size_t b = 0; b < push.size(); ++b) {
                      step.push[b / 4] |= std::to_integer<std::uint32_t>(push[b]) << b % 4 * 8;
                    }
                    return step;
                  });
    note_dangling("steps");
    order_steps_by_node();
  }

  void order_steps_by_node() {
    for (const Capture::Step& step : c_.steps) {
      if (step.node) {
        ++c_.nodes[*step.node].steps.count;
      }
    }
    std::uint32_t first = 0;
    for (Capture::Node& node : c_.nodes) {
      node.steps.first = first;
      first += node.steps.count;
      node.steps.count = 0;
    }
    c_.step_order.resize(first);
    for (std::uint32_t s = 0; s < c_.steps.size(); ++s) {
      if (c_.steps[s].node) {
        Capture::Range& range = c_.nodes[*c_.steps[s].node].steps;
        c_.step_order[range.first + range.count++] = s;
      }
    }
  }

  void read_tensors() {
    each_in_order(
        "tensors", c_.tensors,
        "SELECT idx, name, dtype, shape_json, role, nbytes, offset_bytes, pool_idx, first_use, "
        "last_use, alias_of FROM tensors WHERE graph_id=? ORDER BY idx",
        [&](const Statement& row) {
          Capture::Tensor tensor;
          tensor.name = row.text(1);
          tensor.dtype = row.text(2);
          tensor.shape_json = row.text(3);
          tensor.role = row.text(4);
          tensor.bytes = amount(row, 5);
          tensor.offset_bytes = amount(row, 6);
          tensor.pool = reference(row, 7, c_.pools.size());
          tensor.first_step = reference(row, 8, c_.steps.size());
          tensor.last_step = reference(row, 9, c_.steps.size());
          tensor.alias_of = reference(row, 10, c_.tensors.size());
          return tensor;
        });
    note_dangling("tensors");
  }

  void read_operands() {
    each("node_tensors", "the graph has no such node or tensor",
         "SELECT node_idx, tensor_idx, operand, access FROM node_tensors WHERE graph_id=? ORDER BY "
         "node_idx, slot",
         [&](const Statement& row) {
           const auto node = index(row, 0, c_.nodes.size());
           const auto tensor = index(row, 1, c_.tensors.size());
           if (!node || !tensor) {
             return false;
           }
           Capture::Range& range = c_.nodes[*node].operands;
           if (range.count == 0) {
             range.first = size_of(c_.operands);
           }
           ++range.count;
           const std::string access = row.text(3);
           c_.operands.push_back(
               {row.text(2), *tensor, access != "w", access == "w" || access == "rw"});
           return true;
         });
  }

  void read_edges() {
    std::int64_t backwards = 0;
    each("edges", "the graph has no such nodes or tensor",
         "SELECT src, dst, tensor_idx, kind FROM edges WHERE graph_id=? ORDER BY dst, src, "
         "tensor_idx, kind",
         [&](const Statement& row) {
           const auto src = index(row, 0, c_.nodes.size());
           const auto dst = index(row, 1, c_.nodes.size());
           const auto tensor = index(row, 2, c_.tensors.size());
           if (!src || !dst || !tensor) {
             return false;
           }
           if (*src >= *dst) {
             ++backwards;
           } else {
             c_.edges.push_back({*src, *dst, *tensor, row.text(3)});
           }
           return true;
         });
    add_problem(c_.problems, backwards, "edges",
                "rows of edges were left out: they lead to their own or an earlier node, which a "
                "graph without cycles does not have.");
    // Rows of a damaged index come in any order.
    const auto before = [](const Capture::Edge& a, const Capture::Edge& b) {
      return std::pair(a.dst, a.src) < std::pair(b.dst, b.src);
    };
    if (!std::is_sorted(c_.edges.begin(), c_.edges.end(), before)) {
      std::stable_sort(c_.edges.begin(), c_.edges.end(), before);
    }
    for (const Capture::Edge& edge : c_.edges) {
      std::uint32_t& level = c_.nodes[edge.dst].level;
      level = std::max(level, c_.nodes[edge.src].level + 1);
    }
  }

  void read_barriers() {
    each("barriers", "the graph has no such step",
         "SELECT before_step, required, emitted, cause_src, cause_dst, kind, reason, pool_idx, "
         "offset_bytes, size_bytes FROM barriers WHERE graph_id=? ORDER BY ordinal",
         [&](const Statement& row) {
           Capture::Barrier barrier;
           const auto before = index(row, 0, c_.steps.size());
           if (!before) {
             return false;
           }
           barrier.before_step = *before;
           barrier.required = row.integer(1) != 0;
           barrier.emitted = row.integer(2) != 0;
           barrier.cause_src = reference(row, 3, c_.steps.size());
           barrier.cause_dst = reference(row, 4, c_.steps.size());
           barrier.kind = row.text(5);
           barrier.reason = row.text(6);
           barrier.pool = reference(row, 7, c_.pools.size());
           barrier.offset_bytes = amount(row, 8);
           barrier.size_bytes = amount(row, 9);
           c_.barriers.push_back(std::move(barrier));
           return true;
         });
    note_dangling("barriers");
  }

  void read_state_fields() {
    each("state_fields", "a state block has no such words",
         "SELECT name, type, owner, expression, count, offset_bytes FROM state_fields WHERE "
         "graph_id=? ORDER BY idx",
         [&](const Statement& row) {
           if (!lies_in_state(row.integer(5), row.integer(4))) {
             return false;
           }
           c_.state_fields.push_back(
               {row.text(0), row.text(1), row.text(2), row.text(3), small(row, 4), small(row, 5)});
           return true;
         });
  }

  void read_pass_decisions() {
    Statement rows(database_,
                   "SELECT pass, kind, node_idx, applied, reason, estimate_ns FROM pass_decisions "
                   "WHERE graph_id=? ORDER BY pass, ordinal");
    rows.bind_all(graph_);
    while (rows.step()) {
      c_.pass_decisions.push_back({rows.text(0), rows.text(1), reference(rows, 2, c_.nodes.size()),
                                   rows.integer(3) != 0, rows.text(4),
                                   rows.null(5) ? std::nullopt : std::optional(rows.integer(5))});
    }
    note_dangling("pass_decisions");
    const auto before = [](const Capture::PassDecision& a, const Capture::PassDecision& b) {
      return a.pass < b.pass;
    };
    if (!std::is_sorted(c_.pass_decisions.begin(), c_.pass_decisions.end(), before)) {
      std::stable_sort(c_.pass_decisions.begin(), c_.pass_decisions.end(), before);
    }
  }

  Database& database_;
  const std::int64_t graph_;
  Capture& c_;
  std::map<std::int64_t, std::uint32_t> kernels_;  // by row id
  std::int64_t dangling_ = 0;                      // references that were left out
  std::int64_t odd_ = 0;                           // numbers that were replaced
};

}  // namespace

bool lies_in_state(std::int64_t offset_bytes, std::int64_t count) {
  return offset_bytes >= 0 && offset_bytes % 4 == 0 && count >= 1 && count <= kMaxStateWords &&
         offset_bytes / 4 <= kMaxStateWords - count;
}

}  // namespace profile

Capture read_capture(const std::filesystem::path& path, CaptureId id, const std::stop_token& stop) {
  std::vector<const char*> tables(profile::kCaptureTables.begin(), profile::kCaptureTables.end());
  tables.insert(tables.end(), profile::kTablesOfAGraph.begin(), profile::kTablesOfAGraph.end());
  Capture capture;
  profile::read_snapshot(
      path, tables,
      [&](profile::Database& database) {
        capture = {};
        capture.summary = profile::require_capture(database, id);
        profile::GraphReader(database, id.graph, capture).read();
        profile::add_problems_of_runs(database, capture);
      },
      stop);
  return capture;
}

}  // namespace reprise
