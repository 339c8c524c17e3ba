// The ops of the library: all of them, and by name for ops that are read from files.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace reprise {

struct OpDef;

/// Returns all ops, sorted by name. Views leave no nodes and are not among them.
std::span<const OpDef* const> library_ops();
/// Finds an op; null if the library has none of that name.
const OpDef* op_named(std::string_view name);
/// Returns a text that changes with everything a recorded node of the op relies on: operands,
/// results, attributes and their places.
std::string schema_text(const OpDef& op);

}  // namespace reprise
