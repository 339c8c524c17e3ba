// From the rows of a file to a recording, through the checks of a session.
#pragma once
#include <filesystem>

#include "framework/session/replay/recording.h"
#include "reprise/session/saved_graphs.h"

namespace reprise {

/// See GraphExecutor::load_graph.
LoadedGraph load_saved_graph(const std::shared_ptr<ExecutorCore>& core,
                             const std::filesystem::path& path, const LoadOptions& options);
/// See CapturedGraph::save.
void save_recording(const Recording& recording, const std::filesystem::path& path);

}  // namespace reprise
