#include "framework/profile/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "framework/core/op.h"

namespace reprise::profile {
namespace {

using Json = nlohmann::ordered_json;

/// With the digits of the float, not of the double nearest to it: 1e-06, not 9.99999997e-07.
Json number(float value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  std::array<char, 32> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  double shortest = 0;
  std::from_chars(digits.data(), end, shortest);
  return shortest;
}

template <class T>
T read(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

Json attribute(AttributeType type, std::span<const std::byte> bytes,
               std::span<const StateFieldInfo> fields) {
  if (type == AttributeType::boolean) {
    return bytes[0] != std::byte{0};
  }
  if (type == AttributeType::param_i32 || type == AttributeType::param_f32) {
    const auto word = read<std::uint32_t>(bytes.subspan(offsetof(Param<float>, word)));
    if (word != StateField::kNone) {
      const auto field = std::find_if(fields.begin(), fields.end(),
                                      [&](const StateFieldInfo& f) { return f.word == word; });
      return field == fields.end() ? Json{{"state_word", word}} : Json{{"state", field->name}};
    }
  }
  if (type == AttributeType::f32 || type == AttributeType::param_f32) {
    return number(read<float>(bytes));
  }
  return read<std::int32_t>(bytes);
}

}  // namespace

std::string json_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_of(const Shape& shape) {
  Json json = Json::array();
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    json.push_back(shape.dim(d));
  }
  return json_of(json);
}

std::string json_of(const Kernel& kernel) {
  Json json = Json::object();
  for (std::uint32_t i = 0; i < kernel.constant_count; ++i) {
    json[std::to_string(i)] = kernel.constants[i];
  }
  return json_of(json);
}

std::string attributes_json(const OpDef& op, std::span<const std::byte> attributes,
                            std::span<const StateFieldInfo> fields) {
  Json json = Json::object();
  for (const Attribute& a : op.attributes) {
    if (std::size_t{a.offset} + size_of(a.type) <= attributes.size()) {
      json[std::string(a.name)] = attribute(a.type, attributes.subspan(a.offset), fields);
    }
  }
  return json_of(json);
}

}  // namespace reprise::profile
