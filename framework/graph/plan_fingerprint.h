// What a plan consists of and was made for, as facts that can be stored and compared.
#pragma once
#include <functional>
#include <optional>

#include "framework/graph/saved_graph.h"

namespace reprise {

/// 0.1.0
std::string_view library_version();

/// In order: the library, the traits of the device, the kernels, then steps, grids, places,
/// barriers and the arena. `code_of` gives the hash of a kernel's code; empty: it has none of its
/// own, the library's version stands for it.
std::vector<FingerprintPart> fingerprint_of(
    const ExecutionPlan& plan, const DeviceTraits& traits,
    const std::function<std::string(const Kernel&)>& code_of);

/// "kernel matmul.f16 (64, 4): (1f..) in the file, (a0..) here": the first part that differs;
/// empty if none does.
std::optional<std::string> first_difference(const std::vector<FingerprintPart>& in_file,
                                            const std::vector<FingerprintPart>& here);

}  // namespace reprise
