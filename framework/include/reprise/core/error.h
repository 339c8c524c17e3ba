// The one exception type of the library.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace reprise {

/// The place of a call. Not std::source_location: clang 14 lacks it with libstdc++ 12.
struct SourceLocation {
  const char* file = "";
  const char* function = "";
  std::uint32_t line = 0;
  /// Returns the place where the function was called, if used as a default argument.
  static SourceLocation here(const char* file = __builtin_FILE(),
                             const char* function = __builtin_FUNCTION(),
                             std::uint32_t line = __builtin_LINE()) {
    return {file, function, line};
  }
};
/// Returns "model.cpp:41"; empty without a line.
std::string to_string(const SourceLocation& where);

enum class ErrorCode : std::uint8_t {
  invalid_argument,  // order of calls, options that do not apply, values out of range
  unsupported,       // valid, but not on this device or in this version
  stale,             // recorded with memory that was freed since
  out_of_memory,
  device_lost,
  timeout,
  io,
  shut_down,       // the device or the executor was shut down by its owner
  unknown_name,    // of an input, output, param, handle, state field, extent, expert layer or op
  dtype_mismatch,  // the argument has a different dtype
  shape_mismatch,
  size_mismatch,  // a different number of bytes or elements
  missing_input,  // a launch or a session lacks a value or a param
  extent_out_of_range,
  released,      // the ticket was released, and with it what it held
  busy,          // tickets hold all slots, or a prepared run is open
  driver_error,  // the driver failed for no reason that the caller could mend
};
std::string_view name_of(ErrorCode code);

/// Where an error happened, as far as that is known.
struct ErrorPlace {
  static constexpr std::uint32_t kNoOp = 0xFFFFFFFF;
  std::uint32_t op = kNoOp;  // number of calls before it; in a finished graph, its node
  std::string scope{};
  SourceLocation where{};  // of that call
  std::string graph{};
  std::optional<std::uint64_t> replay{};      // as in the table replays
  std::optional<std::uint64_t> submission{};  // of the device
};

/// what() is a full sentence with the actual and the allowed values. It ends with the place.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /// Appends file and line to the message: for calls that the recording does not know yet.
  Error(ErrorCode code, const std::string& message, SourceLocation where);
  /// Appends `context` to `cause`. A place that `cause` has takes precedence over `place`.
  Error(const Error& cause, std::string_view context, ErrorPlace place);

  ErrorCode code() const { return code_; }
  const ErrorPlace& place() const { return place_; }

 private:
  ErrorCode code_;
  std::size_t line_bytes_ = 0;  // length of the line at the end of what(), if that is all it has
  ErrorPlace place_;
};

/// Joins texts and numbers: joined_text("at byte (", offset, ")").
template <class... Parts>
std::string joined_text(const Parts&... parts) {
  std::string text;
  const auto append = [&text](const auto& part) {
    if constexpr (std::is_convertible_v<decltype(part), std::string_view>) {
      text += part;
    } else {
      static_assert(!std::is_same_v<std::decay_t<decltype(part)>, char>, "give it as a text");
      text += std::to_string(part);
    }
  };
  (append(parts), ...);
  return text;
}

/// Throws an error whose message is made of texts and numbers.
template <class... Parts>
[[noreturn]] void throw_error(ErrorCode code, const Parts&... parts) {
  throw Error(code, joined_text(parts...));
}
template <class... Parts>
[[noreturn]] void throw_invalid_argument(const Parts&... parts) {
  throw_error(ErrorCode::invalid_argument, parts...);
}

}  // namespace reprise
