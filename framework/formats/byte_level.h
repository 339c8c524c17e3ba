// Byte-level BPE: a text is cut into words, the bytes of a word are joined in the order in which
// the merges were learnt. Method: Radford et al. 2019 (GPT-2), section 2.2.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "framework/formats/pre_tokenizer.h"
#include "framework/formats/vocabulary.h"

namespace reprise {

/// Const members may be called concurrently.
class ByteLevel {
 public:
  /// Errors: unsupported for another "tokenizer.ggml.pre", invalid_argument for merges of what is
  /// no token.
  ByteLevel(const GgufFile& file, const Vocabulary& vocabulary);

  /// Where the file does not say.
  bool adds_bos() const { return pre_ == PreTokenizer::llama3; }
  /// Appends the tokens of `text`, any bytes.
  void encode(const Vocabulary& vocabulary, std::string_view text,
              std::vector<std::int32_t>& ids) const;

 private:
  struct Merge {
    std::int32_t left;
    std::int32_t right;
    std::int32_t joined;
    std::size_t rank;
  };
  void encode_word(const Vocabulary& vocabulary, std::string_view word,
                   std::vector<std::int32_t>& ids) const;
  const Merge* find(std::int32_t left, std::int32_t right) const;

  PreTokenizer pre_;
  std::vector<Merge> merges_;  // by left, then right
};

}  // namespace reprise
