// A profiling database in which every panel of the debugger finds something, of a graph of any
// size: what programs leave behind that record a decoder, replay, watch and compare it.
#pragma once
#include <cstddef>
#include <filesystem>

namespace reprise::bench {

/// No more replays are timed per node than that: those of a long run are timed one in many.
inline constexpr std::size_t kMaxTimed = 4'096;

/// Two runs, written through the profile's own writer. The second one, which the debugger shows at
/// first, has a synthetic_graph() of that many nodes with as many replays, results that were
/// watched and compared, kernels with their code, decisions of passes, and events; the first one
/// has a layer less, for comparing both.
void write_full_capture(const std::filesystem::path& path, std::size_t nodes, std::size_t replays);

}  // namespace reprise::bench
