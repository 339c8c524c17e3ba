// From a recording to the rows of a file.
#pragma once
#include "framework/graph/saved_graph.h"
#include "framework/session/replay/recording.h"

namespace reprise {

/// Throws invalid_argument, naming it, for a persistent tensor without a name of its own, and
/// unsupported for an op the library does not have.
SavedGraph saved_graph_of(const Recording& recording);
/// What the plan of a recording is, and what it was made for.
std::vector<FingerprintPart> fingerprint_of(const Recording& recording);

}  // namespace reprise
