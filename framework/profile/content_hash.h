// XXH3 over a sequence of values, for content-addressed rows. Every value is hashed with its kind
// and length, so different sequences never look alike. Not cryptographic.
#pragma once
#include <memory>

#include "framework/profile/sqlite.h"

namespace reprise::profile {

class Hasher {
 public:
  Hasher();
  Hasher& number(std::uint64_t value);
  Hasher& text(std::string_view value);
  Hasher& bytes(std::span<const std::byte> value);
  Hasher& value(const Value& value);
  /// 32 lower-case hex digits.
  std::string hex() const;
  /// 16 lower-case hex digits of the 64-bit hash: fewer bits than a machine id has.
  std::string short_hex() const;

 private:
  void add(char kind, const void* data, std::size_t size);
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Free> state_;
};

}  // namespace reprise::profile
