// Attributes of a node as files hold them: what the schema of the op names, and 0 between.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "reprise/graph/state_layout.h"

namespace reprise {

struct OpDef;

/// The bytes of an attribute struct without what its gaps happen to hold.
std::vector<std::byte> saved_attributes(const OpDef& op, std::span<const std::byte> attributes);
/// Throws invalid_argument unless they may be attributes of the op: as many bytes as it has,
/// booleans of 0 or 1, and state fields of the right type.
void require_attributes(const OpDef& op, std::span<const std::byte> attributes,
                        std::span<const StateFieldInfo> fields);

}  // namespace reprise
