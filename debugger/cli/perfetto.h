// One replay in the trace format of Chrome, which ui.perfetto.dev and chrome://tracing open.
// Source: "Trace Event Format" (Duca and Sinclair); times are microseconds.
#pragma once
#include <string>

#include "debugger/cli/captured.h"

namespace reprise::cli {

/// Tracks: the host (prepare, submit, wait), the queue (a slice per node with times, in the scopes
/// around it), an arrow from the submit to the first node, and the bytes of the arena in use. The
/// clocks of host and device differ: the device is drawn as if it began when submitting ended.
std::string perfetto_json(const Captured& captured);

}  // namespace reprise::cli
