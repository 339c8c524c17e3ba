#include <fstream>
#include <iostream>

#include "debugger/cli/db_commands.h"
#include "debugger/cli/graph_text.h"
#include "debugger/cli/perfetto.h"
#include "reprise/core/error.h"

namespace reprise::cli {
namespace {

void write(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) {
    throw Error(ErrorCode::io, "The file (" + path + ") cannot be written.");
  }
}

}  // namespace

void export_capture(const ExportCommand& command) {
  const Captured captured = read_captured(command.path, command.wish);
  if (!command.perfetto.empty()) {
    if (captured.times.empty()) {
      invalid("There are no step times of graph (" +
              std::to_string(captured.capture.summary.id.graph) +
              ") to export; `reprise db replays` says which replays have some.");
    }
    write(command.perfetto, perfetto_json(captured));
  }
  if (!command.dot.empty()) {
    write(command.dot, dot_text(captured));
  }
}

}  // namespace reprise::cli
