#include "framework/session/record/attribute_bytes.h"

#include <algorithm>
#include <cstring>

#include "framework/core/op.h"

namespace reprise {
namespace {

/// Of the struct: its last field, then whole words, as graphs hold them.
std::size_t bytes_of_attributes(const OpDef& op) {
  std::size_t end = 0;
  for (const Attribute& a : op.attributes) {
    end = std::max(end, a.offset + size_of(a.type));
  }
  return (end + 7) / 8 * 8;
}

void require_field(const OpDef& op, const Attribute& a, std::uint32_t word,
                   std::span<const StateFieldInfo> fields) {
  const DType dtype = a.type == AttributeType::param_f32 ? DType::f32 : DType::i32;
  const bool known = std::ranges::any_of(
      fields, [&](const StateFieldInfo& f) { return f.word == word && f.dtype == dtype; });
  if (word != StateField::kNone && !known) {
    throw_invalid_argument("The attribute '", a.name, "' of ", op.name, " lives in word (", word,
                           ") of the state, but no ", name_of(dtype), " field does.");
  }
}

}  // namespace

std::vector<std::byte> saved_attributes(const OpDef& op, std::span<const std::byte> attributes) {
  std::vector<std::byte> bytes(bytes_of_attributes(op));
  for (const Attribute& a : op.attributes) {
    std::memcpy(bytes.data() + a.offset, attributes.data() + a.offset, size_of(a.type));
  }
  return bytes;
}

void require_attributes(const OpDef& op, std::span<const std::byte> attributes,
                        std::span<const StateFieldInfo> fields) {
  if (attributes.size() != bytes_of_attributes(op)) {
    throw_invalid_argument(op.name, " has (", attributes.size(),
                           ") bytes of attributes, but needs ", bytes_of_attributes(op), ".");
  }
  for (const Attribute& a : op.attributes) {
    const auto value = attributes.subspan(a.offset, size_of(a.type));
    if (a.type == AttributeType::boolean && std::to_integer<unsigned>(value[0]) > 1) {
      throw_invalid_argument("The attribute '", a.name, "' of ", op.name,
                             " is true (1) or false (0), but is (",
                             std::to_integer<unsigned>(value[0]), ").");
    }
    if (a.type == AttributeType::param_i32 || a.type == AttributeType::param_f32) {
      std::uint32_t word = 0;
      std::memcpy(&word, value.data() + offsetof(Param<float>, word), sizeof word);
      require_field(op, a, word, fields);
    }
  }
}

}  // namespace reprise
