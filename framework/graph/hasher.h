// XXH3 over a sequence of values. Every value is hashed with its kind and length, so different
// sequences never look alike. Not cryptographic.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace reprise {

/// 16 lower-case hex digits.
std::string hex_digits(std::uint64_t value);

class Hasher {
 public:
  Hasher();
  Hasher& number(std::uint64_t value);
  Hasher& text(std::string_view value);
  Hasher& bytes(std::span<const std::byte> value);
  /// The absence of a value.
  Hasher& nothing();
  std::uint64_t digest() const;
  /// 32 lower-case hex digits, of more bits than digest() has.
  std::string hex() const;
  /// 16 lower-case hex digits: digest().
  std::string short_hex() const;

 private:
  void add(char kind, const void* data, std::size_t size);
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace reprise
