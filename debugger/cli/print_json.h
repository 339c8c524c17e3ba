// JSON of a command on standard output. Names come from a file: bytes that are not UTF-8 become
// U+FFFD, and for a terminal whatever is not ASCII is escaped, as some of it would control it.
#pragma once
#include <cstdio>
#include <optional>

#include <nlohmann/json.hpp>

#include "framework/programs/terminal.h"

namespace reprise::cli {

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

template <class Json = nlohmann::json>
void print_json(const Json& json) {
  std::printf(
      "%s\n",
      json.dump(2, ' ', programs::output_is_terminal(), Json::error_handler_t::replace).c_str());
}

}  // namespace reprise::cli
