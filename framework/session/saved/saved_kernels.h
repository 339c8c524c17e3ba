// Kernels of the program's own in graph files: what they were compiled from, never a function.
#pragma once
#include "framework/core/custom_op.h"
#include "framework/graph/saved_graph.h"
#include "reprise/session/saved_graphs.h"

namespace reprise {

/// Throws unsupported, naming it, for a kernel that has a function alone.
SavedKernel saved_kernel(const CustomOp& kernel, std::uint32_t op);
/// The one that is given in the options, or else what the file holds, compiled if it is trusted.
/// Throws invalid_argument, naming it, if it is not given and cannot be compiled, or if the given
/// one is another.
CustomKernel loaded_kernel(const Device& device, const SavedKernel& saved,
                           const LoadOptions& options);

}  // namespace reprise
