// Makes kernels ready before they are needed.
#pragma once
#include <memory>
#include <span>

#include "reprise/backend/backend.h"
#include "reprise/session/finish_report.h"

namespace reprise {

/// Creates each different kernel of the steps and runs it once over no workgroups, with the
/// bindings that it will have: drivers that compile at first use, and anew for memory of another
/// size, do it now. Nothing is read or written. Waits for it.
/// `pools`: by Binding::pool.
WarmUp warm_up(Backend& backend, const StepList& steps,
               std::span<const std::shared_ptr<Buffer>> pools);

}  // namespace reprise
