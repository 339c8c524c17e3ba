// The JSON columns. Bytes that are not UTF-8 become U+FFFD here; plain text columns keep them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reprise/backend/step.h"
#include "reprise/graph/state_layout.h"

namespace reprise::profile {

/// ["a","b"], [2,3]
std::string json_of(const nlohmann::ordered_json& value);
/// [2,3]: extents.
std::string json_of(const Shape& shape);
/// {"0":64}: specialization constants by id.
std::string json_of(const Kernel& kernel);
/// {"a":true}
template <class T>
std::string json_of(const std::vector<std::pair<std::string, T>>& pairs) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : pairs) {
    json[name] = value;
  }
  return json_of(json);
}
/// {"eps":1e-06,"position":{"state":"pos"}}: attributes of one call, by the op's own table.
std::string attributes_json(const OpDef& op, std::span<const std::byte> attributes,
                            std::span<const StateFieldInfo> fields);

}  // namespace reprise::profile
