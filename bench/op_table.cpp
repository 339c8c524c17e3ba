#include "bench/op_table.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "bench/arguments.h"
#include "bench/ceilings.h"
#include "bench/op_call.h"
#include "bench/op_list.h"
#include "bench/samples.h"
#include "framework/core/op.h"
#include "framework/programs/json_output.h"
#include "reprise/core/printable.h"
#include "reprise/graph/compute_graph.h"
#include "reprise/ops/op_named.h"

namespace reprise::bench {
namespace {

constexpr double kMostReferenceNs = 1e9;  // of a row; it runs once at least

std::vector<OpText> calls_of(const OpTableArguments& a) {
  std::vector<OpText> calls;
  if (a.calls.empty()) {
    for (const char* const text : op_list()) {
      calls.emplace_back(text);
    }
    for (const OpDef* op : library_ops()) {
      const bool listed =
          std::ranges::any_of(calls, [&](const OpText& c) { return &c.op() == op; });
      if (!listed && why_not_listed(op->name).empty()) {
        throw std::logic_error("The list of calls lacks the op " + std::string(op->name) + ".");
      }
    }
  }
  for (const std::string& text : a.calls) {
    calls.emplace_back(text);
  }
  std::erase_if(calls,
                [&](const OpText& c) { return c.text().find(a.filter) == std::string::npos; });
  if (calls.empty()) {
    throw_invalid_argument("No call has (", a.filter, ") in its text.");
  }
  return calls;
}

/// A graph of one call without inputs and outputs: nothing but its node takes time.
class Recorded {
 public:
  Recorded(const Device& device, Precision precision, const OpText& call)
      : executor_(device, {.timing = TimingMode::replay, .precision = precision}),
        operands_(call.operands(device)),
        graph_(executor_.capture([&](GraphSession& s) { call.record(s, operands_); }).graph) {}
  double ns() {
    graph_.launch();
    return static_cast<double>(graph_.last_times().device_ns.value_or(0));
  }
  Cost cost() const { return graph_.graph().cost_of(0); }
  GraphExecutor& executor() { return executor_; }

 private:
  GraphExecutor executor_;
  std::vector<Tensor> operands_;
  CapturedGraph graph_;
};

/// The least time that a call can take: for its bytes, and for its arithmetic.
struct Limit {
  double memory_ns = 0, arithmetic_ns = 0;
  double ns() const { return std::max(memory_ns, arithmetic_ns); }
};

Limit limit_of(const Cost& cost, const Ceilings& ceilings) {
  Limit limit;
  if (ceilings.read_gb_s && ceilings.copy_gb_s) {
    const auto read = static_cast<double>(cost.read_bytes);
    const auto write = static_cast<double>(cost.write_bytes);
    const double both = std::min(read, write);
    limit.memory_ns = (both + std::max(write, both)) / *ceilings.copy_gb_s +
                      std::max(read - both, 0.0) / *ceilings.read_gb_s;
  }
  if (ceilings.fma_gflops) {
    limit.arithmetic_ns = static_cast<double>(cost.operations) / *ceilings.fma_gflops;
  }
  return limit;
}

/// Ceilings for as many bytes as a call moves: small ones lie in a nearer cache.
class CeilingsBySize {
 public:
  explicit CeilingsBySize(std::int64_t threads) : threads_(threads) {}
  const Ceilings& of(GraphExecutor& executor, const Cost& cost) {
    const std::uint64_t bytes = std::bit_ceil(cost.read_bytes + cost.write_bytes);
    auto it = known_.find(bytes);
    if (it == known_.end()) {
      it = known_.emplace(bytes, ceilings_of(executor, threads_, bytes)).first;
    }
    return it->second;
  }

 private:
  std::int64_t threads_;
  std::map<std::uint64_t, Ceilings> known_;
};

nlohmann::ordered_json measured(const OpText& call, const Device& device, const Device* references,
                                const OpTableArguments& a, CeilingsBySize& ceilings) {
  const Precision precision = precision_of(a.precision).value();
  Recorded recorded(device, precision, call);
  std::optional<Recorded> slow;
  if (references != nullptr) {
    slow.emplace(*references, precision, call);
  }
  Samples samples;
  double slow_ns = 0;
  for (std::int64_t r = 0; r < a.reps; ++r) {
    samples.add("call", recorded.ns());
    if (slow && slow_ns < kMostReferenceNs) {
      samples.add("reference", slow->ns());
      slow_ns += samples.median("reference");
    }
  }
  const double ns = std::max(samples.median("call"), 1.0);
  const Cost cost = recorded.cost();
  const Limit limit = limit_of(cost, ceilings.of(recorded.executor(), cost));
  nlohmann::ordered_json row{
      {"call", call.text()},
      {"us", ns / 1e3},
      {"gb_s", static_cast<double>(cost.read_bytes + cost.write_bytes) / ns},
      {"gflops", static_cast<double>(cost.operations) / ns},
      {"limit", limit.arithmetic_ns > limit.memory_ns ? "arithmetic" : "memory"},
      {"limit_percent", 100 * limit.ns() / ns},
      {"below_half", limit.ns() > 0 && limit.ns() < ns / 2}};
  if (slow) {
    row["reference_us"] = samples.median("reference") / 1e3;
    row["to_reference"] = samples.median("reference") / ns;
  }
  return row;
}

void print_row(const nlohmann::ordered_json& row, bool references) {
  const auto number = [&](const char* key) { return row[key].get<double>(); };
  std::printf("| %s | %.1f | %.2f | %.2f | %s | %.0f%s |",
              printable(row["call"].get<std::string>()).c_str(), number("us"), number("gb_s"),
              number("gflops"), row["limit"].get<std::string>().c_str(), number("limit_percent"),
              row["below_half"].get<bool>() ? " *" : "");
  if (references) {
    std::printf(" %.1f |", number("to_reference"));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

void print_op_table(const OpTableArguments& a) {
  const std::vector<OpText> calls = calls_of(a);
  const Device device = open_with_threads(a.device, a.threads);
  if (device.info().timestamp_valid_bits == 0) {
    throw std::runtime_error("The device (" + device.info().name + ") cannot time itself.");
  }
  std::optional<Device> references;
  if (a.references) {
    OpenOptions options{.references_only = true};
    options.threads = static_cast<unsigned>(a.threads);
    references = open_device("cpu", options);
  }
  nlohmann::ordered_json json{{"device", device.info().name},
                              {"n_threads", a.threads},
                              {"precision", a.precision},
                              {"rows", nlohmann::ordered_json::array()}};
  if (!a.json) {
    std::printf("%s\n\n| call | us | GB/s | GFLOP/s | limit | %% of it |%s\n",
                printable(device.info().name).c_str(), a.references ? " x reference |" : "");
    std::printf("|---|---:|---:|---:|---|---:|%s\n", a.references ? "---:|" : "");
  }
  CeilingsBySize ceilings(a.threads);
  for (const OpText& call : calls) {
    json["rows"].push_back(
        measured(call, device, references ? &*references : nullptr, a, ceilings));
    if (!a.json) {
      print_row(json["rows"].back(), a.references);
    }
  }
  if (a.json) {
    programs::print_json(json);
  }
}

}  // namespace reprise::bench
