#pragma once
#include "reprise/core/recorder.h"

namespace reprise {

struct SolveTriangularAttributes {
  bool unit = false;  // the diagonal counts as ones and is not read
};

/// Solves a * x = b for a lower triangular a; elements above its diagonal are not read. A zero on
/// the diagonal divides by zero: infinities or NaN from its row on. Sums in f32, f64 in the
/// reference.
/// Shapes: a: [.., n, n], b: [.., n, columns] f32 with the same leading dimensions, any strides; x:
/// as b.
/// Errors: invalid_argument if shapes do not match; unsupported if n is above the number of loop
/// iterations that a software driver runs.
/// Source: Golub & Van Loan, "Matrix Computations", algorithm 3.1.1 (forward substitution by rows).
[[nodiscard]] Tensor solve_triangular(Site site, TensorRef a, TensorRef b,
                                      SolveTriangularAttributes attributes = {});

}  // namespace reprise
