#include "debugger/cli/perfetto.h"

#include <nlohmann/json.hpp>

#include "debugger/model/memory_map.h"
#include "debugger/model/scope_tree.h"
#include "debugger/model/timeline.h"

namespace reprise::cli {
namespace {

using debugger::Timeline;
using debugger::TimelineBar;
using nlohmann::ordered_json;

constexpr int kHost = 1, kDevice = 2;

class Trace {
 public:
  explicit Trace(const Captured& captured)
      : captured_(captured),
        tree_(captured.capture),
        timeline_(debugger::make_timeline(captured.capture, tree_,
                                          captured.replay.value_or(ReplayRow()), captured.times)) {}

  std::string text() {
    name_tracks();
    for (const debugger::HostPhase& phase : timeline_.host) {
      slice(kHost, phase.name, phase.begin, phase.end, ordered_json::object());
    }
    for (const auto& lane : timeline_.scopes) {  // outermost first: viewers nest in this order
      for (const TimelineBar& bar : lane) {
        slice(kDevice, tree_[bar.id].path, bar.begin, bar.end, ordered_json::object());
      }
    }
    add_nodes();
    add_arrow();
    add_memory();
    ordered_json trace;
    trace["displayTimeUnit"] = "ns";
    trace["otherData"] = {{"title", title_of(captured_)}};
    trace["traceEvents"] = std::move(events_);
    return trace.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  }

 private:
  ordered_json& event(const char* phase, int process, const std::string& name) {
    ordered_json event;
    event["ph"] = phase;
    event["pid"] = process;
    event["tid"] = process;
    event["name"] = name;
    events_.push_back(std::move(event));
    return events_.back();
  }

  void name_tracks() {
    const auto name = [&](int process, const std::string& text, const char* track) {
      event("M", process, "process_name")["args"] = {{"name", text}};
      event("M", process, "thread_name")["args"] = {{"name", track}};
    };
    name(kHost, "host", "launches");
    name(kDevice, captured_.capture.summary.device, "queue");
  }

  double microseconds(double ns) const { return (ns - timeline_.begin) / 1e3; }

  void slice(int process, const std::string& name, double begin, double end, ordered_json args) {
    ordered_json& slice = event("X", process, name);
    slice["ts"] = microseconds(begin);
    slice["dur"] = (end - begin) / 1e3;
    slice["args"] = std::move(args);
  }

  void add_nodes() {
    const Capture& capture = captured_.capture;
    for (std::uint32_t n = 0; n < capture.nodes.size(); ++n) {
      const Capture::Range steps = capture.nodes[n].steps;
      const NodeTime time = time_of_node(captured_, n);
      if (!time.duration_ns) {
        continue;
      }
      double end = 0;
      for (std::uint32_t i = steps.first; i < steps.first + steps.count; ++i) {
        const CapturedStepTime& step = captured_.times[capture.step_order[i]];
        end = std::max(end, static_cast<double>(step.start_ns + *step.duration_ns));
      }
      slice(kDevice, capture.nodes[n].op, static_cast<double>(*time.start_ns), end,
            arguments(n, *time.duration_ns));
      first_ns_ = std::min(first_ns_, static_cast<double>(*time.start_ns));
    }
  }

  ordered_json arguments(std::uint32_t n, std::uint64_t duration_ns) const {
    const Capture::Node& node = captured_.capture.nodes[n];
    ordered_json args{{"node", n},
                      {"scope", node.scope},
                      {"label", node.label},
                      {"source", source_of(node)},
                      {"duration_ns", duration_ns}};
    if (const auto bytes = bytes_of(node); bytes && duration_ns > 0) {
      args["gb_per_s"] = static_cast<double>(*bytes) / static_cast<double>(duration_ns);
    }
    for (std::uint32_t o = node.operands.first; o < node.operands.first + node.operands.count;
         ++o) {
      const Capture::Operand& operand = captured_.capture.operands[o];
      const Capture::Tensor& tensor = captured_.capture.tensors[operand.tensor];
      args["tensors"][operand.name] = tensor.dtype + " " + tensor.shape_json;
    }
    return args;
  }

  /// From the middle of the submit, so that it belongs to that slice, to the first node.
  void add_arrow() {
    for (const debugger::HostPhase& phase : timeline_.host) {
      if (std::string_view(phase.name) != "submit" || first_ns_ > timeline_.end) {
        continue;
      }
      ordered_json& from = event("s", kHost, "replay");
      from["cat"] = "launch";
      from["id"] = captured_.replay->id;
      from["ts"] = microseconds((phase.begin + phase.end) / 2);
      ordered_json& to = event("f", kDevice, "replay");
      to["cat"] = "launch";
      to["id"] = captured_.replay->id;
      to["bp"] = "e";  // the slice around it
      to["ts"] = microseconds(first_ns_);
    }
  }

  void add_memory() {
    const debugger::MemoryMap map = debugger::make_memory_map(captured_.capture);
    for (const TimelineBar& step : timeline_.steps) {
      if (step.id < map.live.size()) {
        ordered_json& counter = event("C", kDevice, "arena bytes in use");
        counter["ts"] = microseconds(step.begin);
        counter["args"] = {{"bytes", map.live[step.id]}};
      }
    }
  }

  const Captured& captured_;
  debugger::ScopeTree tree_;
  Timeline timeline_;
  ordered_json events_ = ordered_json::array();
  double first_ns_ = std::numeric_limits<double>::infinity();  // when the first node began
};

}  // namespace

std::string perfetto_json(const Captured& captured) { return Trace(captured).text(); }

}  // namespace reprise::cli
