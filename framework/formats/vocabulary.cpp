#include "framework/formats/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/formats/byte_alphabet.h"
#include "framework/formats/piece_spaces.h"
#include "framework/formats/text.h"
#include "reprise/core/error.h"

namespace reprise {
namespace {

constexpr std::string_view kModelKey = "tokenizer.ggml.model";
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kKindsKey = "tokenizer.ggml.token_type";
constexpr std::string_view kEosKey = "tokenizer.ggml.eos_token_id";
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

/// The spelling is a text.
constexpr bool is_plain(TokenKind kind) { return !is_special(kind) && kind != TokenKind::byte; }

std::string in_file(const GgufFile& file) { return " of the GGUF file '" + file.path() + "'"; }

void require_length(const GgufFile& file, std::string_view key, std::size_t actual,
                    std::size_t tokens) {
  if (actual != tokens) {
    throw_invalid_argument("The metadata value ", quoted_name(key), in_file(file), " has (", actual,
                           ") elements, but must have one for each of the ", tokens, " tokens.");
  }
}

std::vector<TokenKind> read_kinds(const GgufFile& file, const std::vector<std::string>& spellings,
                                  bool byte_level) {
  std::vector<TokenKind> kinds(spellings.size(), TokenKind::normal);
  const GgufValue* const value = file.find_value(kKindsKey);
  if (value == nullptr) {
    if (!byte_level) {
      std::ranges::transform(spellings, kinds.begin(), [](const std::string& text) {
        return spelled_byte(text) ? TokenKind::byte : TokenKind::normal;
      });
    }
    return kinds;
  }
  const auto numbers = value->as_integers();
  require_length(file, kKindsKey, numbers.size(), spellings.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0 || numbers[i] > static_cast<std::int64_t>(TokenKind::byte)) {
      throw_invalid_argument("The type of token ", i, " in ", quoted_name(kKindsKey), in_file(file),
                             " is (", numbers[i], "), but must be in [0, 6].");
    }
    kinds[i] = static_cast<TokenKind>(numbers[i]);
    if (kinds[i] == TokenKind::byte && !spelled_byte(spellings[i])) {
      throw_invalid_argument("The byte token ", i, in_file(file), " is spelled (",
                             quoted_name(spellings[i]),
                             "), but must be spelled '<0x00>' to '<0xFF>'.");
    }
  }
  return kinds;
}

std::vector<float> read_scores(const GgufFile& file, std::size_t tokens) {
  auto scores = file.value(kScoresKey).as_floats();
  require_length(file, kScoresKey, scores.size(), tokens);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) {  // would break the order of merges
      throw_invalid_argument("The score of token ", i, " in ", quoted_name(kScoresKey),
                             in_file(file), " is (NaN), but must be a number.");
    }
  }
  return scores;
}

std::string text_of(const std::string& spelling, TokenKind kind, bool byte_level) {
  if (kind == TokenKind::byte) {
    return std::string(1, *spelled_byte(spelling));
  }
  if (is_special(kind)) {
    return byte_level ? spelling : unescaped_pieces(spelling);
  }
  return byte_level ? spelled_bytes(spelling) : spelling;
}

}  // namespace

Vocabulary::Vocabulary(const GgufFile& file) : file_(file.path()) {
  const std::string_view model = file.value(kModelKey).as_string();
  if (model != "llama" && model != "gpt2") {
    throw_error(ErrorCode::unsupported, "The tokenizer", in_file(file), " is (", quoted_name(model),
                "), but only 'llama' (SentencePiece) and 'gpt2' (byte-level) are supported.");
  }
  byte_level_ = model == "gpt2";
  read_tokens(file);
  read_special(file);
  find_bytes();
}

const Token& Vocabulary::token(std::int32_t id) const {
  if (id < 0 || id >= size()) {
    throw_invalid_argument("The token is (", id, "), but tokens of the GGUF file '", file_,
                           "' are in [0, ", size(), ").");
  }
  return tokens_[static_cast<std::size_t>(id)];
}

std::optional<std::int32_t> Vocabulary::find_plain(std::string_view text) const {
  const auto spelling_at = [&](std::int32_t id) { return spelling(id); };
  const auto after = std::ranges::upper_bound(plain_by_spelling_, text, {}, spelling_at);
  if (after == plain_by_spelling_.begin() || spelling_at(*(after - 1)) != text) {
    return std::nullopt;
  }
  return *(after - 1);
}

std::int32_t Vocabulary::byte_token(char byte) const {
  const auto id = byte_ids_[static_cast<unsigned char>(byte)];
  if (!id) {
    throw_invalid_argument("The text holds the byte (", spelled(static_cast<unsigned char>(byte)),
                           "), but the vocabulary of the GGUF file '", file_,
                           "' has neither a token for it nor an unknown token.");
  }
  return *id;
}

bool Vocabulary::is_end(std::int32_t id) const {
  return id == eos_ || std::ranges::find(other_ends_, id) != other_ends_.end();
}

void Vocabulary::read_tokens(const GgufFile& file) {
  const auto texts = file.value(kTokensKey).as_strings();
  if (texts.empty() || texts.size() > std::numeric_limits<std::int32_t>::max()) {
    throw_invalid_argument("The vocabulary", in_file(file), " has (", texts.size(),
                           ") tokens, but must have 1 to 2^31 - 1.");
  }
  const auto scores =
      byte_level_ ? std::vector<float>(texts.size()) : read_scores(file, texts.size());
  spellings_.assign(texts.begin(), texts.end());
  const auto kinds = read_kinds(file, spellings_, byte_level_);
  tokens_.reserve(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    tokens_.push_back({text_of(spellings_[i], kinds[i], byte_level_), scores[i], kinds[i]});
    longest_bytes_ = std::max(longest_bytes_, texts[i].size());
  }
  for (std::int32_t id = 0; id < size(); ++id) {
    if (is_plain(token(id).kind)) {
      plain_by_spelling_.push_back(id);
    }
  }
  std::ranges::stable_sort(plain_by_spelling_, {}, [&](std::int32_t id) { return spelling(id); });
}

void Vocabulary::read_special(const GgufFile& file) {
  // Without a key, the ids that SentencePiece gives these tokens; others have none.
  const auto id = [&](std::string_view key, std::int32_t piece) -> std::optional<std::int32_t> {
    if (file.find_value(key) != nullptr) {
      return static_cast<std::int32_t>(file.value(key).as_integer(0, size() - 1));
    }
    return byte_level_ || piece >= size() ? std::nullopt : std::optional(piece);
  };
  const auto flag = [&](std::string_view key) {
    const GgufValue* const value = file.find_value(key);
    return value == nullptr ? std::nullopt : std::optional(value->as_bool());
  };
  bos_ = id("tokenizer.ggml.bos_token_id", 1);
  eos_ = id(kEosKey, 2);
  if (!eos_) {
    (void)file.value(kEosKey);  // says that it is missing
  }
  unknown_ = id("tokenizer.ggml.unknown_token_id", 0);
  for (const std::string_view key :
       {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    if (file.find_value(key) != nullptr) {
      other_ends_.push_back(*id(key, 0));
    }
  }
  adds_bos_ = flag("tokenizer.ggml.add_bos_token");
  adds_space_prefix_ = !byte_level_ && flag("tokenizer.ggml.add_space_prefix").value_or(true);
}

void Vocabulary::find_bytes() {
  // One pass over the tokens: a look-up per byte costs more than the rest of a small vocabulary. Of
  // equal spellings the last counts, as in find_plain().
  std::array<std::optional<std::int32_t>, 256> bytes{};
  std::array<std::optional<std::int32_t>, 256> pieces{};
  for (std::int32_t id = 0; id < size(); ++id) {
    const Token& of_id = token(id);
    const std::string_view text = spelling(id);
    if (of_id.kind == TokenKind::byte) {
      bytes[static_cast<unsigned char>(of_id.text[0])] = id;
      continue;
    }
    const auto byte = byte_level_        ? byte_spelled_by(text)
                      : text.size() == 1 ? std::optional(text[0])
                                         : std::nullopt;
    if (byte && is_plain(of_id.kind)) {
      pieces[static_cast<unsigned char>(*byte)] = id;
    }
  }
  for (std::size_t i = 0; i < byte_ids_.size(); ++i) {
    byte_ids_[i] = bytes[i] && !byte_level_ ? bytes[i] : pieces[i] ? pieces[i] : unknown_;
  }
}

}  // namespace reprise
