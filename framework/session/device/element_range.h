// Which numbers elements of a dtype can be.
#pragma once
#include <string>

#include "reprise/core/dtype.h"

namespace reprise {

/// The shortest digits that are this number.
std::string text_of(double value);

/// Throws invalid_argument for dtypes other than f32, f16 and, with `integers`, i32. `rule`:
/// "uniform".
void require_dtype(const char* rule, DType dtype, bool integers = true);

/// Throws invalid_argument if no element of f32, f16 or i32 is, or is rounded to, this number.
/// `what`: "the start of arange". `beyond`: how far above the largest element it may be.
void require_held(const std::string& what, DType dtype, double value, double beyond = 0);

}  // namespace reprise
