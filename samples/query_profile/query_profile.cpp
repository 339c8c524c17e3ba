// What a profiling database says about a forward pass, asked in SQL: the slowest layer, the slowest
// replay with the state it had, and what memory holds where most is in use. query_profile.sql asks
// the same of any SQLite client.
// usage: query_profile [profiling database]
#include <cstdio>

#include "reprise/core/printable.h"
#include "reprise/reprise.h"
#include "reprise/sql_query.h"

using reprise::field, reprise::Tensor;

/// Two layers, the second with sixteen times the weights; 40 replays.
static void record(const std::string& path) {
  const auto device = reprise::open_device("cpu");
  reprise::GraphExecutor executor(device, {.profile = path, .timing = reprise::TimingMode::node});
  constexpr std::int64_t kDim = 64;
  auto layout = reprise::StateLayout().host("pos", 0);
  const reprise::StateBlock state(device, layout.derived("kv_len", field("pos") + 1));
  auto s = executor.begin_recorded({.name = "decode", .state = state});
  Tensor x = s.input("x", {1, kDim}, std::vector<float>(kDim, 0.5F));
  for (std::int32_t layer = 0; layer < 2; ++layer) {
    const auto scope = s.scope("layer", layer);
    const std::int64_t wide = layer == 0 ? kDim : 16 * kDim;
    const std::vector<float> values(static_cast<std::size_t>(wide * kDim), 0.01F);
    const Tensor up = device.from_host({wide, kDim}, values, "up");
    const Tensor down = device.from_host({kDim, wide}, values, "down");
    const Tensor right = matmul(s, x, up);
    x = add(s, x, matmul(s, silu_mul(s, matmul(s, x, up), right), down));
  }
  s.output("y", x);
  auto graph = s.finish().graph;
  for (int i = 0; i < 40; ++i) {
    state.set("pos", i);
    graph.launch();
  }
}

/// Prints the rows of one column of text.
static void print(const std::string& path, const std::string& sql) {
  for (const auto& row : reprise::run_sql(path, sql).rows) {
    if (const auto* text = std::get_if<std::string>(row.data())) {
      std::printf("%s\n", reprise::printable(*text).c_str());
    }
  }
}

int main(int argc, char** argv) try {
  const std::string path = argc > 1 ? argv[1] : "query_profile.db";
  if (argc < 2) {
    record(path);
  }
  // Of the last replay with times of its steps: which recording that is, of which run and graph.
  const std::string latest =
      "WITH latest AS (SELECT c.id, c.run_id, c.graph_id FROM step_timings t JOIN replays r ON "
      "r.id = t.replay_id JOIN recordings c ON c.id = r.recording_id ORDER BY c.run_id DESC, r.id "
      "DESC LIMIT 1) ";
  print(path, latest +
                  "SELECT printf('run %d, ''%s'', %d nodes', l.run_id, g.name, (SELECT count(*) "
                  "FROM nodes n WHERE n.graph_id = g.id)) FROM latest l JOIN graphs g ON g.id = "
                  "l.graph_id");
  // Medians of nodes, by the first part of the scope.
  print(path, latest +
                  ", layers AS (SELECT substr(scope || '/', 1, instr(scope || '/', '/') - 1) AS "
                  "layer, sum(p50_us) AS us FROM v_top_nodes JOIN latest USING (run_id, graph_id) "
                  "WHERE scope <> '' GROUP BY layer) SELECT printf('slowest of %d scopes: %s, %.1f "
                  "us', count(*), layer, max(us)) FROM layers HAVING count(*) > 0");
  print(path,
        latest +
            ", timed AS (SELECT r.id, r.seq, r.device_ns FROM replays r JOIN recordings c ON "
            "c.id = r.recording_id JOIN latest l ON c.run_id = l.run_id AND c.graph_id = "
            "l.graph_id WHERE r.warm_up = 0 AND r.device_ns IS NOT NULL), slowest AS (SELECT "
            "* FROM timed ORDER BY device_ns DESC LIMIT 1) SELECT printf('slowest of %d "
            "replays: number %d, %.2f times the median; state: %s', (SELECT count(*) FROM "
            "timed), s.seq, s.device_ns / (SELECT median(device_ns) FROM timed), (SELECT "
            "group_concat(field || ' = ' || value, ' ') FROM v_replay_state WHERE replay_id = "
            "s.id)) FROM slowest s");
  print(path, latest +
                  "SELECT printf('most of the arena in use: %d bytes in step %d', m.live_bytes, "
                  "m.step) FROM v_memory_peak m JOIN latest USING (graph_id)");
  print(path, latest +
                  "SELECT printf('  %6d bytes, steps %d to %d: %s', p.nbytes, p.first_use, "
                  "p.last_use, p.name) FROM latest JOIN v_memory_peak m USING (graph_id) JOIN "
                  "v_memory_plan p ON p.graph_id = m.graph_id AND m.step BETWEEN p.first_use AND "
                  "p.last_use WHERE p.alias_of IS NULL ORDER BY p.nbytes DESC");
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
