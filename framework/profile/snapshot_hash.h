// What snapshots.content_hash holds: of the values of a tensor, its dtype and its shape.
#pragma once
#include "framework/graph/hasher.h"

namespace reprise::profile {

inline std::string snapshot_hash(std::string_view dtype, std::string_view shape_json,
                                 std::span<const std::byte> bytes) {
  return Hasher().text(dtype).text(shape_json).bytes(bytes).hex();
}

}  // namespace reprise::profile
