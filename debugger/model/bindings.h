// Which memory a recording was made with, and what became of it since: a graph goes on using what
// it was recorded with, so memory that was freed under it is the first suspect for wrong results.
#pragma once
#include <string>
#include <vector>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

enum class BindingState : std::uint8_t {
  unknown,    // the file does not say which buffer it is
  live,       // not freed while the graph was in use
  too_small,  // the buffer has fewer bytes than the plan takes
  freed,      // while the graph was in use: the next launch is refused until it is rebound
  replayed,   // replays were submitted after it was freed
};
bool is_stale(BindingState state);

/// The buffer that serves as a pool of the latest recording of a graph.
struct Binding {
  BindingState state = BindingState::unknown;
  std::int64_t buffer = 0;  // a row of the table buffers
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t recorded_ns = 0;          // since the run began
  std::optional<std::int64_t> freed_ns;  // the same
  std::uint64_t replays_after = 0;       // submitted after it was freed
  /// The latest buffer of the same name and kind that was made after it, if it was freed.
  std::optional<std::int64_t> successor;
};

struct Bindings {
  std::vector<Binding> of_pool;  // one per pool of the capture
  std::string stale_reason;      // of the latest recording that was found stale; empty: none was
  std::size_t left_out = 0;      // rows of recording_pools of pools that the graph does not have
};

/// Throws as the readers.
Bindings read_bindings(const std::filesystem::path& path, const Capture& capture,
                       const std::stop_token& stop = {});

/// "recorded with buffer 10, freed 3.00 ms after it; buffer 30 has its name now"
std::string binding_text(const Binding& binding);

/// Whether a node reads or writes memory whose binding is stale; one per node.
std::vector<bool> nodes_with_stale_bindings(const Capture& capture, const Bindings& bindings);

}  // namespace reprise::debugger
