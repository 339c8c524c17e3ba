// The tokens of a vocabulary, checked: texts, scores, kinds and special ids. Knows no tokenizing
// algorithm.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/formats/gguf.h"

namespace reprise {

/// Numbered as in "tokenizer.ggml.token_type".
enum class TokenKind : std::uint8_t {
  undefined,
  normal,
  unknown,
  control,
  user_defined,
  unused,
  byte
};

struct Token {
  std::string text;  // the bytes it stands for, of pieces with U+2581 for a space
  float score;       // 0 in byte-level vocabularies
  TokenKind kind;
};

/// They stand for what no text is joined to: nothing, or a text that is looked for as a whole.
constexpr bool is_special(TokenKind kind) {
  return kind == TokenKind::unknown || kind == TokenKind::control ||
         kind == TokenKind::user_defined;
}

/// Const members may be called concurrently.
class Vocabulary {
 public:
  /// Errors: unsupported, invalid_argument as Tokenizer.
  explicit Vocabulary(const GgufFile& file);

  /// Merges by rank, pieces spelled in the byte alphabet; else by score, as SentencePiece.
  bool byte_level() const { return byte_level_; }
  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  /// Errors: invalid_argument for an id outside [0, size()).
  const Token& token(std::int32_t id) const;
  /// As in the file.
  std::string_view spelling(std::int32_t id) const {
    return spellings_[static_cast<std::size_t>(id)];
  }
  /// The token spelled `text` in the file, of several the last, that is neither a special token nor
  /// a byte token: what a text is joined to.
  std::optional<std::int32_t> find_plain(std::string_view text) const;
  /// The token for a byte that belongs to no piece, else the unknown token.
  /// Errors: invalid_argument if there is neither.
  std::int32_t byte_token(char byte) const;
  /// Of the spellings.
  std::size_t longest_bytes() const { return longest_bytes_; }

  std::optional<std::int32_t> bos() const { return bos_; }
  std::int32_t eos() const { return *eos_; }
  /// End of text, of turn or of message.
  bool is_end(std::int32_t id) const;
  /// Empty if the file does not say.
  std::optional<bool> adds_bos() const { return adds_bos_; }
  bool adds_space_prefix() const { return adds_space_prefix_; }
  /// Path of the file it comes from.
  const std::string& file() const { return file_; }

 private:
  void read_tokens(const GgufFile& file);
  void read_special(const GgufFile& file);
  void find_bytes();

  std::string file_;
  bool byte_level_ = false;
  std::vector<Token> tokens_;
  std::vector<std::string> spellings_;           // as in the file
  std::vector<std::int32_t> plain_by_spelling_;  // ids, sorted by spelling, then id
  std::array<std::optional<std::int32_t>, 256> byte_ids_{};
  std::size_t longest_bytes_ = 0;
  std::optional<std::int32_t> bos_;
  std::optional<std::int32_t> eos_;
  std::optional<std::int32_t> unknown_;
  std::vector<std::int32_t> other_ends_;
  std::optional<bool> adds_bos_;
  bool adds_space_prefix_ = false;
};

}  // namespace reprise
