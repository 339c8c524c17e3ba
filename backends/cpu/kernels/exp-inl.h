// exp() of f32 vectors, good to a rounding, for arguments up to 88; below -104 it is 0.
#include "backends/cpu/kernels/simd-inl.h"
// Guards itself; after Highway's own headers.
#include <hwy/contrib/math/math-inl.h>
