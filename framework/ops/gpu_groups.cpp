#include "framework/ops/gpu_groups.h"

#include <algorithm>
#include <bit>
#include <string>

#include "framework/core/op.h"
#include "reprise/core/error.h"

namespace reprise::ops {

void require_loop_limit(const BoundCall& call, const DeviceTraits& traits, std::int64_t turns,
                        std::int64_t columns) {
  if (traits.cpu_type && turns > kMaxTurns) {
    throw_error(ErrorCode::unsupported, call.op.name, " over rows of (", columns,
                ") columns needs loops of ", turns,
                " turns, but this software driver runs at most ", kMaxTurns, ".");
  }
}

Groups grid_of_tiles(const Shape& y, std::int64_t rows, std::int64_t columns) {
  const auto dims = y.padded();
  const auto over = [](std::int64_t count, std::int64_t each) {
    return static_cast<std::uint64_t>((count + each - 1) / each);
  };
  const auto matrices = static_cast<std::uint64_t>(dims[0] * dims[1]);
  const std::array<std::uint64_t, 3> counts{over(dims[2], rows), over(dims[3], columns), matrices};
  return y.rank() < 3 ? groups_along(counts, 0, {y, counts[0], static_cast<std::uint32_t>(rows)})
                      : groups_along(counts, 2, {y, matrices});
}

std::uint32_t group_size(std::int64_t items, std::uint32_t max, const DeviceTraits& traits) {
  constexpr std::int64_t kLeast = 32;
  const std::uint32_t limit = std::bit_floor(std::min(max, traits.max_workgroup_size));
  const auto wanted = static_cast<std::uint32_t>(std::clamp<std::int64_t>(items, kLeast, limit));
  return std::min(std::bit_ceil(wanted), limit);
}

bool rows_begin_at(const View& view, std::uint32_t elements) {
  return view.offset % elements == 0 &&
         std::all_of(view.strides.begin(), view.strides.end() - 1,
                     [&](std::uint32_t stride) { return stride % elements == 0; });
}

}  // namespace reprise::ops
