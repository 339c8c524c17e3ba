#include "debugger/cli/trace_graph.h"

#include <algorithm>

#include "debugger/cli/captured.h"
#include "debugger/model/memory_map.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kMaxScopes = 64;  // around each other

/// What a file may hold: sums of a few cannot overflow.
std::int64_t bounded(std::uint64_t ns) {
  return static_cast<std::int64_t>(std::min(ns, std::uint64_t{1} << 58U));
}

std::string arguments_of(const Capture& capture, std::uint32_t n) {
  const Capture::Node& node = capture.nodes[n];
  JsonFields tensors;
  for (std::uint32_t o = node.operands.first; o < node.operands.first + node.operands.count; ++o) {
    const Capture::Operand& operand = capture.operands[o];
    const Capture::Tensor& tensor = capture.tensors[operand.tensor];
    tensors.text(operand.name, tensor.dtype + " " + tensor.shape_json);
  }
  return JsonFields()
      .number("node", n)
      .text("scope", node.scope)
      .text("label", node.label)
      .text("source", source_of(node))
      .raw("tensors", "{" + tensors.json() + "}")
      .json();
}

/// "layer.3", "layer.3/attn".
std::vector<std::string_view> scopes_around(std::string_view scope) {
  std::vector<std::string_view> scopes;
  std::size_t end = 0;
  while (end < scope.size() && scopes.size() < kMaxScopes) {
    end = std::min(scope.find('/', end + 1), scope.size());
    scopes.push_back(scope.substr(0, end));
  }
  return scopes;
}

}  // namespace

TraceGraph::TraceGraph(Capture capture) : capture_(std::move(capture)) {
  for (std::uint32_t n = 0; n < capture_.nodes.size(); ++n) {
    node_arguments_.push_back(arguments_of(capture_, n));
  }
}

std::int64_t TraceGraph::end_ns(std::span<const CapturedStepTime> times) {
  std::int64_t end = 0;
  for (const CapturedStepTime& step : times) {
    end = std::max(end, bounded(step.start_ns) + bounded(step.duration_ns.value_or(0)));
  }
  return end;
}

std::vector<TraceGraph::Slice> TraceGraph::slices(std::span<const CapturedStepTime> times) const {
  std::vector<Slice> slices;
  std::vector<std::size_t> open;  // scopes around the last node: positions in slices
  std::optional<std::size_t> last;
  std::int64_t end = 0;  // of the step before: what a damaged file says may overlap
  for (std::size_t s = 0; s < times.size(); ++s) {
    const Capture::Step& step = capture_.steps[s];
    if (!times[s].duration_ns) {
      continue;
    }
    const std::int64_t duration = bounded(*times[s].duration_ns);
    const std::int64_t begin = std::max(bounded(times[s].start_ns), end);
    end = std::max(begin, bounded(times[s].start_ns) + duration);
    if (!last || !step.node || slices[*last].node != step.node) {
      const auto around = scopes_around(
          step.node ? std::string_view(capture_.nodes[*step.node].scope) : std::string_view());
      std::size_t same = 0;
      while (same < std::min(open.size(), around.size()) &&
             slices[open[same]].name == around[same]) {
        ++same;
      }
      open.resize(same);
      for (std::size_t a = same; a < around.size(); ++a) {
        open.push_back(slices.size());
        slices.push_back({around[a], begin});
      }
      last = slices.size();
      slices.push_back(
          {step.node ? capture_.nodes[*step.node].op : step.kind, begin, 0, step.node});
    }
    slices[*last].end_ns = end;
    slices[*last].duration_ns += duration;
    ++slices[*last].steps;
    for (const std::size_t scope : open) {
      slices[scope].end_ns = end;
    }
  }
  return slices;
}

std::string TraceGraph::arguments(const Slice& slice) const {
  if (!slice.node) {
    return {};
  }
  const Capture::Node& node = capture_.nodes[*slice.node];
  JsonFields fields;
  fields.number("duration_ns", slice.duration_ns);
  if (slice.duration_ns > 0 && slice.steps == node.steps.count) {
    const double ns = static_cast<double>(slice.duration_ns);
    if (const auto bytes = bytes_of(node)) {
      fields.real("gb_per_s", static_cast<double>(*bytes) / ns);
    }
    if (node.flops) {
      fields.real("gflops_per_s", static_cast<double>(*node.flops) / ns);
    }
  }
  return node_arguments_[*slice.node] + "," + fields.json();
}

void TraceGraph::write(TraceWriter& writer, TraceTrack track, std::int64_t begin_ns,
                       std::span<const CapturedStepTime> times) const {
  for (const Slice& slice : slices(times)) {
    writer.slice(track, slice.name, begin_ns + slice.begin_ns, begin_ns + slice.end_ns,
                 arguments(slice));
  }
}

void TraceGraph::write_memory(TraceWriter& writer, int process, std::int64_t begin_ns,
                              std::span<const CapturedStepTime> times) const {
  const debugger::MemoryMap map = debugger::make_memory_map(capture_);
  for (std::size_t s = 0; s < std::min(times.size(), map.live.size()); ++s) {
    writer.counter(process, "arena in use (bytes)", begin_ns + bounded(times[s].start_ns),
                   static_cast<double>(map.live[s]));
  }
}

}  // namespace reprise::cli
