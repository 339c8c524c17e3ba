#include "debugger/cli/captured.h"

#include <algorithm>

namespace reprise::cli {

Captured read_captured(const std::string& path, const CaptureSelector& wish) {
  const SelectedCapture choice = choose_capture(path, wish);
  Captured found;
  found.capture = read_capture(path, choice.capture);
  ReplayTable table;
  if (choice.replay) {
    read_new_replays(path, choice.capture, table);
  }
  for (const ReplayRow& row : table.rows) {
    if (row.id == choice.replay) {
      found.replay = row;
      read_step_times(path, std::span(&row.id, 1), found.capture.steps.size(),
                      [&](std::size_t, std::span<const CapturedStepTime> times) {
                        found.times.assign(times.begin(), times.end());
                      });
    }
  }
  return found;
}

NodeTime time_of_node(const Captured& captured, std::uint32_t node) {
  const Capture::Range steps = captured.capture.nodes[node].steps;
  if (captured.times.empty() || steps.count == 0) {
    return {};
  }
  NodeTime time{std::numeric_limits<std::uint64_t>::max(), 0};
  for (std::uint32_t i = steps.first; i < steps.first + steps.count; ++i) {
    const CapturedStepTime& step = captured.times[captured.capture.step_order[i]];
    if (!step.duration_ns) {
      return {};
    }
    time.start_ns = std::min(*time.start_ns, step.start_ns);
    time.duration_ns = *time.duration_ns + *step.duration_ns;
  }
  return time;
}

std::string source_of(const Capture::Node& node) {
  return node.source_file.empty() ? "" : node.source_file + ":" + std::to_string(node.source_line);
}

std::optional<std::uint64_t> bytes_of(const Capture::Node& node) {
  return node.read_bytes && node.write_bytes ? std::optional(*node.read_bytes + *node.write_bytes)
                                             : std::nullopt;
}

std::string title_of(const Captured& captured) {
  const CaptureSummary& summary = captured.capture.summary;
  std::string title = "run " + std::to_string(summary.id.run) + ", graph " +
                      std::to_string(summary.id.graph) + " '" + summary.name + "'";
  if (captured.replay) {
    title += ", replay " + std::to_string(captured.replay->id);
  }
  return title;
}

void add_facts(const Captured& captured, Report& report) {
  const CaptureSummary& summary = captured.capture.summary;
  report.add_fact("run", summary.id.run);
  report.add_fact("graph", summary.id.graph);
  report.add_fact("graph_name", summary.name);
  report.add_fact("replay", captured.replay ? Cell(captured.replay->id) : Cell::none());
  for (const FileProblem& problem : captured.capture.problems) {
    report.notes.push_back("The file is damaged: " + problem.text);
  }
}

}  // namespace reprise::cli
