// Counts what the calling thread takes from the heap through operator new.
#pragma once
#include <cstdint>

namespace reprise::bench {

/// Calls of operator new by this thread so far. Memory that drivers take with malloc is not
/// counted.
std::uint64_t heap_calls();

}  // namespace reprise::bench
