// SentencePiece's BPE: characters are joined to pieces, the pair with the best score first; what is
// no piece becomes byte tokens. Method: Kudo and Richardson 2018.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "framework/formats/vocabulary.h"

namespace reprise {

/// Appends the tokens of `text`, whose spaces become U+2581.
void encode_pieces(const Vocabulary& vocabulary, std::string_view text,
                   std::vector<std::int32_t>& ids);

}  // namespace reprise
