// Runs a function on a stack of its own: for libraries that descend by recursion into what a caller
// brings, where the depth is bounded but not small.
#pragma once
#include <functional>

namespace reprise::vulkan {

/// Returns when `work` has, and throws what it threw; out_of_memory where no thread with `bytes` of
/// stack can be made. Address space only: what is not used takes no memory.
void run_on_large_stack(std::size_t bytes, const std::function<void()>& work);

}  // namespace reprise::vulkan
