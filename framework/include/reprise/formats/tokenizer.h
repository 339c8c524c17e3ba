// SentencePiece-style tokenizer of Llama models: text to token ids and back, from the metadata of a
// GGUF file ("tokenizer.ggml.model" = "llama"). Merges the pair of neighbours with the best score
// first; what is no piece becomes byte tokens. Gives the ids llama.cpp gives for plain text; the
// text of control tokens and user-defined tokens in the input has no special meaning.
// Method: Kudo and Richardson 2018 (SentencePiece, BPE model).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/formats/gguf.h"

namespace reprise {

class Vocabulary;

/// A cheap handle that does not need the file any more. Const members may be called concurrently.
class SentencePieceTokenizer {
 public:
  /// Errors: unsupported for another kind of tokenizer, invalid_argument for missing, inconsistent
  /// or out-of-range metadata.
  explicit SentencePieceTokenizer(const GgufFile& file);

  /// Text is any bytes. Where the file says so, it is encoded with a space in front.
  std::vector<std::int32_t> encode(std::string_view text, bool add_bos) const;
  /// With the beginning-of-text token if the file asks for it.
  std::vector<std::int32_t> encode(std::string_view text) const;

  /// The text of a whole sequence, without the space that encode puts in front: gives back any
  /// text without U+2581, which stands for a space in pieces. Control tokens have no text.
  /// Errors: invalid_argument for an id outside [0, vocab_size()).
  std::string decode(std::span<const std::int32_t> ids) const;
  /// The text one token adds to what came before: for printing while generating. May be part of a
  /// UTF-8 sequence. Errors: as decode.
  std::string piece(std::int32_t id) const;

  std::int32_t vocab_size() const;
  std::int32_t bos() const;
  std::int32_t eos() const;
  /// End of text, or end of turn if the file names such a token.
  bool is_end(std::int32_t id) const;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace reprise
