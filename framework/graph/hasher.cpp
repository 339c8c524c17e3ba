#include "framework/graph/hasher.h"

#include <array>
#include <bit>
#include <cstring>
#include <new>

#include <xxhash.h>

namespace reprise {

static_assert(std::endian::native == std::endian::little);  // numbers are hashed as they lie

std::string hex_digits(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned shift = 64; shift > 0;) {
    shift -= 4;
    text += kDigits[value >> shift & 15U];
  }
  return text;
}

void Hasher::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Hasher::Hasher() : state_(XXH3_createState()) {
  if (state_ == nullptr) {
    throw std::bad_alloc();
  }
  XXH3_128bits_reset(state_.get());
}

void Hasher::add(char kind, const void* data, std::size_t size) {
  const std::uint64_t length = size;
  std::array<char, 1 + sizeof length> head{kind};
  std::memcpy(head.data() + 1, &length, sizeof length);
  XXH3_128bits_update(state_.get(), head.data(), head.size());
  if (size != 0) {
    XXH3_128bits_update(state_.get(), data, size);
  }
}

Hasher& Hasher::number(std::uint64_t value) {
  add('i', &value, sizeof value);
  return *this;
}

Hasher& Hasher::text(std::string_view value) {
  add('t', value.data(), value.size());
  return *this;
}

Hasher& Hasher::bytes(std::span<const std::byte> value) {
  add('b', value.data(), value.size());
  return *this;
}

Hasher& Hasher::nothing() {
  add('n', nullptr, 0);
  return *this;
}

std::uint64_t Hasher::digest() const { return XXH3_128bits_digest(state_.get()).low64; }

std::string Hasher::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  return hex_digits(hash.high64) + hex_digits(hash.low64);
}

std::string Hasher::short_hex() const { return hex_digits(digest()); }

}  // namespace reprise
