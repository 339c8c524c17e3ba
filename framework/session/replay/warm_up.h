// Makes kernels ready before they are needed.
#pragma once
#include "reprise/backend/backend.h"
#include "reprise/session/finish_report.h"

namespace reprise {

/// Creates each different kernel of the steps and runs it once over no workgroups, with memory of
/// its own for all bindings: drivers that compile at first use do it now. Waits for it.
WarmUp warm_up(Backend& backend, const StepList& steps);

}  // namespace reprise
