#include "reprise/formats/tokenizer.h"

#include "framework/formats/byte_level.h"
#include "framework/formats/piece_spaces.h"
#include "framework/formats/sentence_piece.h"
#include "framework/formats/special_tokens.h"
#include "framework/formats/vocabulary.h"
#include "reprise/core/error.h"

namespace reprise {
namespace {

std::string_view text_of(const Token& token) {
  const bool silent = token.kind == TokenKind::control || token.kind == TokenKind::unknown;
  return silent ? std::string_view() : std::string_view(token.text);
}

}  // namespace

struct Tokenizer::Rules {
  explicit Rules(const GgufFile& file)
      : vocabulary(file), defined(vocabulary, false), all(vocabulary, true) {
    if (vocabulary.byte_level()) {
      byte_level.emplace(file, vocabulary);
    }
    adds_bos = vocabulary.adds_bos().value_or(!byte_level || byte_level->adds_bos());
  }

  void append(std::string_view text, bool after_special, std::vector<std::int32_t>& ids) const {
    if (byte_level) {
      byte_level->encode(vocabulary, text, ids);
    } else if (after_special && vocabulary.adds_space_prefix()) {
      encode_pieces(vocabulary, " " + std::string(text), ids);
    } else {
      encode_pieces(vocabulary, text, ids);
    }
  }

  Vocabulary vocabulary;
  SpecialTokens defined;
  SpecialTokens all;
  std::optional<ByteLevel> byte_level;
  bool adds_bos;
};

Tokenizer::Tokenizer(const GgufFile& file) : rules_(std::make_shared<Rules>(file)) {}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text,
                                            const EncodeOptions& options) const {
  std::vector<std::int32_t> ids;
  if (options.add_bos.value_or(rules_->adds_bos)) {
    if (!bos()) {
      throw_invalid_argument("A beginning-of-text token is to be added, but the GGUF file '",
                             rules_->vocabulary.file(), "' has no 'tokenizer.ggml.bos_token_id'.");
    }
    ids.push_back(*bos());
  }
  const SpecialTokens& specials = options.parse_special ? rules_->all : rules_->defined;
  bool after_special = true;
  std::size_t at = 0;
  const auto append_to = [&](std::size_t end) {
    if (end > at) {
      rules_->append(text.substr(at, end - at), after_special, ids);
      after_special = false;
    }
  };
  for (const SpecialTokens::Found& special : specials.find_all(text)) {
    append_to(special.begin);
    ids.push_back(special.id);
    after_special = true;
    at = special.begin + special.bytes;
  }
  append_to(text.size());
  return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
  const Vocabulary& vocabulary = rules_->vocabulary;
  std::string text;
  std::string pieces;  // of a run without special tokens
  // Replaced in the whole: without a piece for it, U+2581 comes as three byte tokens.
  const auto end_run = [&] {
    const std::string run = vocabulary.byte_level() ? pieces : unescaped_pieces(pieces);
    const bool prefixed = vocabulary.adds_space_prefix() && run.starts_with(' ');
    text += std::string_view(run).substr(prefixed ? 1 : 0);
    pieces.clear();
  };
  for (const std::int32_t id : ids) {
    const Token& token = vocabulary.token(id);
    if (is_special(token.kind)) {
      end_run();
      text += text_of(token);
    } else {
      pieces += token.text;
    }
  }
  end_run();
  return text;
}

std::string Tokenizer::piece(std::int32_t id) const {
  const Token& token = rules_->vocabulary.token(id);
  const std::string_view text = text_of(token);
  return rules_->vocabulary.byte_level() || is_special(token.kind) ? std::string(text)
                                                                   : unescaped_pieces(text);
}

std::int32_t Tokenizer::vocab_size() const { return rules_->vocabulary.size(); }

std::optional<std::int32_t> Tokenizer::bos() const { return rules_->vocabulary.bos(); }

std::int32_t Tokenizer::eos() const { return rules_->vocabulary.eos(); }

bool Tokenizer::is_end(std::int32_t id) const { return rules_->vocabulary.is_end(id); }

}  // namespace reprise
