// Text to token ids and back, from the metadata of a GGUF file. "tokenizer.ggml.model" says how:
// - "llama": SentencePiece's BPE; what is no piece becomes byte tokens;
// - "gpt2": byte-level BPE, words cut as "tokenizer.ggml.pre" says: gpt-2, llama-bpe, qwen2 and
//   others that cut alike (docs/formats.md).
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
  /// Empty: as the file says, or its kind of tokenizer where it does not.
  std::optional<bool> add_bos = std::nullopt;
  /// The text of control tokens ("<|im_end|>") becomes these tokens: for prompts that a program
  /// makes, never for what a user typed. User-defined tokens always do.
  bool parse_special = false;
};

/// A cheap handle that does not need the file any more. Const members may be called concurrently.
class Tokenizer {
 public:
  /// Errors: unsupported for another kind of tokenizer or pre-tokenizer, invalid_argument for
  /// missing, inconsistent or out-of-range metadata.
  explicit Tokenizer(const GgufFile& file);

  /// Where a SentencePiece vocabulary says so, text is encoded with a space in front, also behind a
  /// special token. Errors: invalid_argument for a byte that no token stands for where there is no
  /// unknown token, or for add_bos without such a token.
  std::vector<std::int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  std::vector<std::int32_t> encode(std::string_view text, bool add_bos) const {
    return encode(text, EncodeOptions{.add_bos = add_bos});
  }

  /// The text of a whole sequence, without the spaces that encode puts in front: gives back any
  /// text, but for U+2581 in SentencePiece vocabularies, where it stands for a space. Control
  /// tokens and the unknown token have no text. Errors: invalid_argument for an id outside [0,
  /// vocab_size()).
  std::string decode(std::span<const std::int32_t> ids) const;
  /// The text one token adds to what came before: for printing while generating. May be part of a
  /// UTF-8 sequence. Errors: as decode.
  std::string piece(std::int32_t id) const;

  std::int32_t vocab_size() const;
  std::optional<std::int32_t> bos() const;
  std::int32_t eos() const;
  /// End of text, or of turn or message if the file names such tokens.
  bool is_end(std::int32_t id) const;

 private:
  struct Rules;
  std::shared_ptr<const Rules> rules_;
};

}  // namespace reprise
