// Text to token ids and back, from the metadata of a GGUF file. "tokenizer.ggml.model" selects the
// kind:
// - "llama": SentencePiece's BPE; text that is no piece becomes byte tokens;
// - "gpt2": byte-level BPE; "tokenizer.ggml.pre" selects how words are cut: gpt-2, llama-bpe, qwen2
//   and others that cut alike (docs/formats.md).
// Gives the ids that llama.cpp and Hugging Face's tokenizers give for the same vocabulary. Text is
// any bytes and is not normalised.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/formats/gguf.h"

namespace reprise {

struct EncodeOptions {
  /// Whether to add the token of beginning. Empty: as the file says, or its kind of tokenizer where
  /// it does not.
  std::optional<bool> add_bos = std::nullopt;
  /// Turns the text of control tokens ("<|im_end|>") into these tokens: for prompts that a program
  /// makes, never for what a user typed. User-defined tokens are always recognised.
  bool parse_special = false;
};

/// A cheap handle.
/// Lifetime: does not need the file any more.
/// Threads: const members may be called concurrently.
class Tokenizer {
 public:
  /// Reads the vocabulary of a file.
  /// Errors: unsupported for any other kind of tokenizer or pre-tokenizer; invalid_argument for
  /// missing, inconsistent or out-of-range metadata.
  explicit Tokenizer(const GgufFile& file);

  /// Returns the ids of a text. If a SentencePiece vocabulary says so, text is encoded with a space
  /// in front, also behind a special token.
  /// Errors: invalid_argument for a byte that no token stands for, if the vocabulary has no unknown
  /// token, and for add_bos without such a token.
  std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  std::vector<std::int32_t> encode(std::string_view text, bool add_bos) const {
    return encode(text, EncodeOptions{.add_bos = add_bos});
  }

  /// Returns the text of a whole sequence, without the spaces that encode puts in front. Gives back
  /// any text, except U+2581 in SentencePiece vocabularies, where it stands for a space. Control
  /// tokens and the unknown token have no text.
  /// Errors: invalid_argument for an id outside [0, vocab_size()).
  std::string decode(std::span<const std::int32_t> ids) const;
  /// Returns the text one token adds to the previous ones: for printing while generating. May be
  /// part of a UTF-8 sequence.
  /// Errors: as decode.
  std::string piece(std::int32_t id) const;

  std::int32_t vocab_size() const;
  std::optional<std::int32_t> bos() const;
  std::int32_t eos() const;
  /// Returns whether a token ends the text, or the turn or message if the file names such tokens.
  bool is_end(std::int32_t id) const;

 private:
  struct Rules;
  std::shared_ptr<const Rules> rules_;
};

}  // namespace reprise
