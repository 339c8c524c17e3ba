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

std::string to_string(const SourceLocation& where) {
  return where.line == 0 ? "" : std::string(where.file) + ":" + std::to_string(where.line);
}

namespace {

std::string in_parentheses(const std::string& text) {
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

Error::Error(ErrorCode code, const std::string& message, SourceLocation where)
    : std::runtime_error(message + in_parentheses(to_string(where))),
      code_(code),
      place_bytes_(in_parentheses(to_string(where)).size()),
      where_(where) {}

Error::Error(const Error& cause, std::string_view context, std::uint32_t op, std::string scope,
             SourceLocation where)
    : std::runtime_error(
          std::string(cause.what(), std::string_view(cause.what()).size() - cause.place_bytes_) +
          " " + std::string(context)),
      code_(cause.code_),
      op_(op),
      scope_(std::move(scope)),
      where_(where) {}

void throw_invalid_argument(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

}  // namespace reprise
