#include "framework/formats/byte_reader.h"

#include "reprise/core/error.h"

namespace reprise {

std::span<const std::byte> ByteReader::bytes(std::uint64_t count, std::string_view what) {
  if (count > left()) {
    fail(std::string(what) + " at offset " + std::to_string(offset_) + " needs (" +
         std::to_string(count) + ") bytes, but only " + std::to_string(left()) + " are left.");
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
    fail(std::string(what) + " is (" + std::to_string(count) + "), but the " +
         std::to_string(left()) + " bytes after offset " + std::to_string(offset_) +
         " hold at most " + std::to_string(left() / least_bytes) + ".");
  }
}

void ByteReader::fail(const std::string& reason) const {
  throw_invalid_argument("The " + source_ + " is malformed: " + reason);
}

}  // namespace reprise
