// JSON of a command on standard output. Names come from a file: bytes that are not UTF-8 become
// U+FFFD.
#pragma once
#include <cstdio>
#include <optional>

#include <nlohmann/json.hpp>

namespace reprise::cli {

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

template <class Json = nlohmann::json>
void print_json(const Json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace reprise::cli
