// In the pieces of a SentencePiece vocabulary U+2581 stands for a space.
#pragma once
#include <string>
#include <string_view>

namespace reprise {

std::string escaped_pieces(std::string_view text);
std::string unescaped_pieces(std::string_view pieces);

}  // namespace reprise
