#include "framework/formats/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "framework/formats/text.h"
#include "reprise/core/error.h"

namespace reprise {
namespace {

constexpr std::string_view kModelKey = "tokenizer.ggml.model";
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kKindsKey = "tokenizer.ggml.token_type";
constexpr std::string_view kHex = "0123456789ABCDEF";

std::string spelled(unsigned char byte) {
  return {'<', '0', 'x', kHex[byte >> 4U], kHex[byte & 15U], '>'};
}

/// "<0x41>" is 'A'.
std::optional<char> spelled_byte(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') {
    return std::nullopt;
  }
  const std::size_t high = kHex.find(text[3]);
  const std::size_t low = kHex.find(text[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) {
    return std::nullopt;
  }
  return static_cast<char>(static_cast<unsigned char>(high * 16 + low));
}

void require_length(std::string_view key, std::size_t actual, std::size_t tokens) {
  if (actual != tokens) {
    invalid("The metadata value " + printable(key) + " has (" + std::to_string(actual) +
            ") elements, but must have one for each of the " + std::to_string(tokens) + " tokens.");
  }
}

std::vector<TokenKind> read_kinds(const GgufFile& file, const std::vector<std::string>& spellings) {
  std::vector<TokenKind> kinds(spellings.size(), TokenKind::normal);
  const GgufValue* const value = file.find_value(kKindsKey);
  if (value == nullptr) {
    std::ranges::transform(spellings, kinds.begin(), [](const std::string& text) {
      return spelled_byte(text) ? TokenKind::byte : TokenKind::normal;
    });
    return kinds;
  }
  const auto numbers = value->as_integers();
  require_length(kKindsKey, numbers.size(), spellings.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0 || numbers[i] > static_cast<std::int64_t>(TokenKind::byte)) {
      invalid("The type of token " + std::to_string(i) + " in " + printable(kKindsKey) + " is (" +
              std::to_string(numbers[i]) + "), but must be in [0, 6].");
    }
    kinds[i] = static_cast<TokenKind>(numbers[i]);
    if (kinds[i] == TokenKind::byte && !spelled_byte(spellings[i])) {
      invalid("The byte token " + std::to_string(i) + " is spelled (" + printable(spellings[i]) +
              "), but must be spelled '<0x00>' to '<0xFF>'.");
    }
  }
  return kinds;
}

}  // namespace

Vocabulary::Vocabulary(const GgufFile& file) {
  const std::string_view model = file.value(kModelKey).as_string();
  if (model != "llama") {
    throw Error(ErrorCode::unsupported, "The tokenizer of the file is (" + printable(model) +
                                            "), but only 'llama' is supported.");
  }
  read_tokens(file);
  read_special(file);
}

const Token& Vocabulary::token(std::int32_t id) const {
  if (id < 0 || id >= size()) {
    invalid("The token is (" + std::to_string(id) + "), but must be in [0, " +
            std::to_string(size()) + ").");
  }
  return tokens_[static_cast<std::size_t>(id)];
}

std::optional<std::int32_t> Vocabulary::find(std::string_view text) const {
  const auto spelling_at = [&](std::int32_t id) -> std::string_view {
    return spellings_[static_cast<std::size_t>(id)];
  };
  const auto after = std::ranges::upper_bound(by_spelling_, text, {}, spelling_at);
  if (after == by_spelling_.begin() || spelling_at(*(after - 1)) != text) {
    return std::nullopt;
  }
  return *(after - 1);
}

void Vocabulary::read_tokens(const GgufFile& file) {
  const auto texts = file.value(kTokensKey).as_strings();
  if (texts.empty() || texts.size() > std::numeric_limits<std::int32_t>::max()) {
    invalid("The vocabulary has (" + std::to_string(texts.size()) +
            ") tokens, but must have 1 to 2^31 - 1.");
  }
  const auto scores = file.value(kScoresKey).as_floats();
  require_length(kScoresKey, scores.size(), texts.size());
  spellings_.assign(texts.begin(), texts.end());
  const auto kinds = read_kinds(file, spellings_);
  tokens_.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (std::isnan(scores[i])) {  // would break the order of merges
      invalid("The score of token " + std::to_string(i) + " in " + printable(kScoresKey) +
              " is (NaN), but must be a number.");
    }
    const auto byte = kinds[i] == TokenKind::byte ? spelled_byte(texts[i]) : std::nullopt;
    tokens_.push_back({byte ? std::string(1, *byte) : spellings_[i], scores[i], kinds[i]});
    longest_bytes_ = std::max(longest_bytes_, texts[i].size());
  }
  by_spelling_.resize(texts.size());
  std::iota(by_spelling_.begin(), by_spelling_.end(), 0);
  std::ranges::stable_sort(by_spelling_, {}, [&](std::int32_t id) -> std::string_view {
    return spellings_[static_cast<std::size_t>(id)];
  });
}

void Vocabulary::read_special(const GgufFile& file) {
  const auto id = [&](std::string_view key, std::int32_t otherwise) {
    const GgufValue* const value = file.find_value(key);
    if (value == nullptr && otherwise < size()) {
      return otherwise;
    }
    return static_cast<std::int32_t>(file.value(key).as_integer(0, size() - 1));
  };
  const auto flag = [&](std::string_view key) {
    const GgufValue* const value = file.find_value(key);
    return value == nullptr || value->as_bool();
  };
  // Without a key, the ids that SentencePiece gives these tokens.
  bos_ = id("tokenizer.ggml.bos_token_id", 1);
  eos_ = id("tokenizer.ggml.eos_token_id", 2);
  const std::int32_t unknown = id("tokenizer.ggml.unknown_token_id", 0);
  if (file.find_value("tokenizer.ggml.eot_token_id") != nullptr) {
    end_of_turn_ = id("tokenizer.ggml.eot_token_id", 0);
  }
  adds_bos_ = flag("tokenizer.ggml.add_bos_token");
  adds_space_prefix_ = flag("tokenizer.ggml.add_space_prefix");
  for (std::size_t i = 0; i < byte_ids_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(i);
    const auto as_byte = find(spelled(byte));
    const auto as_piece = find(std::string(1, static_cast<char>(byte)));
    byte_ids_[i] = as_byte.value_or(as_piece.value_or(unknown));
  }
}

}  // namespace reprise
