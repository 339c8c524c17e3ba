// What a profiling database says about a forward pass, through the readers of the library: the
// slowest layer, the slowest replay with the state it had, and what memory holds where most is in
// use. query_profile.sql asks the same of any SQLite client.
// usage: query_profile [profiling database]
#include <algorithm>
#include <cstdio>
#include <map>

#include "reprise/core/printable.h"
#include "reprise/profile/selected_capture.h"
#include "reprise/reprise.h"

using reprise::Capture, reprise::field, reprise::printable, reprise::Tensor;

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

static void print_slowest_layer(const std::string& path, const Capture& capture) {
  const auto tables = read_node_timings(path, capture.summary.id);
  std::map<std::string, std::uint64_t> layers;  // medians of nodes, by the first part of the scope
  for (std::size_t n = 0; !tables.empty() && n < capture.nodes.size(); ++n) {
    const std::string& scope = capture.nodes[n].scope;
    if (tables[0].nodes[n] && !scope.empty()) {
      layers[scope.substr(0, scope.find('/'))] += tables[0].nodes[n]->p50_ns;
    }
  }
  const auto slowest =
      std::ranges::max_element(layers, {}, [](const auto& layer) { return layer.second; });
  if (slowest != layers.end()) {
    std::printf("slowest of %zu scopes: %s, %.1f us\n", layers.size(),
                printable(slowest->first).c_str(), static_cast<double>(slowest->second) / 1e3);
  }
}

static void print_slowest_replay(const std::string& path, const Capture& capture) {
  reprise::ReplayTable table;
  read_new_replays(path, capture.summary.id, table);
  std::vector<std::size_t> order;  // rows with times, the fastest first
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (!table.rows[r].warm_up && table.rows[r].device_ns) {
      order.push_back(r);
    }
  }
  const auto time = [&](std::size_t r) { return static_cast<double>(*table.rows[r].device_ns); };
  std::ranges::sort(order, {}, time);
  if (order.empty()) {
    return;
  }
  std::printf("slowest of %zu replays: number %llu, %.2f times the median; state:", order.size(),
              static_cast<unsigned long long>(table.rows[order.back()].sequence),
              time(order.back()) / time(order[order.size() / 2]));
  for (const Capture::StateField& of : capture.state_fields) {
    const std::size_t word = order.back() * table.state_words + of.offset_bytes / 4;
    std::printf(" %s = %d", printable(of.name).c_str(),
                static_cast<std::int32_t>(table.state[word]));
  }
  std::printf("\n");
}

static void print_memory_at_peak(const Capture& capture) {
  const auto live = [&](const Capture::Tensor& t, std::uint32_t step) {
    return t.pool && capture.pools[*t.pool].kind == "arena" && !t.alias_of && t.first_step &&
           t.last_step && *t.first_step <= step && step <= *t.last_step;
  };
  std::uint64_t max = 0;
  std::uint32_t peak = 0;
  for (std::uint32_t step = 0; step < capture.steps.size(); ++step) {
    std::uint64_t bytes = 0;
    for (const Capture::Tensor& t : capture.tensors) {
      bytes += live(t, step) ? t.bytes : 0;
    }
    peak = bytes > max ? step : peak;
    max = std::max(max, bytes);
  }
  std::printf("most of the arena in use: %llu bytes in step %u\n",
              static_cast<unsigned long long>(max), peak);
  for (const Capture::Tensor& t : capture.tensors) {
    if (live(t, peak)) {
      std::printf("  %6llu bytes, steps %u to %u: %s\n", static_cast<unsigned long long>(t.bytes),
                  *t.first_step, *t.last_step, printable(t.name).c_str());
    }
  }
}

int main(int argc, char** argv) try {
  const std::string path = argc > 1 ? argv[1] : "query_profile.db";
  if (argc < 2) {
    record(path);
  }
  const Capture capture = read_capture(path, reprise::choose_capture(path, {}).capture);
  std::printf("run %lld, '%s', %zu nodes\n", static_cast<long long>(capture.summary.id.run),
              printable(capture.summary.name).c_str(), capture.nodes.size());
  print_slowest_layer(path, capture);
  print_slowest_replay(path, capture);
  print_memory_at_peak(capture);
} catch (const reprise::Error& error) {
  std::fprintf(stderr, "error: %s\n", reprise::printable_lines(error.what()).c_str());
  return 1;
}
