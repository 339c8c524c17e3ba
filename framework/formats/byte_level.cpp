#include "framework/formats/byte_level.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "framework/core/known_names.h"
#include "framework/formats/byte_alphabet.h"
#include "framework/formats/greedy_merge.h"
#include "framework/formats/text.h"

namespace reprise {
namespace {

constexpr std::string_view kPreKey = "tokenizer.ggml.pre";
constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";

struct PreName {
  std::string_view name;
  PreTokenizer pre;
};
constexpr std::array kPreNames{PreName{"gpt-2", PreTokenizer::gpt2},
                               PreName{"phi-2", PreTokenizer::gpt2},
                               PreName{"llama-bpe", PreTokenizer::llama3},
                               PreName{"llama3", PreTokenizer::llama3},
                               PreName{"llama-v3", PreTokenizer::llama3},
                               PreName{"qwen2", PreTokenizer::qwen2},
                               PreName{"deepseek-r1-qwen", PreTokenizer::qwen2}};

PreTokenizer read_pre(const GgufFile& file) {
  const std::string_view name = file.value(kPreKey).as_string();
  const auto* const found = std::ranges::find(kPreNames, name, &PreName::name);
  if (found != kPreNames.end()) {
    return found->pre;
  }
  throw_error(ErrorCode::unsupported, "The pre-tokenizer ", quoted_name(kPreKey),
              " of the GGUF file '", file.path(), "' is (", quoted_name(name),
              "), but must be one of ", names_of(kPreNames, &PreName::name), ".");
}

}  // namespace

ByteLevel::ByteLevel(const GgufFile& file, const Vocabulary& vocabulary) : pre_(read_pre(file)) {
  const auto texts = file.value(kMergesKey).as_strings();
  merges_.reserve(texts.size());
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const std::string_view text = texts[rank];
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string before(text.substr(0, space));
    const std::string behind(text.substr(std::min(space + 1, text.size())));
    const auto left = vocabulary.find_plain(before);
    const auto right = vocabulary.find_plain(behind);
    const auto joined = vocabulary.find_plain(before + behind);
    if (before.empty() || behind.empty() || !left || !right || !joined) {
      throw_invalid_argument(
          "The merge ", rank, " in ", quoted_name(kMergesKey), " of the GGUF file '", file.path(),
          "' is (", quoted_name(text),
          "), but must be two tokens with a space between them that make a token.");
    }
    merges_.push_back({*left, *right, *joined, rank});
  }
  std::ranges::sort(merges_, {},
                    [](const Merge& m) { return std::tuple(m.left, m.right, m.rank); });
}

void ByteLevel::encode(const Vocabulary& vocabulary, std::string_view text,
                       std::vector<std::int32_t>& ids) const {
  for (const std::string_view word : pre_tokenize(pre_, text)) {
    encode_word(vocabulary, word, ids);
  }
}

void ByteLevel::encode_word(const Vocabulary& vocabulary, std::string_view word,
                            std::vector<std::int32_t>& ids) const {
  // Models of this kind were trained with merges left out where a whole word is a token.
  if (pre_ == PreTokenizer::llama3 && word.size() <= vocabulary.longest_bytes()) {
    std::string spelling;
    for (const char byte : word) {
      spelling += byte_spelling(byte);
    }
    if (const auto id = vocabulary.find_plain(spelling)) {
      ids.push_back(*id);
      return;
    }
  }
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (std::size_t i = 0; i < word.size(); ++i) {
    append_symbol(symbols, i, 1, vocabulary.byte_token(word[i]));
  }
  merge_greedily(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Joined> {
    const Merge* const merge = find(left.id, right.id);
    return merge == nullptr
               ? std::nullopt
               : std::optional(Joined{-static_cast<double>(merge->rank), merge->joined});
  });
  for (std::size_t i = 0; i != Symbol::kNone; i = symbols[i].next) {
    ids.push_back(symbols[i].id);
  }
}

const ByteLevel::Merge* ByteLevel::find(std::int32_t left, std::int32_t right) const {
  const auto pair_of = [](const Merge& merge) { return std::pair(merge.left, merge.right); };
  const auto found = std::ranges::lower_bound(merges_, std::pair(left, right), {}, pair_of);
  return found == merges_.end() || pair_of(*found) != std::pair(left, right) ? nullptr : &*found;
}

}  // namespace reprise
