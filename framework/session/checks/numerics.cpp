#include "reprise/session/numerics.h"

#include <algorithm>
#include <map>

#include "framework/graph/structure_hash.h"
#include "framework/graph/tensor_names.h"
#include "framework/session/device/value_text.h"
#include "framework/session/executor/host_clock.h"
#include "framework/session/replay/recording.h"

namespace reprise {

namespace {

void require_same_structure(const ComputeGraph& a, const ComputeGraph& b) {
  if (structure_hash(a) == structure_hash(b)) {
    return;
  }
  throw_invalid_argument(
      "Numbers are compared between recordings of one pass, but '", a.name,
      "' and its reference differ first at ", describe_difference(a, b),
      ". If both record the same ops, look for calls that are arguments of one call: "
      "compilers evaluate those in different orders.");
}

/// Rows of the table comparisons, where there is a profiling database.
void send_results(Recording& recording, const NumericsReport& report) {
  if (recording.reporter().id() == 0) {
    return;
  }
  ProfileSink& sink = recording.core().profile()->sink();
  for (const ComparedResult& result : report.results) {
    const Deviation& d = result.deviation;
    sink.send(ComparisonRecord{recording.reporter().id(), result.node, result.tensor, result.name,
                               report.reference, d.max_abs, d.max_rel, d.rmse, d.cosine,
                               d.first_bad, result.input_differs, report.tolerance, result.pass,
                               now_ns()});
  }
}

}  // namespace

NumericsReport compare_numerics(CapturedGraph& graph, CapturedGraph& reference,
                                const NumericsOptions& options) {
  const ComputeGraph& of = graph.graph();
  require_same_structure(of, reference.graph());
  const TappedRun actual = graph.inner().run_tapped(options.tensors);
  const TappedRun expected = reference.inner().run_tapped(options.tensors);
  std::map<std::uint32_t, const TappedRun::Tensor*> by_tensor;
  for (const TappedRun::Tensor& tensor : expected.tensors) {
    by_tensor[tensor.tap.tensor] = &tensor;
  }
  const std::vector<std::string> names = tensor_names(of);
  std::vector<bool> wrong(of.storages.size());  // the last result in it did not pass
  const auto reads_wrong = [&](const Node& node) {
    return std::ranges::any_of(of.uses_of(node), [&](const Use& use) {
      return use.slot < node.op->operands.size() && wrong[of.tensors[use.tensor].storage];
    });
  };
  NumericsReport report{of.name, reference.inner().device().info().name, options.tolerance, {}};
  for (const TappedRun::Tensor& tensor : actual.tensors) {
    const auto found = by_tensor.find(tensor.tap.tensor);
    if (found == by_tensor.end() || found->second->bytes.size() != tensor.bytes.size()) {
      continue;
    }
    ComparedResult result{tensor.tap.node, tensor.tap.tensor, names[tensor.tap.tensor]};
    result.deviation =
        deviation_of(tensor.spec.dtype, tensor.bytes, found->second->bytes, options.tolerance);
    result.pass = !result.deviation.first_bad;
    result.input_differs = reads_wrong(of.nodes[tensor.tap.node]);
    wrong[of.tensors[tensor.tap.tensor].storage] = !result.pass;
    report.results.push_back(std::move(result));
  }
  send_results(graph.inner(), report);
  return report;
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
