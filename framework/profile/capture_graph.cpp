// A graph and its plan out of a database. Whatever a row says is checked against what was read
// before it; rows that say something else are left out.
#include <algorithm>
#include <map>

#include "framework/profile/captures.h"
#include "framework/profile/words.h"

namespace reprise {
namespace profile {
namespace {

constexpr std::array kTablesOfAGraph{"nodes",        "steps",          "kernels",   "tensors",
                                     "node_tensors", "edges",          "barriers",  "pools",
                                     "state_fields", "pass_decisions", "node_stats"};

/// What is empty would be no JSON object.
void require_object(std::string& json) { json = json.empty() ? "{}" : std::move(json); }

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
  void each(const std::string& what, const char* why, const std::string& columns,
            const std::string& order, Add&& add) {
    Statement rows(database_,
                   "SELECT " + columns + " FROM " + what + " WHERE graph_id=? ORDER BY " + order);
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
  /// As read_columns(); numbers that cannot be are counted.
  template <class... Values>
  void set(const Statement& row, int first, Values&... values) {
    odd_ += read_columns(row, first, values...);
  }
  /// As each(), of rows whose first column numbers them from 0: what comes after a gap is left out.
  template <class Row, class Fill>
  void each_in_order(const char* what, std::vector<Row>& rows, const std::string& columns,
                     Fill&& fill) {
    each(what, "their numbers do not go on from 0", "idx, " + columns, "idx",
         [&](const Statement& row) {
           if (row.integer(0) != static_cast<std::int64_t>(rows.size())) {
             return false;
           }
           fill(row, rows.emplace_back());
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
      set(row, 0, c_.arena_bytes, c_.unshared_bytes, c_.live_peak_bytes);
    }
    note_odd("graphs");
  }

  void read_pools() {
    each_in_order(
        "pools", c_.pools, "kind, size_bytes",
        [&](const Statement& row, Capture::Pool& pool) { set(row, 1, pool.kind, pool.bytes); });
  }

  void read_nodes() {
    each_in_order("nodes", c_.nodes,
                  "op, label, scope, attributes_json, src_file, src_func, src_line, flops, "
                  "read_bytes, write_bytes, family",
                  [&](const Statement& row, Capture::Node& n) {
                    set(row, 1, n.op, n.label, n.scope, n.attributes_json, n.source_file,
                        n.source_function, n.source_line, n.flops, n.read_bytes, n.write_bytes,
                        n.family);
                    require_object(n.attributes_json);
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
      Capture::Kernel& k = c_.kernels.emplace_back();
      set(rows, 1, k.name, k.constants_json, k.source_path, k.local_size[0], k.local_size[1],
          k.local_size[2], k.shared_bytes, k.push_bytes, k.subgroup_size, k.registers,
          k.spill_bytes);
      require_object(k.constants_json);
    }
    note_odd("kernels");
  }

  void read_steps() {
    each_in_order(
        "steps", c_.steps, "node_idx, kernel_id, push, kind, grid_x, grid_y, grid_z, grid_expr",
        [&](const Statement& row, Capture::Step& step) {
          step.node = reference(row, 1, c_.nodes.size());
          const auto kernel = kernels_.find(row.integer(2));
          if (kernel != kernels_.end()) {
            step.kernel = kernel->second;
          } else if (!row.null(2)) {
            ++dangling_;
          }
          set(row, 4, step.kind, step.grid[0], step.grid[1], step.grid[2], step.grid_expression);
          const std::span<const std::byte> push = row.blob(3);
          step.push.resize((push.size() + 3) / 4);
          read_words(push, step.push);
        });
    note_dangling("steps");
    order_steps_by_node();
  }

  void order_steps_by_node() {
    const auto node_of = [&](std::uint32_t step) { return *c_.steps[step].node; };
    for (std::uint32_t s = 0; s < c_.steps.size(); ++s) {
      if (c_.steps[s].node) {
        c_.step_order.push_back(s);
      }
    }
    std::ranges::stable_sort(c_.step_order, {}, node_of);
    for (std::uint32_t i = 0; i < c_.step_order.size(); ++i) {
      add_to(c_.nodes[node_of(c_.step_order[i])].steps, i);
    }
  }

  /// The next of positions that follow each other.
  static void add_to(Capture::Range& range, std::uint32_t position) {
    range.first = range.count == 0 ? position : range.first;
    ++range.count;
  }

  void read_tensors() {
    each_in_order("tensors", c_.tensors,
                  "name, dtype, shape_json, role, nbytes, offset_bytes, pool_idx, first_use, "
                  "last_use, alias_of",
                  [&](const Statement& row, Capture::Tensor& t) {
                    set(row, 1, t.name, t.dtype, t.shape_json, t.role, t.bytes, t.offset_bytes);
                    t.pool = reference(row, 7, c_.pools.size());
                    t.first_step = reference(row, 8, c_.steps.size());
                    t.last_step = reference(row, 9, c_.steps.size());
                    t.alias_of = reference(row, 10, c_.tensors.size() - 1);  // one before this
                  });
    note_dangling("tensors");
  }

  void read_operands() {
    each("node_tensors", "the graph has no such node or tensor",
         "node_idx, tensor_idx, operand, access", "node_idx, slot", [&](const Statement& row) {
           const auto node = index(row, 0, c_.nodes.size());
           const auto tensor = index(row, 1, c_.tensors.size());
           if (!node || !tensor) {
             return false;
           }
           add_to(c_.nodes[*node].operands, size_of(c_.operands));
           const std::string access = row.text(3);
           c_.operands.push_back(
               {row.text(2), *tensor, access != "w", access == "w" || access == "rw"});
           return true;
         });
  }

  void read_edges() {
    std::uint64_t backwards = 0;
    each("edges", "the graph has no such nodes or tensor", "src, dst, tensor_idx, kind",
         "dst, src, tensor_idx, kind", [&](const Statement& row) {
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
    std::ranges::stable_sort(c_.edges, {},
                             [](const Capture::Edge& e) { return std::pair(e.dst, e.src); });
    for (const Capture::Edge& edge : c_.edges) {
      std::uint32_t& level = c_.nodes[edge.dst].level;
      level = std::max(level, c_.nodes[edge.src].level + 1);
    }
  }

  void read_barriers() {
    each("barriers", "the graph has no such step",
         "before_step, cause_src, cause_dst, pool_idx, required, emitted, kind, reason, "
         "offset_bytes, size_bytes",
         "ordinal", [&](const Statement& row) {
           const auto before = index(row, 0, c_.steps.size());
           if (!before) {
             return false;
           }
           Capture::Barrier& b = c_.barriers.emplace_back();
           b.before_step = *before;
           b.cause_src = reference(row, 1, c_.steps.size());
           b.cause_dst = reference(row, 2, c_.steps.size());
           b.pool = reference(row, 3, c_.pools.size());
           set(row, 4, b.required, b.emitted, b.kind, b.reason, b.offset_bytes, b.size_bytes);
           return true;
         });
    note_dangling("barriers");
  }

  void read_state_fields() {
    each("state_fields", "a state block has no such words",
         "name, type, owner, expression, count, offset_bytes", "idx", [&](const Statement& row) {
           if (!lies_in_state(row.integer(5), row.integer(4))) {
             return false;
           }
           Capture::StateField& f = c_.state_fields.emplace_back();
           set(row, 0, f.name, f.type, f.owner, f.expression, f.count, f.offset_bytes);
           return true;
         });
  }

  void read_pass_decisions() {
    each("pass_decisions", "", "node_idx, pass, kind, applied, reason, estimate_ns",
         "pass, ordinal", [&](const Statement& row) {
           Capture::PassDecision& d = c_.pass_decisions.emplace_back();
           d.node = reference(row, 0, c_.nodes.size());
           set(row, 1, d.pass, d.kind, d.applied, d.reason, d.estimate_ns);
           return true;
         });
    note_dangling("pass_decisions");
    std::ranges::stable_sort(c_.pass_decisions, {}, &Capture::PassDecision::pass);
  }

  Database& database_;
  const std::int64_t graph_;
  Capture& c_;
  std::map<std::int64_t, std::uint32_t> kernels_;  // by row id
  std::uint64_t dangling_ = 0;                     // references that were left out
  std::uint64_t odd_ = 0;                          // numbers that were replaced
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
  return profile::read_snapshot(
      path, tables,
      [&](profile::Database& database) {
        Capture capture;
        capture.summary = profile::require_capture(database, id);
        profile::GraphReader(database, id.graph, capture).read();
        profile::add_problems_of_runs(database, capture);
        return capture;
      },
      stop);
}

}  // namespace reprise
