// JSON of a command on standard output. Names come from a file: bytes that are not UTF-8 become
// U+FFFD.
#pragma once
#include <cstdio>

#include <nlohmann/json.hpp>

namespace reprise::cli {

inline void print_json(const nlohmann::json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

}  // namespace reprise::cli
