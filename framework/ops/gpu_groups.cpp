#include "framework/ops/gpu_groups.h"

#include <algorithm>
#include <bit>
#include <string>

#include "reprise/core/error.h"

namespace reprise::ops {

void require_turns(const BoundCall& call, const DeviceTraits& traits, std::int64_t turns,
                   std::int64_t columns) {
  if (traits.cpu_type && turns > kMaxTurns) {
    throw Error(ErrorCode::unsupported, std::string(call.op.name) + " over rows of (" +
                                            std::to_string(columns) + ") columns needs loops of " +
                                            std::to_string(turns) +
                                            " turns, but this software driver runs at most " +
                                            std::to_string(kMaxTurns) + ".");
  }
}

std::uint32_t group_size(std::int64_t items, std::uint32_t most, const DeviceTraits& traits) {
  constexpr std::int64_t kLeast = 32;
  const std::uint32_t limit = std::bit_floor(std::min(most, traits.max_workgroup_size));
  const auto wanted = static_cast<std::uint32_t>(std::clamp<std::int64_t>(items, kLeast, limit));
  return std::min(std::bit_ceil(wanted), limit);
}

bool rows_begin_at(const View& view, std::uint32_t elements) {
  return view.offset % elements == 0 &&
         std::all_of(view.strides.begin(), view.strides.end() - 1,
                     [&](std::uint32_t stride) { return stride % elements == 0; });
}

}  // namespace reprise::ops
