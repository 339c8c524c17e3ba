#include "framework/formats/json_events.h"

namespace reprise {

void read_json(std::span<const std::byte> text, JsonEvents& events) {
  const auto* const begin = reinterpret_cast<const char*>(text.data());
  // The parser takes NUL for the end of the text.
  const std::size_t nul = std::string_view(begin, text.size()).find('\0');
  if (nul != std::string_view::npos) {
    events.fail_at(nul + 1);
  }
  nlohmann::json::sax_parse(begin, begin + text.size(), &events);
}

}  // namespace reprise
