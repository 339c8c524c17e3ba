#include "framework/formats/word_finder.h"

#include <algorithm>

namespace reprise {

WordFinder::WordFinder(std::span<const std::string> words) {
  struct Words {
    std::uint32_t begin, end;
  };
  std::vector<Words> with;  // of each node: those that begin with its prefix
  nodes_.emplace_back();
  with.push_back({0, static_cast<std::uint32_t>(words.size())});
  std::uint32_t level_end = 1;
  for (std::uint32_t n = 0, length = 0; n < nodes_.size(); ++n) {
    if (n == level_end) {
      level_end = static_cast<std::uint32_t>(nodes_.size());
      ++length;
    }
    nodes_[n].first_child = static_cast<std::uint32_t>(nodes_.size());
    auto [at, end] = with[n];
    if (at < end && words[at].size() == length) {
      nodes_[n].word = at++;
    } else if (n > 0) {
      nodes_[n].word = nodes_[nodes_[n].fallback].word;
    }
    for (; at < end; ++at) {
      const auto byte = static_cast<unsigned char>(words[at][length]);
      if (nodes_.size() > nodes_[n].first_child && nodes_.back().byte == byte) {
        ++with.back().end;
        continue;
      }
      // The children of shorter prefixes are complete, so this looks for one among them.
      Cursor cursor{nodes_[n].fallback};
      if (n > 0) {
        advance(cursor, byte);
      }
      nodes_.push_back({0, cursor.node, kNone, byte});
      with.push_back({at, at + 1});
    }
  }
  nodes_.push_back({static_cast<std::uint32_t>(nodes_.size()), 0, kNone, 0});
}

std::uint32_t WordFinder::advance(Cursor& cursor, unsigned char byte) const {
  for (;;) {
    ++cursor.links;
    if (const std::uint32_t next = child(cursor.node, byte); next != 0) {
      cursor.node = next;
      break;
    }
    if (cursor.node == 0) {
      break;
    }
    cursor.node = nodes_[cursor.node].fallback;
  }
  return nodes_[cursor.node].word;
}

std::uint32_t WordFinder::child(std::uint32_t node, unsigned char byte) const {
  const auto first = nodes_.begin() + nodes_[node].first_child;
  const auto last = nodes_.begin() + nodes_[node + 1].first_child;
  const auto found = std::ranges::lower_bound(first, last, byte, {}, &Node::byte);
  return found != last && found->byte == byte ? static_cast<std::uint32_t>(found - nodes_.begin())
                                              : 0;
}

}  // namespace reprise
