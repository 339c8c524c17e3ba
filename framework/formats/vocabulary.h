// The tokens of a SentencePiece-style vocabulary, checked: texts, scores, kinds and special ids.
// Knows no tokenizing algorithm.
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
  std::string text;  // for byte tokens the one byte, else as in the file
  float score;
  TokenKind kind;
};

/// Const members may be called concurrently.
class Vocabulary {
 public:
  /// Errors: unsupported, invalid_argument as SentencePieceTokenizer.
  explicit Vocabulary(const GgufFile& file);

  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  /// Errors: invalid_argument for an id outside [0, size()).
  const Token& token(std::int32_t id) const;
  /// The token spelled `text` in the file, byte tokens as "<0x41>"; of several the last.
  std::optional<std::int32_t> find(std::string_view text) const;
  /// The token for a byte that belongs to no piece, else the unknown token.
  std::int32_t byte_token(char byte) const { return byte_ids_[static_cast<unsigned char>(byte)]; }
  std::size_t longest_bytes() const { return longest_bytes_; }

  std::int32_t bos() const { return bos_; }
  std::int32_t eos() const { return eos_; }
  std::optional<std::int32_t> end_of_turn() const { return end_of_turn_; }
  bool adds_bos() const { return adds_bos_; }
  bool adds_space_prefix() const { return adds_space_prefix_; }

 private:
  void read_tokens(const GgufFile& file);
  void read_special(const GgufFile& file);

  std::vector<Token> tokens_;
  std::vector<std::string> spellings_;     // as in the file
  std::vector<std::int32_t> by_spelling_;  // ids, sorted by spelling, then id
  std::array<std::int32_t, 256> byte_ids_{};
  std::size_t longest_bytes_ = 0;
  std::int32_t bos_ = 0;
  std::int32_t eos_ = 0;
  std::optional<std::int32_t> end_of_turn_;
  bool adds_bos_ = true;
  bool adds_space_prefix_ = true;
};

}  // namespace reprise
