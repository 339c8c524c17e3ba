// What are the kernels of the CPU worth, beside the float64 references of their ops?
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/commands.h"
#include "bench/samples.h"
#include "framework/programs/json_output.h"
#include "reprise/graph/compute_graph.h"
#include "reprise/reprise.h"

namespace reprise::bench {
namespace {

struct KernelsArguments {
  std::string filter, format = "table";  // or json
  long long threads = 1, reps = 20;
};

constexpr double kMostNs = 1e9;  // of the reference of a row, which runs once at least

/// A session without inputs and outputs: nothing but its one node takes time.
struct Call {
  GraphSession& s;
  const Device& device;

  Tensor x(const Shape& shape) const { return device.normal(shape, DType::f32, 1, 0, 1, "x"); }
  Tensor x(const Shape& shape, DType dtype) const {
    if (dtype == DType::f32) {
      return x(shape);
    }
    GraphExecutor executor(device);
    auto session = executor.begin();
    session.output("y", cast(session, x(shape), dtype));
    return device.from_host(shape, dtype, session.finish().read<std::byte>("y"), "x");
  }
  /// Different ones, below `end`.
  Tensor ids(std::int64_t count, std::int64_t end) const {
    std::vector<std::int32_t> all(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<std::int32_t>((static_cast<std::int64_t>(i) * 5 + 1) % end);
    }
    return device.from_host({count}, all, "ids");
  }
};

struct Row {
  std::string name;
  std::function<void(const Call&)> record;
  bool product = false;  // multiply-adds count, not bytes
};

std::vector<Row> movement_rows() {
  std::vector<Row> rows{
      {"copy [1500, 6, 64] permuted {1, 0, 2}",
       [](const Call& c) {
         (void)copy(c.s, permute(c.s, c.x({1500, 6, 64}), {1, 0, 2}));
       }},
      {"copy [2048, 1024] transposed",
       [](const Call& c) {
         (void)copy(c.s, permute(c.s, c.x({2048, 1024}), {1, 0}));
       }},
      {"copy [2000, 1000] transposed",
       [](const Call& c) {
         (void)copy(c.s, permute(c.s, c.x({2000, 1000}), {1, 0}));
       }},
      {"cast [2048, 2048] f16 to f32",
       [](const Call& c) {
         (void)cast(c.s, c.x({2048, 2048}, DType::f16), DType::f32);
       }},
      {"concat 2 x [1500, 384] along 1",
       [](const Call& c) {
         (void)concat(c.s, c.x({1500, 384}), c.x({1500, 384}), 1);
       }},
      {"pad [64, 112, 112] by 1",
       [](const Call& c) {
         (void)pad(c.s, c.x({64, 112, 112}), {.before = {0, 1, 1}, .after = {0, 1, 1}});
       }},
      {"repeat [8, 1, 64] to [8, 512, 64]", [](const Call& c) {
         (void)repeat(c.s, c.x({8, 1, 64}), {8, 512, 64});
       }}};
  for (const DType dtype : {DType::f16, DType::q8_0, DType::q4_0}) {
    rows.push_back(
        {"cast [2048, 2048] f32 to " + std::string(name_of(dtype)), [dtype](const Call& c) {
           (void)cast(c.s, c.x({2048, 2048}), dtype);
         }});
  }
  for (const DType dtype : {DType::f32, DType::f16, DType::q8_0, DType::q4_0}) {
    rows.push_back(
        {"get_rows 512 of [1024, 1024] " + std::string(name_of(dtype)), [dtype](const Call& c) {
           (void)get_rows(c.s, c.x({1024, 1024}, dtype), c.ids(512, 1024));
         }});
  }
  return rows;
}

std::vector<Row> rows_of_rows() {
  std::vector<Row> rows;
  const auto add = [&](const char* op, std::initializer_list<Shape> shapes, auto call) {
    for (const Shape& shape : shapes) {
      rows.push_back({op + (" " + to_string(shape)),
                      [shape, call](const Call& c) { (void)call(c.s, c.x(shape)); }});
    }
  };
  add("softmax", {{1182, 197}, {9000, 1500}, {1, 152064}},
      [](auto& s, const Tensor& x) { return softmax(s, x); });
  add("layer_norm", {{1500, 384}}, [](auto& s, const Tensor& x) { return layer_norm(s, x); });
  add("l2_norm", {{1500, 384}}, [](auto& s, const Tensor& x) { return l2_norm(s, x); });
  add("sum", {{2048, 2048}}, [](auto& s, const Tensor& x) { return sum(s, x); });
  add("sum_rows", {{1500, 384}}, [](auto& s, const Tensor& x) { return sum_rows(s, x); });
  add("mean", {{1500, 384}}, [](auto& s, const Tensor& x) { return mean(s, x); });
  add("max", {{1500, 384}}, [](auto& s, const Tensor& x) { return reprise::max(s, x); });
  add("cumsum", {{100, 4096}}, [](auto& s, const Tensor& x) { return cumsum(s, x); });
  add("pool_2d 3 x 3 by 2", {{64, 112, 112}}, [](auto& s, const Tensor& x) {
    return pool_2d(s, x, {.height = 3, .width = 3, .stride_y = 2, .stride_x = 2});
  });
  add("pool_2d 2 x 2 mean", {{64, 112, 112}},
      [](auto& s, const Tensor& x) { return pool_2d(s, x, {.mode = PoolMode::mean}); });
  add("causal_mask", {{8, 512, 512}}, [](auto& s, const Tensor& x) { return causal_mask(s, x); });
  add("argsort", {{1, 152064}, {64, 1024}}, [](auto& s, const Tensor& x) { return argsort(s, x); });
  add("top_k 40", {{1, 152064}}, [](auto& s, const Tensor& x) { return top_k(s, x, {.k = 40}); });
  add("top_k 1000", {{1, 152064}},
      [](auto& s, const Tensor& x) { return top_k(s, x, {.k = 1000}); });
  const auto sampled = [](const SampleAttributes& a) {
    return [a](auto& s, const Tensor& x) { return sample(s, x, a); };
  };
  add("sample greedy", {{1, 152064}}, sampled({.temperature = 0}));
  add("sample all", {{1, 152064}}, sampled({}));
  add("sample top_k 40", {{1, 152064}}, sampled({.top_k = 40}));
  add("sample top_p 0.9", {{1, 152064}}, sampled({.top_p = 0.9F}));
  add("route_top_k 8", {{512, 128}},
      [](auto& s, const Tensor& x) { return route_top_k(s, x, {.k = 8}).ids; });
  return rows;
}

std::vector<Row> convolution_rows() {
  std::vector<Row> rows;
  const auto one = [&](const char* name, const Shape& x, const Shape& w, DType dtype,
                       Conv1dAttributes a) {
    rows.push_back(
        {name, [=](const Call& c) { (void)conv_1d(c.s, c.x(x), c.x(w, dtype), a); }, true});
  };
  const auto two = [&](const char* name, const Shape& x, const Shape& w, Conv2dAttributes a) {
    rows.push_back({name, [=](const Call& c) { (void)conv_2d(c.s, c.x(x), c.x(w), a); }, true});
  };
  one("conv_1d [96, 1500], 96 x 3, f32", {96, 1500}, {96, 96, 3}, DType::f32, {.padding = 1});
  one("conv_1d [96, 3000], 96 x 3 by 2, f16", {96, 3000}, {96, 96, 3}, DType::f16,
      {.stride = 2, .padding = 1});
  two("conv_2d [64, 56, 56], 64 x 3 x 3", {64, 56, 56}, {64, 64, 3, 3},
      {.padding_y = 1, .padding_x = 1});
  two("conv_2d [64, 56, 56], 64 x 3 x 3 by 2", {64, 56, 56}, {64, 64, 3, 3},
      {.stride_y = 2, .stride_x = 2, .padding_y = 1, .padding_x = 1});
  two("conv_2d [3, 224, 224], 384 patches of 16 x 16", {3, 224, 224}, {384, 3, 16, 16},
      {.stride_y = 16, .stride_x = 16});
  two("conv_2d [96, 56, 56], 3 x 3, depthwise", {96, 56, 56}, {96, 1, 3, 3},
      {.padding_y = 1, .padding_x = 1, .groups = 96});
  return rows;
}

std::vector<Row> all_rows() {
  std::vector<Row> all = movement_rows();
  for (auto&& more : {rows_of_rows(), convolution_rows()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

/// Of a row on one device.
class Recorded {
 public:
  Recorded(const Device& device, const Row& row)
      : executor_(device, {.timing = TimingMode::replay}),
        graph_(executor_.capture([&](GraphSession& s) {
                          row.record({s, device});
                        })
                   .graph) {}
  double ns() {
    graph_.launch();
    return static_cast<double>(graph_.last_times().device_ns.value_or(0));
  }
  Cost cost() const { return graph_.graph().cost_of(0); }

 private:
  GraphExecutor executor_;
  CapturedGraph graph_;
};

nlohmann::ordered_json measured(const Row& row, const Device& device, const Device& reference,
                                long long reps) {
  Recorded kernel(device, row);
  Recorded slow(reference, row);
  Samples samples;
  double slow_ns = 0;
  for (long long r = 0; r < reps; ++r) {
    samples.add("kernel", kernel.ns());
    if (slow_ns < kMostNs) {
      samples.add("reference", slow.ns());
      slow_ns += samples.median("reference");
    }
  }
  const double ns = std::max(samples.median("kernel"), 1.0);
  const Cost cost = kernel.cost();
  return {{"row", row.name},
          {"kernel_ns", ns},
          {"reference_ns", samples.median("reference")},
          {"to_reference", samples.median("reference") / ns},
          {row.product ? "gflop_per_s" : "gb_per_s",
           static_cast<double>(row.product ? cost.operations : cost.read_bytes + cost.write_bytes) /
               ns}};
}

/// README.md says what the columns mean.
void print_kernels(const KernelsArguments& a) {
  require_between("--reps", a.reps, 1, kMaxReps);
  require_between("--threads", a.threads, 0, kMaxThreads);
  std::vector<Row> rows = all_rows();
  std::erase_if(rows, [&](const Row& row) { return row.name.find(a.filter) == std::string::npos; });
  if (rows.empty()) {
    throw_invalid_argument("No row has (" + a.filter + ") in its name.");
  }
  OpenOptions options;
  options.threads = static_cast<unsigned>(a.threads);
  const Device device = open_device("cpu", options);
  options.references_only = true;
  const Device reference = open_device("cpu", options);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  if (a.format == "table") {
    std::printf("%-46s %12s %14s %9s %8s\n", "row", "kernel us", "reference us", "ratio", "rate");
  }
  for (const Row& row : rows) {
    const nlohmann::ordered_json r = measured(row, device, reference, a.reps);
    all.push_back(r);
    if (a.format == "table") {
      const auto value = [&](const char* key) { return r[key].get<double>(); };
      std::printf("%-46s %12.1f %14.1f %9.1f %8.1f %s\n", row.name.c_str(),
                  value("kernel_ns") / 1e3, value("reference_ns") / 1e3, value("to_reference"),
                  value(row.product ? "gflop_per_s" : "gb_per_s"),
                  row.product ? "GFLOP/s" : "GB/s");
      std::fflush(stdout);
    }
  }
  if (a.format == "json") {
    programs::print_json(all);
  }
}

}  // namespace

void add_kernels(CLI::App& app) {
  const auto a = std::make_shared<KernelsArguments>();
  CLI::App* kernels = app.add_subcommand(
      "kernels", "Kernels of the CPU beside the float64 references of their ops");
  kernels->add_option("--row", a->filter, "Rows with this text in their names");
  kernels->add_option("-t,--threads", a->threads, "Threads of the CPU")->capture_default_str();
  kernels->add_option("-r,--reps", a->reps, "Launches of each, in turn")->capture_default_str();
  kernels->add_option("-o,--output", a->format, "Format of the rows")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  kernels->callback([a] { print_kernels(*a); });
}

}  // namespace reprise::bench
