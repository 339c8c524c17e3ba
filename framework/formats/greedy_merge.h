// Joins neighbours again and again, the best pair first and of equals the leftmost, until no pair
// joins: O(n log n) for n symbols, with a queue of candidates. A candidate is stale when one of its
// sides has grown or vanished since; the total length tells.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <vector>

namespace reprise {

/// A part of the text, in a list in its order.
struct Symbol {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t begin;
  std::size_t bytes;  // 0 once joined to its left neighbour
  std::int32_t id;    // what the rules of joining make of it
  std::size_t previous = kNone;
  std::size_t next = kNone;
};

inline void append_symbol(std::vector<Symbol>& symbols, std::size_t begin, std::size_t bytes,
                          std::int32_t id) {
  if (!symbols.empty()) {
    symbols.back().next = symbols.size();
  }
  symbols.push_back({begin, bytes, id, symbols.empty() ? Symbol::kNone : symbols.size() - 1});
}

struct Joined {
  double score;  // the highest goes first
  std::int32_t id;
};

/// `join(left, right)` is an optional<Joined>. Follow `next` from the first symbol for the rest.
template <class Join>
void merge_greedily(std::vector<Symbol>& symbols, Join&& join) {
  struct Candidate {
    double score;
    std::size_t left;
    std::size_t right;
    std::size_t bytes;
    std::int32_t id;

    bool operator<(const Candidate& other) const {
      return score < other.score || (score == other.score && left > other.left);
    }
  };
  std::priority_queue<Candidate> candidates;
  const auto propose = [&](std::size_t left, std::size_t right) {
    if (left == Symbol::kNone || right == Symbol::kNone) {
      return;
    }
    if (const std::optional<Joined> joined = join(symbols[left], symbols[right])) {
      candidates.push(
          {joined->score, left, right, symbols[left].bytes + symbols[right].bytes, joined->id});
    }
  };
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    propose(i - 1, i);
  }
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol& left = symbols[best.left];
    Symbol& right = symbols[best.right];
    if (left.bytes == 0 || right.bytes == 0 || left.bytes + right.bytes != best.bytes) {
      continue;
    }
    left.bytes = best.bytes;
    left.id = best.id;
    left.next = right.next;
    right.bytes = 0;
    if (left.next != Symbol::kNone) {
      symbols[left.next].previous = best.left;
    }
    propose(left.previous, best.left);
    propose(best.left, left.next);
  }
}

}  // namespace reprise
