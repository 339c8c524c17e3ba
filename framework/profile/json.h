// The JSON columns. Bytes that are not UTF-8 become U+FFFD here; plain text columns keep them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "reprise/backend/step.h"
#include "reprise/graph/state_layout.h"

namespace reprise::profile {

/// ["a","b"]
std::string json_of(std::span<const std::string> texts);
/// [2,3]
std::string json_of(std::span<const std::int64_t> numbers);
/// {"0":64}: specialization constants by id.
std::string json_of(const Kernel& kernel);
std::string json_of(std::span<const std::pair<std::string, std::uint64_t>> limits);
std::string json_of(std::span<const std::pair<std::string, bool>> features);
std::string json_of(std::span<const std::pair<std::string, std::string>> texts);
/// {"eps":1e-06,"position":{"state":"pos"}}: attributes of one call, by the op's own table.
std::string attributes_json(const OpDef& op, std::span<const std::byte> attributes,
                            std::span<const StateFieldInfo> fields);

}  // namespace reprise::profile
