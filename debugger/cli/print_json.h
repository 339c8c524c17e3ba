// JSON of a command on standard output.
#pragma once
#include <optional>

#include <nlohmann/json.hpp>

#include "framework/programs/json_output.h"

namespace reprise::cli {

using programs::print_json;

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

}  // namespace reprise::cli
