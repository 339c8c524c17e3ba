#include "reprise/session/numerics.h"

#include <algorithm>
#include <map>

#include "framework/graph/structure_hash.h"
#include "framework/graph/tensor_names.h"
#include "framework/session/device/value_text.h"
#include "framework/session/executor/host_clock.h"
#include "framework/session/replay/recording.h"

namespace reprise {

class NumericsComparison {
 public:
  NumericsComparison(CapturedGraph& graph, CapturedGraph& reference, const NumericsOptions& options)
      : graph_(graph.inner()), reference_(reference.inner()), options_(options) {}

  NumericsReport run() {
    require_same_structure();
    const TappedRun actual = graph_.run_tapped(options_.tensors);
    const TappedRun expected = reference_.run_tapped(options_.tensors);
    std::map<std::uint32_t, const TappedRun::Tensor*> by_tensor;
    for (const TappedRun::Tensor& tensor : expected.tensors) {
      by_tensor[tensor.tap.tensor] = &tensor;
    }
    const ComputeGraph& graph = graph_.graph();
    const std::vector<std::string> names = tensor_names(graph);
    wrong_.resize(graph.storages.size());
    NumericsReport report{graph.name, reference_.device().info().name, options_.tolerance, {}};
    for (const TappedRun::Tensor& tensor : actual.tensors) {
      const auto found = by_tensor.find(tensor.tap.tensor);
      if (found == by_tensor.end() || found->second->bytes.size() != tensor.bytes.size()) {
        continue;
      }
      ComparedResult result{tensor.tap.node, tensor.tap.tensor, names[tensor.tap.tensor]};
      result.deviation =
          deviation_of(tensor.spec.dtype, tensor.bytes, found->second->bytes, options_.tolerance);
      result.pass = !result.deviation.first_bad;
      result.input_differs = reads_wrong(tensor.tap.node);
      wrong_[graph.tensors[tensor.tap.tensor].storage] = !result.pass;
      report.results.push_back(std::move(result));
    }
    profile(report);
    return report;
  }

 private:
  void require_same_structure() const {
    const ComputeGraph& a = graph_.graph();
    const ComputeGraph& b = reference_.graph();
    if (structure_hash(a) == structure_hash(b)) {
      return;
    }
    throw_invalid_argument(
        "Numbers are compared between recordings of one pass, but '" + a.name +
        "' and its reference differ first at " + describe_difference(a, b) +
        ". If both record the same ops, look for calls that are arguments of one call: "
        "compilers evaluate those in different orders.");
  }

  /// Whether an operand did not pass when it was last computed.
  bool reads_wrong(std::uint32_t node) const {
    const ComputeGraph& graph = graph_.graph();
    const std::span<const Use> uses = graph.uses_of(graph.nodes[node]);
    return std::ranges::any_of(uses, [&](const Use& use) {
      return use.slot < graph.nodes[node].op->operands.size() &&
             wrong_[graph.tensors[use.tensor].storage];
    });
  }

  void profile(const NumericsReport& report) const {
    if (graph_.reporter().id() == 0) {
      return;
    }
    ProfileSink& sink = graph_.core().profile()->sink();
    for (const ComparedResult& result : report.results) {
      const Deviation& d = result.deviation;
      sink.send(ComparisonRecord{graph_.reporter().id(), result.node, result.tensor, result.name,
                                 report.reference, d.max_abs, d.max_rel, d.rmse, d.cosine,
                                 d.first_bad, result.input_differs, report.tolerance, result.pass,
                                 now_ns()});
    }
  }

  Recording& graph_;
  Recording& reference_;
  const NumericsOptions& options_;
  std::vector<bool> wrong_;  // by storage: its last result did not pass
};

NumericsReport compare_numerics(CapturedGraph& graph, CapturedGraph& reference,
                                const NumericsOptions& options) {
  return NumericsComparison(graph, reference, options).run();
}

bool NumericsReport::pass() const { return std::ranges::all_of(results, &ComparedResult::pass); }

std::optional<ComparedResult> NumericsReport::first_diverging() const {
  const auto it = std::ranges::find_if(
      results, [](const ComparedResult& r) { return !r.pass && !r.input_differs; });
  return it == results.end() ? std::nullopt : std::optional(*it);
}

std::string NumericsReport::text() const {
  const auto wrong = std::ranges::count(results, false, &ComparedResult::pass);
  std::string text =
      "'" + graph + "' against " + reference + ", " + std::to_string(results.size()) + " results: ";
  text += wrong == 0 ? "all within " : std::to_string(wrong) + " differ by more than ";
  text += decimal(tolerance);
  for (const ComparedResult& r : results) {
    if (!r.pass) {
      text += "\nnode " + std::to_string(r.node) + " " + r.name + ": by " +
              decimal(r.deviation.max_rel) + " (" + decimal(r.deviation.max_abs) +
              "), first in element " + std::to_string(r.deviation.first_bad.value_or(0)) +
              (r.input_differs ? "; its inputs differ" : "");
    }
  }
  return text;
}

}  // namespace reprise
