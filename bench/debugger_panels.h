// What it costs the debugger's thread to build a frame with each of its panels, and with all.
#pragma once
#include <filesystem>

#include <nlohmann/json.hpp>

namespace reprise::bench {

/// Milliseconds of CPU of the thread that builds the frame, medians of interleaved rounds, after
/// everything is read: "none" for a frame without any panel, "all" for one with all of them, and
/// one figure for each panel by its id, the frame around it included. Once for the graph "folded",
/// as the debugger opens it, "unfolded", and "in_sight": unfolded, all of it in sight. "open_ms" is
/// the time from nothing to all panels with their contents.
nlohmann::ordered_json measure_panels(const std::filesystem::path& database, int rounds);

}  // namespace reprise::bench
