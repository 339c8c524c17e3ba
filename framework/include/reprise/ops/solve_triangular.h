#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct SolveTriangularAttributes {
  bool unit = false;  // the diagonal counts as ones, whatever it holds
};

/// The x of a * x = b, for a lower triangular a; what lies above its diagonal is not read.
/// a: [.., n, n], b: [.., n, columns] f32 with the same leading dimensions, any strides. x: as b.
/// A zero on the diagonal divides by zero: infinities or NaN from its row on.
/// Errors: invalid_argument if shapes do not match; unsupported if n is above what the loops of a
/// software driver run.
/// Source: Golub & Van Loan, "Matrix Computations", algorithm 3.1.1 (forward substitution by rows).
/// Sums in f32, f64 in the reference.
[[nodiscard]] Tensor solve_triangular(Site site, TensorRef a, TensorRef b,
                                      SolveTriangularAttributes attributes = {});

}  // namespace reprise
