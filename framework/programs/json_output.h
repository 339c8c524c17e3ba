// JSON of a program on standard output. Names come from a file: bytes that are not UTF-8 become
// U+FFFD, and what would control a terminal is escaped, which changes no text.
#pragma once
#include <cstdio>
#include <string>

#include "framework/programs/terminal.h"

namespace reprise::programs {

/// `Json` is a class of nlohmann. An indent of -1 makes one line.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

template <class Json>
void print_json(const Json& json, int indent = 2) {
  std::printf("%s\n", json_text(json, indent).c_str());
}

}  // namespace reprise::programs
