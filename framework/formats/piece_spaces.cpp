#include "framework/formats/piece_spaces.h"

#include <algorithm>

namespace reprise {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t found = std::min(text.find(from, start), text.size());
    result += text.substr(start, found - start);
    if (found == text.size()) {
      break;
    }
    result += to;
    start = found + from.size();
  }
  return result;
}

}  // namespace

std::string escaped_pieces(std::string_view text) { return replaced(text, " ", kSpace); }

std::string unescaped_pieces(std::string_view pieces) { return replaced(pieces, kSpace, " "); }

}  // namespace reprise
