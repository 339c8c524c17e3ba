#include "framework/formats/pre_tokenizer.h"

#include <array>
#include <cstddef>

#include "framework/core/utf8.h"
#include "framework/formats/character_class.h"

namespace reprise {
namespace {

struct ClassifiedCharacter {
  std::size_t begin;
  char32_t code;
  CharacterClass kind;
};

std::vector<ClassifiedCharacter> characters_of(std::string_view text) {
  std::vector<ClassifiedCharacter> characters;
  characters.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, bytes] = first_character(text.substr(at));
    characters.push_back({at, code, character_class(code)});
    at += bytes;
  }
  return characters;
}

/// ASCII, and the only other letter that case folding maps to one of a contraction (U+017F to s).
char32_t folded(char32_t code) {
  if (code == 0x17F) {
    return U's';
  }
  return code >= U'A' && code <= U'Z' ? code + 32 : code;
}

class Cutter {
 public:
  Cutter(PreTokenizer kind, std::string_view text)
      : kind_(kind), text_(text), characters_(characters_of(text)) {}

  std::vector<std::string_view> run() {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < characters_.size();) {
      const std::size_t end = word_end(at);
      words.push_back(text_.substr(begin(at), begin(end) - begin(at)));
      at = end;
    }
    return words;
  }

 private:
  std::size_t begin(std::size_t at) const {
    return at < characters_.size() ? characters_[at].begin : text_.size();
  }
  bool is(std::size_t at, CharacterClass kind) const {
    return at < characters_.size() && characters_[at].kind == kind;
  }
  bool is(std::size_t at, char32_t code) const {
    return at < characters_.size() && characters_[at].code == code;
  }
  bool is_newline(std::size_t at) const { return is(at, U'\r') || is(at, U'\n'); }
  std::size_t after(std::size_t at, CharacterClass kind) const {
    while (is(at, kind)) {
      ++at;
    }
    return at;
  }

  /// The alternatives of the expression in their order.
  std::size_t word_end(std::size_t at) const {
    if (const std::size_t end = contraction(at); end > at) {
      return end;
    }
    const std::size_t past_space = at + (is(at, U' ') ? 1U : 0U);
    const std::size_t letters = kind_ == PreTokenizer::gpt2 ? past_space : letters_begin(at);
    if (is(letters, CharacterClass::letter)) {
      return after(letters, CharacterClass::letter);
    }
    const std::size_t numbers = kind_ == PreTokenizer::gpt2 ? past_space : at;
    if (is(numbers, CharacterClass::number)) {
      return numbers_end(numbers);
    }
    if (is(past_space, CharacterClass::other)) {
      return others_end(past_space);
    }
    return spaces_end(at);
  }

  std::size_t contraction(std::size_t at) const {
    if (!is(at, U'\'')) {
      return at;
    }
    const auto letter = [&](std::size_t i) {
      const char32_t code = i < characters_.size() ? characters_[i].code : 0;
      return kind_ == PreTokenizer::gpt2 ? code : folded(code);
    };
    constexpr std::array<std::u32string_view, 7> kEndings{U"s", U"t",  U"re", U"ve",
                                                          U"m", U"ll", U"d"};
    for (const std::u32string_view ending : kEndings) {
      if (letter(at + 1) == ending[0] && (ending.size() == 1 || letter(at + 2) == ending[1])) {
        return at + 1 + ending.size();
      }
    }
    return at;
  }

  /// [^\r\n\p{L}\p{N}]?
  std::size_t letters_begin(std::size_t at) const {
    const bool skips =
        !is_newline(at) && !is(at, CharacterClass::letter) && !is(at, CharacterClass::number);
    return at + (skips ? 1U : 0U);
  }

  std::size_t numbers_end(std::size_t at) const {
    if (kind_ == PreTokenizer::gpt2) {
      return after(at, CharacterClass::number);
    }
    const std::size_t max = at + (kind_ == PreTokenizer::llama3 ? 3U : 1U);
    while (at < max && is(at, CharacterClass::number)) {
      ++at;
    }
    return at;
  }

  std::size_t others_end(std::size_t at) const {
    at = after(at, CharacterClass::other);
    while (kind_ != PreTokenizer::gpt2 && is_newline(at)) {
      ++at;
    }
    return at;
  }

  /// A run of spaces: up to its last line end, else without the one before a word.
  std::size_t spaces_end(std::size_t at) const {
    const std::size_t end = after(at, CharacterClass::space);
    for (std::size_t i = end; kind_ != PreTokenizer::gpt2 && i > at; --i) {
      if (is_newline(i - 1)) {
        return i;
      }
    }
    return end < characters_.size() && end > at + 1 ? end - 1 : end;
  }

  PreTokenizer kind_;
  std::string_view text_;
  std::vector<ClassifiedCharacter> characters_;
};

}  // namespace

std::vector<std::string_view> pre_tokenize(PreTokenizer kind, std::string_view text) {
  return Cutter(kind, text).run();
}

}  // namespace reprise
