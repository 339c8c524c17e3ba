// Names that panels do not show as the file has them: bytes that are no text, scopes without an
// end.
#pragma once
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

/// Reads every name to its end, however long the file made it: not for the thread that draws.
std::vector<FileProblem> name_problems(const Capture& capture);

}  // namespace reprise::debugger
