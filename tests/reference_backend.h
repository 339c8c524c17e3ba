// The oracle as a backend of its own: every op runs its float64 reference, one after another, in
// host memory. Also the shortest example of what a backend has to do.
#pragma once

namespace reprise::testing {

/// As "reference". Once per process.
void register_reference_backend();

}  // namespace reprise::testing
