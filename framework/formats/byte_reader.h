// A cursor over little-endian bytes from outside: every read is checked against what is left.
// It never copies or allocates what it reads.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "reprise/core/error.h"

namespace reprise {

class ByteReader {
 public:
  /// `source` is what error messages call these bytes: "GGUF file 'a.gguf'".
  ByteReader(std::span<const std::byte> bytes, std::string source)
      : bytes_(bytes), source_(std::move(source)) {}

  std::uint64_t offset() const { return offset_; }
  std::uint64_t left() const { return bytes_.size() - offset_; }

  /// `what` names the field in an error: "the tensor count".
  template <class T>
  T number(std::string_view what) {
    static_assert(std::is_arithmetic_v<T> && std::endian::native == std::endian::little);
    T value{};
    std::memcpy(&value, bytes(sizeof(T), what).data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> bytes(std::uint64_t count, std::string_view what) {
    if (count > left()) {
      fail(what, " at offset ", offset_, " needs (", count, ") bytes, but only ", left(),
           " are left.");
    }
    const auto part = bytes_.subspan(offset_, static_cast<std::size_t>(count));
    offset_ += part.size();
    return part;
  }
  /// A 64-bit length, then that many bytes.
  std::string_view text(std::string_view what) {
    const auto part = bytes(number<std::uint64_t>(what), what);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  /// `count` items of at least `least_bytes` each must fit in what is left.
  void require_items(std::uint64_t count, std::uint64_t least_bytes, std::string_view what) const {
    if (count > left() / least_bytes) {
      fail(what, " is (", count, "), but the ", left(), " bytes after offset ", offset_,
           " hold at most ", left() / least_bytes, ".");
    }
  }

  /// Throws invalid_argument: "The <source> is malformed: <reason>".
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const {
    throw_invalid_argument("The ", source_, " is malformed: ", reason...);
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  std::string source_;
};

}  // namespace reprise
