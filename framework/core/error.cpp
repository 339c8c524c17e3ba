#include "reprise/core/error.h"

#include <array>

namespace reprise {

std::string_view name_of(ErrorCode code) {
  constexpr std::array<std::string_view, 17> kNames{"invalid_argument",
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
                                                    "released",
                                                    "busy",
                                                    "driver_error"};
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
      line_bytes_(in_parentheses(to_string(where)).size()) {
  place_.where = where;
}

Error::Error(const Error& cause, std::string_view context, ErrorPlace place)
    : std::runtime_error(
          std::string(cause.what(), std::string_view(cause.what()).size() - cause.line_bytes_) +
          " " + std::string(context)),
      code_(cause.code_),
      place_(std::move(place)) {
  const ErrorPlace& inner = cause.place_;
  if (inner.op != ErrorPlace::kNoOp) {
    place_.op = inner.op;
    place_.scope = inner.scope;
    place_.where = inner.where;
  }
  if (!inner.graph.empty()) {
    place_.graph = inner.graph;
  }
  if (inner.submission) {
    place_.replay = inner.replay;
    place_.submission = inner.submission;
  }
}

}  // namespace reprise
