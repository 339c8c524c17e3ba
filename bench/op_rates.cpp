// How near does each op of the llama sample's graphs come to what the device can do? The ops are
// those of the graphs that models record; no list of ops or architectures is kept here.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/ceilings.h"
#include "bench/commands.h"
#include "bench/llama_run.h"
#include "bench/model_facts.h"
#include "bench/networks.h"
#include "bench/op_table.h"
#include "bench/temporary_profile.h"
#include "framework/core/op.h"
#include "framework/profile/profile_reader.h"
#include "framework/programs/json_output.h"
#include "reprise/backend/backend.h"
#include "reprise/core/printable.h"
#include "reprise/graph/compute_graph.h"
#include "reprise/graph/execution_plan.h"

namespace reprise::bench {
namespace {

struct OpRatesArguments {
  std::vector<std::string> models, networks;
  std::string device = "auto", precision = "exact", by = "shape";
  std::string filter;  // part of the text of a row; empty: all
  std::int64_t prompt = 128, threads = 1, reps = 20;
  bool json = false;
};

/// Of a call without a model.
struct OpCallArguments {
  std::string op;
  std::vector<std::string> shapes, attributes;
  bool references = false;
};

OpTableArguments table_of(const OpRatesArguments& a, const OpCallArguments& call) {
  OpTableArguments table{.calls = {},
                         .filter = a.filter,
                         .device = a.device,
                         .precision = a.precision,
                         .threads = a.threads,
                         .reps = a.reps,
                         .references = call.references,
                         .json = a.json};
  if (!call.op.empty()) {
    std::string text = call.op;
    for (const auto* words : {&call.shapes, &call.attributes}) {
      for (const std::string& word : *words) {
        text += " " + word;
      }
    }
    table.calls = {text};
  } else if (!call.shapes.empty() || !call.attributes.empty()) {
    throw_invalid_argument("--shape and --set are of the op that --op names; give one.");
  }
  return table;
}

/// The nodes of one model's graph that run the same op on the same shapes; or by op, those of the
/// graphs of that name of all models that run it on any.
struct OpRow {
  std::set<std::string> models;
  std::string graph, op;
  std::uint64_t nodes = 0, bytes = 0, operations = 0;
  double ns = 0, share = 0;  // of the medians of all nodes of the graph
  bool below_bias = false;   // of some node half of the times are mostly the cost of measuring
};

/// By name of the graph, one text per node.
using Texts = std::map<std::string, std::vector<std::string>>;

/// The replays of one model.
struct Measurement {
  std::string model;  // the file's name
  ModelFacts facts;
  Texts texts;
  TopNodes top;
};

/// "matmul f32 [1, 288] f16 [768, 288]": the op and what it reads.
std::string text_of(const ComputeGraph& graph, const Node& node) {
  std::string text(node.op->name);
  for (const Use& use : graph.uses_of(node)) {
    if (use.slot < node.op->operands.size() && use.tensor != graph.state_tensor) {
      const TensorSpec& spec = graph.tensors[use.tensor].spec;
      text += " " + std::string(name_of(spec.dtype)) + " " + to_string(spec.shape);
    }
  }
  return text;
}

/// A call of the CPU that runs the float64 reference of its op says so.
void add_texts(const CapturedGraph& captured, const Device& device, bool by_op, Texts& texts) {
  const ComputeGraph& graph = captured.graph();
  std::vector<std::string>& list = texts[graph.name];
  for (const Node& node : graph.nodes) {
    list.push_back(by_op ? std::string(node.op->name) : text_of(graph, node));
  }
  const StepList& steps = captured.plan().steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool reference = steps[i].kind == StepKind::call &&
                           device.backend().support(steps, i).kind == SupportKind::lowered;
    if (reference && steps[i].node < list.size()) {
      list[steps[i].node] += " (reference)";
    }
  }
}

/// By the model they are of, or by "" if those of all models go together.
using Rows = std::map<std::string, std::vector<OpRow>>;

void add_rows(const Measurement& measured, std::vector<OpRow>& rows) {
  const double bias = static_cast<double>(measured.top.timestamp_bias_ns.value_or(0));
  for (const NodeTimes& times : measured.top.nodes) {
    const std::string& graph = times.node.graph_name;
    const std::string& op = measured.texts.at(graph).at(static_cast<std::size_t>(times.node.index));
    auto row =
        std::ranges::find_if(rows, [&](const OpRow& r) { return r.graph == graph && r.op == op; });
    if (row == rows.end()) {
      row = rows.insert(row, OpRow{.models = {}, .graph = graph, .op = op});
    }
    row->models.insert(measured.model);
    ++row->nodes;
    row->bytes += times.node.bytes.value_or(0);
    row->operations += times.node.flops.value_or(0);
    row->ns += std::max(static_cast<double>(times.p50_ns) - bias, 0.0);
    row->below_bias = row->below_bias || times.below_bias;
  }
}

/// The slowest first, graph by graph; those whose text has the filter in it.
std::vector<OpRow> finished(std::vector<OpRow> rows, const std::string& filter) {
  std::map<std::string, double> whole;
  for (const OpRow& row : rows) {
    whole[row.graph] += row.ns;
  }
  for (OpRow& row : rows) {
    row.share = whole[row.graph] > 0 ? row.ns / whole[row.graph] : 0;
  }
  std::erase_if(rows, [&](const OpRow& row) { return row.op.find(filter) == std::string::npos; });
  std::ranges::stable_sort(rows, [](const OpRow& a, const OpRow& b) {
    return a.graph != b.graph ? a.graph < b.graph : a.ns > b.ns;
  });
  return rows;
}

/// Units per nanosecond; empty where nothing was counted or measured.
std::optional<double> rate(std::uint64_t units, double ns) {
  return units == 0 || ns <= 0 ? std::nullopt : std::optional(static_cast<double>(units) / ns);
}

std::optional<double> percent(std::optional<double> value, std::optional<double> of) {
  return value && of ? std::optional(100 * *value / *of) : std::nullopt;
}

nlohmann::ordered_json json_of(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json to_json(const OpRow& row, const Ceilings& ceilings) {
  const auto gb_s = rate(row.bytes, row.ns);
  const auto gflops = rate(row.operations, row.ns);
  return {{"models", row.models},
          {"graph", row.graph},
          {"op", row.op},
          {"nodes", row.nodes},
          {"us", row.ns / 1e3},
          {"share", row.share},
          {"gb_s", json_of(gb_s)},
          {"gb_s_percent", json_of(percent(gb_s, ceilings.read_gb_s))},
          {"gflops", json_of(gflops)},
          {"gflops_percent", json_of(percent(gflops, ceilings.fma_gflops))},
          {"below_bias", row.below_bias}};
}

std::string cell(const nlohmann::ordered_json& value, const char* format, double scale = 1) {
  if (value.is_null()) {
    return "-";
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value.get<double>() * scale);
  return text.data();
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : ", ") + text;
  }
  return all;
}

/// "mamba-f16", or "all", or "all but mamba-f16" where that is shorter.
std::string text_of_models(const std::vector<std::string>& some,
                           const std::vector<std::string>& all) {
  std::vector<std::string> others;
  std::ranges::copy_if(all, std::back_inserter(others), [&](const std::string& model) {
    return std::ranges::find(some, model) == some.end();
  });
  if (all.size() > 1 && others.size() < some.size()) {
    return "all" + (others.empty() ? "" : " but " + joined(others));
  }
  return joined(some);
}

void print_table(const nlohmann::ordered_json& json) {
  std::printf("%s, %s: read %s GB/s, multiply-add %s GFLOP/s\n\n",
              printable(json["device"].get<std::string>()).c_str(),
              printable(joined(json["model_types"])).c_str(),
              cell(json["read_gb_s"], "%.2f").c_str(), cell(json["fma_gflops"], "%.1f").c_str());
  std::printf("| models | graph | op | nodes | us | %% of time | GB/s | %% | GFLOP/s | %% |\n");
  std::printf("|---|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const auto& row : json["rows"]) {
    std::printf("| %s | %s | %s | %s | %s%s | %s | %s | %s | %s | %s |\n",
                printable(text_of_models(row["models"], json["models"])).c_str(),
                row["graph"].get<std::string>().c_str(), row["op"].get<std::string>().c_str(),
                cell(row["nodes"], "%.0f").c_str(), cell(row["us"], "%.1f").c_str(),
                row["below_bias"].get<bool>() ? " *" : "", cell(row["share"], "%.1f", 100).c_str(),
                cell(row["gb_s"], "%.2f").c_str(), cell(row["gb_s_percent"], "%.0f").c_str(),
                cell(row["gflops"], "%.2f").c_str(), cell(row["gflops_percent"], "%.0f").c_str());
  }
}

ExecutorOptions executor_options(const TemporaryProfile& profile, const OpRatesArguments& a) {
  return {.profile = profile.path,
          .timing = TimingMode::node,
          .precision = precision_of(a.precision).value()};
}

TopNodes top_of(const Measurement& measured, const TemporaryProfile& profile) {
  std::size_t nodes = 1;
  for (const auto& [graph, list] : measured.texts) {
    nodes += list.size();
  }
  return read_top_nodes(profile.path, {.limit = nodes});
}

Measurement measure(const Device& device, const std::string& path, const OpRatesArguments& a) {
  const auto file = GgufFile::open(path);
  require_between("-p", a.prompt, 2, llama::sizes_of(file).context);
  Measurement measured{std::filesystem::path(path).stem().string(), facts_of(file), {}, {}};
  const TemporaryProfile profile;
  {
    GraphExecutor executor(device, executor_options(profile, a));
    // The cache is as long as what is seen of it: the costs of attention are those of all of it.
    const llama::Model model = llama::load_model(device, file, a.prompt);
    LlamaRun run(executor, model, llama::Mode::recorded);
    for (std::int64_t i = 0; i <= a.reps; ++i) {  // the first of each graph is its warm-up
      run.prompt(0, a.prompt, a.prompt);
      run.generate(a.prompt - 1, 1);
    }
    for (const auto& [rows, captured] : run.graphs()) {
      add_texts(captured, device, a.by == "op", measured.texts);
    }
  }
  measured.top = top_of(measured, profile);
  return measured;
}

Measurement measure_network(const Device& device, const std::string& name,
                            const OpRatesArguments& a) {
  Measurement measured{name, {.type = name + " network f32"}, {}, {}};
  const TemporaryProfile profile;
  {
    GraphExecutor executor(device, executor_options(profile, a));
    GraphSession session = executor.begin_recorded({.name = name});
    measured.facts.bytes = record_network(session, device, name);
    CapturedGraph graph = session.finish().graph;
    for (std::int64_t i = 0; i < a.reps; ++i) {
      graph.launch();
    }
    add_texts(graph, device, a.by == "op", measured.texts);
  }
  measured.top = top_of(measured, profile);
  return measured;
}

/// Prints a table or one JSON object; README.md says what the columns mean.
void print_op_rates(const OpRatesArguments& a) {
  const Device device = open_with_threads(a.device, a.threads);
  if (device.info().timestamp_valid_bits == 0) {
    throw std::runtime_error("The device (" + device.info().name + ") cannot time itself.");
  }
  Rows rows;
  std::uint64_t most_bytes = 0, bias = 0;
  nlohmann::ordered_json names, types, sizes;
  const auto add = [&](const Measurement& measured, const std::string& key) {
    names.push_back(measured.model);
    types.push_back(measured.facts.type);
    sizes.push_back(measured.facts.bytes);
    most_bytes = std::max(most_bytes, measured.facts.bytes);
    bias = std::max<std::uint64_t>(bias, measured.top.timestamp_bias_ns.value_or(0));
    add_rows(measured, rows[a.by == "op" ? "" : key]);
  };
  for (const std::string& path : a.models) {
    add(measure(device, path, a), path);
  }
  for (const std::string& network : a.networks) {
    add(measure_network(device, network, a), network);
  }
  GraphExecutor executor(device);
  const Ceilings ceilings = ceilings_of(executor, a.threads, most_bytes);
  nlohmann::ordered_json json{{"device", device.info().name},
                              {"models", names},
                              {"model_types", types},
                              {"model_sizes", sizes},
                              {"n_prompt", a.prompt},
                              {"n_threads", a.threads},
                              {"precision", a.precision},
                              {"read_gb_s", json_of(ceilings.read_gb_s)},
                              {"fma_gflops", json_of(ceilings.fma_gflops)},
                              {"timestamp_bias_ns", bias},
                              {"rows", nlohmann::ordered_json::array()}};
  for (auto& [model, of_model] : rows) {
    for (const OpRow& row : finished(std::move(of_model), a.filter)) {
      json["rows"].push_back(to_json(row, ceilings));
    }
  }
  if (a.json) {
    programs::print_json(json);
  } else {
    print_table(json);
  }
}

}  // namespace

void add_op(CLI::App& app) {
  const auto a = std::make_shared<OpRatesArguments>();
  CLI::App* ops = app.add_subcommand(
      "op", "Bytes and operations per second of each op of the llama sample, against ceilings");
  const auto call = std::make_shared<OpCallArguments>();
  ops->add_option("-m,--model", a->models,
                  "GGUF files: the ops of their graphs. Without one, calls by themselves");
  ops->add_option("--network", a->networks, "Passes that are no decoders, with random weights")
      ->check(CLI::IsMember(network_names()));
  ops->add_option("--op", call->op, "One call of this op");
  ops->add_option("--shape", call->shapes,
                  "Its operands in order: f32[64,56,56], f32[6,64]{1,0} permuted, - for none");
  ops->add_option("--set", call->attributes, "Its attributes that are not 0: stride=2");
  ops->add_flag("--references", call->references,
                "Without a model, of the CPU: beside the float64 references");
  ops->add_option("--by", a->by, "shape: a row per model and shapes; op: one per op of all models")
      ->check(CLI::IsMember({"shape", "op"}))
      ->capture_default_str();
  ops->add_option("-p,--n-prompt", a->prompt,
                  "Tokens of the prompt; decoding is measured at its last")
      ->capture_default_str();
  ops->add_option("-t,--threads", a->threads, "Threads of the CPU backend")->capture_default_str();
  ops->add_option("-r,--repetitions", a->reps, "Measured replays of each graph")
      ->capture_default_str();
  ops->add_option("--device", a->device, "auto, cpu, vulkan or vulkan:<number>")
      ->capture_default_str();
  ops->add_option("--precision", a->precision, "exact or fast")
      ->check(CLI::IsMember({"exact", "fast"}))
      ->capture_default_str();
  ops->add_option("--filter", a->filter, "Only ops whose text has this in it: matmul, q8_0");
  ops->add_flag("--json", a->json, "Print one JSON object");
  ops->callback([a, call] {
    require_between("-t", a->threads, 1, kMaxThreads);
    require_between("-r", a->reps, 1, kMaxReps);
    a->models.empty() && a->networks.empty() ? print_op_table(table_of(*a, *call))
                                             : print_op_rates(*a);
  });
}

}  // namespace reprise::bench
