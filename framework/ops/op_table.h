// The table of all ops, generated from the list in framework/ops/CMakeLists.txt.
#pragma once
#include <span>

#include "framework/core/op.h"

namespace reprise::ops {

std::span<const OpDef* const> all_ops();

}  // namespace reprise::ops
