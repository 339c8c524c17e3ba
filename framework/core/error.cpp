#include "reprise/core/error.h"

#include <array>

namespace reprise {

std::string_view name_of(ErrorCode code) {
  constexpr std::array<std::string_view, 15> kNames{"invalid_argument",
                                                    "unsupported",
                                                    "stale",
                                                    "out_of_memory",
                                                    "device_lost",
                                                    "timeout",
                                                    "io",
                                                    "shut_down",
                                                    "unknown_name",
                                                    "dtype_mismatch",
                                                    "shape_mismatch",
                                                    "size_mismatch",
                                                    "missing_input",
                                                    "extent_out_of_range",
                                                    "released"};
  return kNames[static_cast<std::size_t>(code)];
}

void invalid(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

}  // namespace reprise
