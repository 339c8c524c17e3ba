#include "framework/graph/hasher.h"

#include <array>
#include <new>

#include <xxhash.h>

namespace reprise {

std::string hex_digits(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned shift = 64; shift > 0;) {
    shift -= 4;
    text += kDigits[value >> shift & 15U];
  }
  return text;
}

struct Hasher::State {
  XXH3_state_t* xxh = XXH3_createState();
};

void Hasher::Free::operator()(State* state) const {
  XXH3_freeState(state->xxh);
  delete state;
}

Hasher::Hasher() : state_(new State) {
  if (state_->xxh == nullptr) {
    throw std::bad_alloc();
  }
  XXH3_128bits_reset(state_->xxh);
}

void Hasher::add(char kind, const void* data, std::size_t size) {
  const std::uint64_t length = size;
  std::array<unsigned char, 9> head{static_cast<unsigned char>(kind)};
  for (std::size_t i = 0; i < 8; ++i) {
    head[i + 1] = static_cast<unsigned char>(length >> (8 * i));
  }
  XXH3_128bits_update(state_->xxh, head.data(), head.size());
  if (size != 0) {
    XXH3_128bits_update(state_->xxh, data, size);
  }
}

Hasher& Hasher::number(std::uint64_t value) {
  std::array<unsigned char, 8> bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  }
  add('i', bytes.data(), bytes.size());
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

std::uint64_t Hasher::digest() const { return XXH3_128bits_digest(state_->xxh).low64; }

std::string Hasher::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh);
  return hex_digits(hash.high64) + hex_digits(hash.low64);
}

std::string Hasher::short_hex() const { return hex_digits(digest()); }

}  // namespace reprise
