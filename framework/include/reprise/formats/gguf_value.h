// One metadata entry of a GGUF file, read in place in the mapped file. Asking for a different type
// than the entry has is an error that names the key and both types.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

/// Numbered as in the file.
enum class GgufValueType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64
};
std::string_view name_of(GgufValueType type);

/// One metadata entry.
/// Lifetime: valid as long as the GgufFile it comes from.
/// Threads: const members may be called concurrently.
class GgufValue {
 public:
  /// Takes `encoded`, `count` elements as in the file, already checked to be complete. `file` is
  /// its path, for messages.
  GgufValue(std::string_view file, std::string_view key, bool is_array, GgufValueType element_type,
            std::uint64_t count, std::span<const std::byte> encoded)
      : file_(file),
        key_(key),
        is_array_(is_array),
        element_type_(element_type),
        count_(count),
        encoded_(encoded) {}

  std::string_view key() const { return key_; }
  bool is_array() const { return is_array_; }
  /// Returns the type of the value, or of each element of an array.
  GgufValueType element_type() const { return element_type_; }
  /// Returns the number of elements; 1 for a value that is no array.
  std::uint64_t count() const { return count_; }

  /// Converts from any integer type.
  /// Errors: invalid_argument if the value is outside [min, max].
  std::int64_t as_integer(std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                          std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
  /// Converts from f32 or f64.
  double as_real() const;
  bool as_bool() const;
  /// Returns text verbatim: may hold NUL, control characters and invalid UTF-8.
  std::string_view as_string() const;

  /// Converts from an array of any integer type.
  /// Errors: invalid_argument above 2^63 - 1.
  std::vector<std::int64_t> as_integers() const;
  std::vector<float> as_floats() const;
  std::vector<std::string_view> as_strings() const;

 private:
  std::int64_t integer_at(std::uint64_t index) const;
  void require(bool matches, bool array, std::string_view wanted) const;

  /// Returns "The metadata value 'k' of the GGUF file 'f'".
  std::string named() const;

  std::string_view file_;
  std::string_view key_;
  bool is_array_;
  GgufValueType element_type_;
  std::uint64_t count_;
  std::span<const std::byte> encoded_;
};

}  // namespace reprise
