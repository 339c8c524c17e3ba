// Words in a text, found in one pass over it: an automaton of Aho and Corasick (Efficient string
// matching, CACM 18 (6), 1975).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace reprise {

/// Const members may be called concurrently.
class WordFinder {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  /// `words` are sorted, distinct and not empty, with less than 2^32 - 1 bytes together.
  explicit WordFinder(std::span<const std::string> words);

  /// Where the search stands in a text.
  struct Cursor {
    std::uint32_t node = 0;
    std::uint64_t links = 0;  // followed so far: at most two per byte
  };
  /// Moves over the next byte of the text. Returns the index of the longest word that ends with it,
  /// or kNone.
  std::uint32_t advance(Cursor& cursor, unsigned char byte) const;

 private:
  /// A prefix of words. Nodes are in the order of their length: the children of each lie together,
  /// by byte, and end where those of the next node begin.
  struct Node {
    std::uint32_t first_child = 0;
    std::uint32_t fallback = 0;  // the longest other prefix that this one ends with
    std::uint32_t word = kNone;  // the longest that this prefix ends with
    unsigned char byte = 0;      // the last of the prefix
  };
  std::uint32_t child(std::uint32_t node, unsigned char byte) const;

  std::vector<Node>
      nodes_;  // the empty prefix first; behind the last one a node that ends its children
};

}  // namespace reprise
