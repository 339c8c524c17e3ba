#include "framework/formats/piece_spaces.h"

namespace reprise {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const bool found = text.substr(at).starts_with(from);
    result += found ? to : text.substr(at, 1);
    at += found ? from.size() : 1;
  }
  return result;
}

}  // namespace

std::string escaped_pieces(std::string_view text) { return replaced(text, " ", kSpace); }

std::string unescaped_pieces(std::string_view pieces) { return replaced(pieces, kSpace, " "); }

}  // namespace reprise
