#include "framework/formats/sentence_piece.h"

#include <algorithm>
#include <array>

#include "framework/formats/greedy_merge.h"
#include "framework/formats/piece_spaces.h"

namespace reprise {
namespace {

/// The length a first byte announces. Bytes that cannot start a sequence stand alone.
std::size_t announced_bytes(char first) {
  constexpr std::array<std::uint8_t, 16> kBytes{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
  return kBytes[static_cast<unsigned char>(first) >> 4U];
}

}  // namespace

void encode_pieces(const Vocabulary& vocabulary, std::string_view text,
                   std::vector<std::int32_t>& ids) {
  const std::string escaped = escaped_pieces(text);
  const auto part = [&](std::size_t begin, std::size_t bytes) {
    return std::string_view(escaped).substr(begin, bytes);
  };
  std::vector<Symbol> symbols;
  for (std::size_t begin = 0; begin < escaped.size();) {
    const std::size_t bytes = std::min(announced_bytes(escaped[begin]), escaped.size() - begin);
    append_symbol(symbols, begin, bytes, 0);
    begin += bytes;
  }
  merge_greedily(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Joined> {
    const std::size_t bytes = left.bytes + right.bytes;
    if (bytes > vocabulary.longest_bytes()) {
      return std::nullopt;
    }
    const auto id = vocabulary.find_plain(part(left.begin, bytes));
    return id ? std::optional(Joined{vocabulary.token(*id).score, *id}) : std::nullopt;
  });
  for (std::size_t i = symbols.empty() ? Symbol::kNone : 0; i != Symbol::kNone;
       i = symbols[i].next) {
    const std::string_view piece = part(symbols[i].begin, symbols[i].bytes);
    if (const auto id = vocabulary.find_plain(piece)) {
      ids.push_back(*id);
      continue;
    }
    for (const char byte : piece) {
      ids.push_back(vocabulary.byte_token(byte));
    }
  }
}

}  // namespace reprise
