#include "framework/formats/special_tokens.h"

#include <algorithm>

namespace reprise {

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary, bool control) {
  for (std::int32_t id = vocabulary.size(); id-- > 0;) {
    const Token& token = vocabulary.token(id);
    const bool wanted =
        token.kind == TokenKind::user_defined || (control && is_special(token.kind));
    if (wanted && !token.text.empty()) {
      specials_.push_back({token.text, id});
    }
  }
  std::ranges::stable_sort(specials_, {}, &Special::text);
  // std::ranges::unique does not compile with clang 14 and libstdc++ 12.
  const auto same = [](const Special& a, const Special& b) { return a.text == b.text; };
  specials_.erase(std::unique(specials_.begin(), specials_.end(), same), specials_.end());
}

std::optional<SpecialTokens::Found> SpecialTokens::find(std::string_view text,
                                                        std::size_t from) const {
  for (std::size_t at = from; at < text.size() && !specials_.empty(); ++at) {
    if (const Special* const found = longest_at(text.substr(at))) {
      return Found{at, found->text.size(), found->id};
    }
  }
  return std::nullopt;
}

const SpecialTokens::Special* SpecialTokens::longest_at(std::string_view text) const {
  const Special* longest = nullptr;
  // All of [first, last) begin with the first `same` bytes of the text.
  auto first = specials_.begin();
  auto last = specials_.end();
  for (std::size_t same = 0; first != last && same < text.size(); ++same) {
    const auto byte = static_cast<unsigned char>(text[same]);
    const auto byte_of = [&](const Special& special) {
      return static_cast<unsigned char>(special.text[same]);
    };
    first = std::ranges::lower_bound(first, last, byte, {}, byte_of);
    last = std::ranges::upper_bound(first, last, byte, {}, byte_of);
    if (first != last && first->text.size() == same + 1) {
      longest = &*first++;
    }
  }
  return longest;
}

}  // namespace reprise
