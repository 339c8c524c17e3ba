// Counts what a thread takes from the heap: the test program's operator new counts.
#pragma once
#include <cstdint>

namespace reprise::testing {

/// Calls of operator new by this thread so far.
std::uint64_t heap_allocations();

}  // namespace reprise::testing
