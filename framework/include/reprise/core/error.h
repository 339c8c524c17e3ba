// The one exception type of the library.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace reprise {

/// Who called an op. Not std::source_location: clang 14 lacks it with libstdc++ 12.
struct SourceLocation {
  const char* file = "";
  const char* function = "";
  std::uint32_t line = 0;
  /// As a default argument: where the function was called.
  static SourceLocation here(const char* file = __builtin_FILE(),
                             const char* function = __builtin_FUNCTION(),
                             std::uint32_t line = __builtin_LINE()) {
    return {file, function, line};
  }
};
/// "model.cpp:41"; empty without a line.
std::string to_string(const SourceLocation& where);

enum class ErrorCode : std::uint8_t {
  invalid_argument,  // the caller's mistake
  unsupported,       // valid, but not on this device or in this version
  stale,             // recorded with memory that was freed since
  out_of_memory,
  device_lost,
  timeout,
  io,
  shut_down,       // the device was, by its user
  unknown_name,    // of an input, an output, a param, a handle
  dtype_mismatch,  // what is given has another dtype
  shape_mismatch,
  size_mismatch,  // another number of bytes, or of elements
  missing_input,  // a run was not given everything it needs
  extent_out_of_range,
  released,  // what a ticket held, after its release
};
std::string_view name_of(ErrorCode code);

/// what() is a full sentence with the actual and the allowed values. Errors thrown while recording
/// also say which op, in which scope, called from where.
class Error : public std::runtime_error {
 public:
  static constexpr std::uint32_t kNoOp = 0xFFFFFFFF;

  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /// What was called before the recording knew of it: with its file and line appended.
  Error(ErrorCode code, const std::string& message, SourceLocation where);
  /// `cause` with the place in a recording appended, instead of its own.
  Error(const Error& cause, std::string_view context, std::uint32_t op, std::string scope,
        SourceLocation where);

  ErrorCode code() const { return code_; }
  std::uint32_t op_index() const { return op_; }
  const std::string& scope() const { return scope_; }
  SourceLocation where() const { return where_; }

 private:
  ErrorCode code_;
  std::size_t place_bytes_ = 0;  // at the end of what(), of an error without an op
  std::uint32_t op_ = kNoOp;
  std::string scope_;
  SourceLocation where_;
};

/// Throws Error(invalid_argument, message).
[[noreturn]] void throw_invalid_argument(const std::string& message);

}  // namespace reprise
