#include "framework/formats/special_tokens.h"

#include <map>
#include <string>

#include "reprise/core/error.h"

namespace reprise {

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary, bool control) {
  std::map<std::string, std::int32_t> ids;  // by the text backwards; of equal ones the last
  std::size_t bytes = 0;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const Token& token = vocabulary.token(id);
    const bool wanted =
        token.kind == TokenKind::user_defined || (control && is_special(token.kind));
    if (wanted && !token.text.empty()) {
      bytes += token.text.size();
      ids[{token.text.rbegin(), token.text.rend()}] = id;
    }
  }
  if (bytes > kMaxBytes) {
    throw_invalid_argument("The special tokens of the GGUF file '", vocabulary.file(), "' have (",
                           bytes, ") bytes of text, but at most ", kMaxBytes, " are looked for.");
  }
  std::vector<std::string> words;
  for (const auto& [word, id] : ids) {
    words.push_back(word);
    specials_.push_back({word.size(), id});
  }
  if (!words.empty()) {
    finder_.emplace(words);
  }
}

std::vector<SpecialTokens::Found> SpecialTokens::find_all(std::string_view text) const {
  std::vector<Found> found;  // from the right, the longest that begins at each place
  WordFinder::Cursor cursor;
  for (std::size_t at = finder_ ? text.size() : 0; at-- > 0;) {
    const std::uint32_t word = finder_->advance(cursor, static_cast<unsigned char>(text[at]));
    if (word != WordFinder::kNone) {
      found.push_back({at, specials_[word].bytes, specials_[word].id});
    }
  }
  std::vector<Found> apart;  // from the left, without those that begin inside another
  std::size_t end = 0;
  for (auto next = found.rbegin(); next != found.rend(); ++next) {
    if (next->begin >= end) {
      apart.push_back(*next);
      end = next->begin + next->bytes;
    }
  }
  return apart;
}

}  // namespace reprise
