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
};

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
  /// `cause` with the place in a recording appended.
  Error(const Error& cause, std::string_view context, std::uint32_t op, std::string scope,
        SourceLocation where)
      : std::runtime_error(std::string(cause.what()) + " " + std::string(context)),
        code_(cause.code_),
        op_(op),
        scope_(std::move(scope)),
        where_(where) {}

  ErrorCode code() const { return code_; }
  std::uint32_t op_index() const { return op_; }
  const std::string& scope() const { return scope_; }
  SourceLocation where() const { return where_; }

 private:
  ErrorCode code_;
  std::uint32_t op_ = kNoOp;
  std::string scope_;
  SourceLocation where_;
};

/// Throws Error(invalid_argument, message).
[[noreturn]] void invalid(const std::string& message);

}  // namespace reprise
