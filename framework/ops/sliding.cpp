#include "framework/ops/sliding.h"

namespace reprise::ops {

std::int64_t outputs_of(const OpCall& call, std::string_view axis, std::int64_t length,
                        const Sliding& s) {
  const auto among = [&] {
    return std::string(call.op.name) + " along " + std::string(axis) + " of " + describe(call, 0);
  };
  if (s.taps < 1 || s.stride < 1 || s.padding < 0 || s.dilation < 1) {
    throw_invalid_argument(
        among(), " needs taps, a stride and a dilation of at least 1 and a padding of at ",
        "least 0, but got (", s.taps, ", ", s.stride, ", ", s.dilation, ", ", s.padding, ").");
  }
  const std::int64_t reach = s.dilation * (s.taps - 1) + 1;
  const std::int64_t padded = length + 2 * s.padding;
  if (padded < reach) {
    throw_invalid_argument(among(), " needs at least (", reach, ") elements with padding, but ",
                           "has ", padded, ".");
  }
  return (padded - reach) / s.stride + 1;
}

}  // namespace reprise::ops
