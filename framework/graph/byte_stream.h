// ByteWriter and ByteSource: the same calls write values and read them back, so that one function
// describes a format for both directions. Little-endian; what is read is checked against what is
// left before anything is allocated.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "reprise/core/error.h"

namespace reprise {

static_assert(std::endian::native == std::endian::little);

template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::is_enum_v<T>;

inline constexpr std::uint64_t kLongestText = 65536;  // where nothing else is said

class ByteWriter {
 public:
  std::vector<std::byte>& bytes() { return bytes_; }

  template <Scalar T>
  void value(const T& v) {
    append(std::as_bytes(std::span(&v, 1)));
  }
  /// An enumeration or bool of values 0 to `count` - 1.
  template <Scalar T>
  void choice(const T& v, std::uint8_t /*count*/) {
    value(static_cast<std::uint8_t>(v));
  }
  void text(const std::string& v, std::uint64_t longest = kLongestText) {
    if (v.size() > longest) {
      throw_invalid_argument("A text in a file has at most ", longest, " bytes, but one has (",
                             v.size(), "): '", v.substr(0, 64), "...'.");
    }
    blob(std::as_bytes(std::span(v)));
  }
  void blob(std::span<const std::byte> v) {
    value(std::uint64_t{v.size()});
    append(v);
  }
  /// 0xFFFFFFFF: none.
  void optional(const std::optional<std::uint32_t>& v) { value(v.value_or(0xFFFFFFFF)); }
  template <class Items, class F>
  void list(const Items& items, F&& each) {
    value(std::uint64_t{items.size()});
    for (const auto& item : items) {
      each(item);
    }
  }
  void append(std::span<const std::byte> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
  }

 private:
  std::vector<std::byte> bytes_;
};

class ByteSource {
 public:
  explicit ByteSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t left() const { return bytes_.size(); }

  template <Scalar T>
  void value(T& v) {
    std::memcpy(&v, take(sizeof v).data(), sizeof v);
  }
  template <Scalar T>
  void choice(T& v, std::uint8_t count) {
    std::uint8_t number = 0;
    value(number);
    if (number >= count) {
      throw_invalid_argument("A value of the file is (", number, "), but 0 to ", count - 1,
                             " are possible there.");
    }
    v = static_cast<T>(number);
  }
  void text(std::string& v, std::uint64_t longest = kLongestText) {
    const auto part = sized(longest);
    v.assign(reinterpret_cast<const char*>(part.data()), part.size());
  }
  void blob(std::vector<std::byte>& v) {
    const auto part = sized(left());
    v.assign(part.begin(), part.end());
  }
  void optional(std::optional<std::uint32_t>& v) {
    value(v.emplace());
    v = v == 0xFFFFFFFF ? std::nullopt : v;
  }
  /// Every item takes at least a byte, and memory only once its bytes are read.
  template <class T, class F>
  void list(std::vector<T>& items, F&& each) {
    std::uint64_t count = 0;
    value(count);
    if (count > left()) {
      throw_invalid_argument("A list of the file has (", count, ") items, but only ", left(),
                             " bytes are left.");
    }
    for (; count > 0; --count) {
      each(items.emplace_back());
    }
  }
  /// Of two with one key, the first.
  template <class K, class V, class F>
  void list(std::map<K, V>& items, F&& each) {
    std::vector<std::pair<K, V>> pairs;
    list(pairs, each);
    items.insert(pairs.begin(), pairs.end());
  }

 private:
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left()) {
      throw_invalid_argument("The file needs (", count, ") bytes more, but only ", left(),
                             " are left.");
    }
    const auto part = bytes_.first(static_cast<std::size_t>(count));
    bytes_ = bytes_.subspan(part.size());
    return part;
  }
  std::span<const std::byte> sized(std::uint64_t max) {
    std::uint64_t size = 0;
    value(size);
    if (size > max) {
      throw_invalid_argument("A part of the file has (", size, ") bytes, but at most ", max,
                             " are possible there.");
    }
    return take(size);
  }
  std::span<const std::byte> bytes_;
};

}  // namespace reprise
