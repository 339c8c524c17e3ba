// The ops of the library: all of them, and by name for what is read from files.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "reprise/core/op.h"

namespace reprise {

/// By name. Views leave no nodes and are not among them.
std::span<const OpDef* const> library_ops();
/// Null if the library has none of that name.
const OpDef* op_named(std::string_view name);
/// Changes with everything a recorded node of the op relies on: operands, results, attributes and
/// where they lie.
std::string schema_text(const OpDef& op);

}  // namespace reprise
