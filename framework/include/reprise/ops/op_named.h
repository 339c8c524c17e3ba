// The ops of the library by name, for what is read from files.
#pragma once
#include <string>
#include <string_view>

#include "reprise/core/op.h"

namespace reprise {

/// Null if the library has none of that name. Views leave no nodes and are not among them.
const OpDef* op_named(std::string_view name);
/// Changes with everything a recorded node of the op relies on: operands, results, attributes and
/// where they lie.
std::string schema_text(const OpDef& op);

}  // namespace reprise
