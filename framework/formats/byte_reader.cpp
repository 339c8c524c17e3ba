#include "framework/formats/byte_reader.h"

namespace reprise {

std::span<const std::byte> ByteReader::bytes(std::uint64_t count, std::string_view what) {
  if (count > left()) {
    fail(what, " at offset ", offset_, " needs (", count, ") bytes, but only ", left(),
         " are left.");
  }
  const auto part = bytes_.subspan(offset_, static_cast<std::size_t>(count));
  offset_ += part.size();
  return part;
}

std::string_view ByteReader::text(std::string_view what) {
  const auto part = bytes(number<std::uint64_t>(what), what);
  return {reinterpret_cast<const char*>(part.data()), part.size()};
}

void ByteReader::require_items(std::uint64_t count, std::uint64_t least_bytes,
                               std::string_view what) const {
  if (count > left() / least_bytes) {
    fail(what, " is (", count, "), but the ", left(), " bytes after offset ", offset_,
         " hold at most ", left() / least_bytes, ".");
  }
}

}  // namespace reprise
