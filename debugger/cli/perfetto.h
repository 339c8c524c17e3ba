// Runs in the trace format of Chrome, which ui.perfetto.dev and chrome://tracing open. Processes
// are the host and the devices of each run, named by its rank; tracks are threads with their
// scopes, launches, waits, events and queues. An arrow leads from each submit to its work on the
// device. A device's clock is compared with the host's where the run did that; else work is drawn
// as if it began when submitting ended.
#pragma once
#include <ostream>

#include "debugger/cli/trace_rows.h"

namespace reprise::cli {

/// Replays without step times are one slice. Throws as the readers.
void write_perfetto(const std::string& path, const TraceChoice& choice, std::ostream& out);

}  // namespace reprise::cli
