// Where the text of special tokens stands in a text: from left to right, the longest first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/formats/vocabulary.h"

namespace reprise {

/// Const members may be called concurrently.
class SpecialTokens {
 public:
  /// User-defined tokens, and with `control` also control tokens and the unknown one.
  SpecialTokens(const Vocabulary& vocabulary, bool control);

  struct Found {
    std::size_t begin;
    std::size_t bytes;
    std::int32_t id;
  };
  std::optional<Found> find(std::string_view text, std::size_t from) const;

 private:
  struct Special {
    std::string text;
    std::int32_t id;
  };
  const Special* longest_at(std::string_view text) const;

  std::vector<Special> specials_;  // by text; of equal ones the last id
};

}  // namespace reprise
