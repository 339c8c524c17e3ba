// Where the text of special tokens stands in a text: from left to right, the longest first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "framework/formats/vocabulary.h"
#include "framework/formats/word_finder.h"

namespace reprise {

/// Const members may be called concurrently.
class SpecialTokens {
 public:
  /// User-defined tokens, and with `control` also control tokens and the unknown one.
  /// Errors: invalid_argument if their texts are larger than kMaxBytes.
  SpecialTokens(const Vocabulary& vocabulary, bool control);
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 24U;  // the search needs 24 per byte

  struct Found {
    std::size_t begin;
    std::size_t bytes;
    std::int32_t id;
  };
  /// In time linear in the text.
  std::vector<Found> find_all(std::string_view text) const;

 private:
  struct Special {
    std::size_t bytes;
    std::int32_t id;
  };
  std::vector<Special> specials_;     // by word of finder_
  std::optional<WordFinder> finder_;  // of their texts backwards; empty without any
};

}  // namespace reprise
