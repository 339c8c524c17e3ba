#include <functional>
#include <iostream>

#include "debugger/cli/db_commands.h"
#include "debugger/cli/graph_svg.h"
#include "debugger/cli/graph_text.h"
#include "debugger/cli/html_page.h"
#include "debugger/cli/perfetto.h"
#include "debugger/cli/terminal.h"
#include "debugger/model/output_file.h"
#include "reprise/core/error.h"

namespace reprise::cli {
namespace {

/// Calls `write` with the file, or with the output for "-".
void write_output(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (path == "-") {
    write(std::cout);
    return;
  }
  const Interrupt interrupt;  // nothing is left of a file that is not finished
  debugger::write_output(path, write, interrupt.token());
}

/// What of the file a trace holds: a run unless a graph or a replay is named.
TraceChoice trace_choice(const ExportCommand& command) {
  if (!command.wish.graph && !command.wish.replay) {
    return {.run = command.run};
  }
  const SelectedCapture choice = choose_capture(command.path, command.wish);
  if (!choice.replay) {
    throw_invalid_argument("There are no step times of graph (", choice.capture.graph,
                           ") to export; `reprise db replays` lists its replays, for --replay.");
  }
  return {.replay = choice.replay};
}

}  // namespace

void export_capture(const ExportCommand& command) {
  if (command.run && (command.wish.graph || command.wish.replay)) {
    throw_invalid_argument("--run (", *command.run,
                           ") is for whole runs; leave out --graph and --replay.");
  }
  const bool graph = !command.dot.empty() || !command.svg.empty() || !command.html.empty();
  if (command.run && graph) {
    throw_invalid_argument("--run (", *command.run,
                           ") is for --perfetto alone; --dot, --svg and --html show one graph, "
                           "which --graph or --replay names.");
  }
  if (!command.perfetto.empty()) {
    const TraceChoice choice = trace_choice(command);
    write_output(command.perfetto,
                 [&](std::ostream& out) { write_perfetto(command.path, choice, out); });
  }
  if (!graph) {
    return;
  }
  const Captured captured = read_captured(command.path, command.wish);
  if (!command.dot.empty()) {
    write_output(command.dot, [&](std::ostream& out) { out << dot_text(captured); });
  }
  if (!command.svg.empty()) {
    write_output(command.svg, [&](std::ostream& out) {
      out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
      write_graph_svg(captured, out);
    });
  }
  if (!command.html.empty()) {
    write_output(command.html,
                 [&](std::ostream& out) { write_html_page(captured, command.path, out); });
  }
}

}  // namespace reprise::cli
