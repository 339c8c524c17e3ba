#include "reprise/formats/tokenizer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>

#include "framework/formats/vocabulary.h"

namespace reprise {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581 stands for a space in pieces
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// The length a first byte announces. Bytes that cannot start a sequence stand alone.
std::size_t character_bytes(char first) {
  constexpr std::array<std::uint8_t, 16> kBytes{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};
  return kBytes[static_cast<unsigned char>(first) >> 4U];
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t found = std::min(text.find(from, start), text.size());
    result += text.substr(start, found - start);
    if (found == text.size()) {
      break;
    }
    result += to;
    start = found + from.size();
  }
  return result;
}

/// Greedy merging with a queue of candidates: O(n log n) for n characters. A candidate is stale
/// when one of its sides has grown or vanished since; the total length tells.
class Merger {
 public:
  Merger(const Vocabulary& vocabulary, std::string_view text)
      : vocabulary_(vocabulary), text_(text) {}

  void append_to(std::vector<std::int32_t>& ids) {
    split();
    while (!candidates_.empty()) {
      const Candidate best = candidates_.top();
      candidates_.pop();
      merge(best);
    }
    for (std::size_t i = symbols_.empty() ? kNone : 0; i != kNone; i = symbols_[i].next) {
      const auto part = text_.substr(symbols_[i].begin, symbols_[i].bytes);
      if (const auto id = vocabulary_.find(part)) {
        ids.push_back(*id);
        continue;
      }
      for (const char byte : part) {
        ids.push_back(vocabulary_.byte_token(byte));
      }
    }
  }

 private:
  struct Symbol {
    std::size_t begin;
    std::size_t bytes;  // 0 once merged into its left neighbour
    std::size_t previous;
    std::size_t next;
  };
  struct Candidate {
    float score;
    std::size_t left;
    std::size_t right;
    std::size_t bytes;

    /// Lower priority: a lower score, then further to the right.
    bool operator<(const Candidate& other) const {
      return score < other.score || (score == other.score && left > other.left);
    }
  };

  void split() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t bytes = std::min(character_bytes(text_[begin]), text_.size() - begin);
      const std::size_t index = symbols_.size();
      const bool last = begin + bytes == text_.size();
      symbols_.push_back({begin, bytes, index == 0 ? kNone : index - 1, last ? kNone : index + 1});
      begin += bytes;
    }
    for (std::size_t i = 1; i < symbols_.size(); ++i) {
      propose(i - 1, i);
    }
  }

  void propose(std::size_t left, std::size_t right) {
    if (left == kNone || right == kNone) {
      return;
    }
    const std::size_t bytes = symbols_[left].bytes + symbols_[right].bytes;
    if (bytes > vocabulary_.longest_bytes()) {
      return;
    }
    if (const auto id = vocabulary_.find(text_.substr(symbols_[left].begin, bytes))) {
      candidates_.push({vocabulary_.token(*id).score, left, right, bytes});
    }
  }

  void merge(const Candidate& best) {
    Symbol& left = symbols_[best.left];
    Symbol& right = symbols_[best.right];
    if (left.bytes == 0 || right.bytes == 0 || left.bytes + right.bytes != best.bytes) {
      return;
    }
    left.bytes = best.bytes;
    left.next = right.next;
    right.bytes = 0;
    if (left.next != kNone) {
      symbols_[left.next].previous = best.left;
    }
    propose(left.previous, best.left);
    propose(best.left, left.next);
  }

  const Vocabulary& vocabulary_;
  std::string_view text_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate> candidates_;
};

std::string_view text_of(const Token& token) {
  const bool silent = token.kind == TokenKind::control || token.kind == TokenKind::unknown;
  return silent ? std::string_view() : std::string_view(token.text);
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(const GgufFile& file)
    : vocabulary_(std::make_shared<Vocabulary>(file)) {}

std::vector<std::int32_t> SentencePieceTokenizer::encode(std::string_view text,
                                                         bool add_bos) const {
  std::vector<std::int32_t> ids;
  if (add_bos) {
    ids.push_back(vocabulary_->bos());
  }
  if (text.empty()) {
    return ids;
  }
  const std::string prefix = vocabulary_->adds_space_prefix() ? std::string(kSpace) : "";
  const std::string escaped = prefix + replaced(text, " ", kSpace);
  Merger(*vocabulary_, escaped).append_to(ids);
  return ids;
}

std::vector<std::int32_t> SentencePieceTokenizer::encode(std::string_view text) const {
  return encode(text, vocabulary_->adds_bos());
}

std::string SentencePieceTokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string escaped;
  for (const std::int32_t id : ids) {
    escaped += text_of(vocabulary_->token(id));
  }
  // Replaced in the whole: without a piece for it, U+2581 comes as three byte tokens.
  std::string text = replaced(escaped, kSpace, " ");
  if (vocabulary_->adds_space_prefix() && text.starts_with(' ')) {
    text.erase(0, 1);
  }
  return text;
}

std::string SentencePieceTokenizer::piece(std::int32_t id) const {
  return replaced(text_of(vocabulary_->token(id)), kSpace, " ");
}

std::int32_t SentencePieceTokenizer::vocab_size() const { return vocabulary_->size(); }

std::int32_t SentencePieceTokenizer::bos() const { return vocabulary_->bos(); }

std::int32_t SentencePieceTokenizer::eos() const { return vocabulary_->eos(); }

bool SentencePieceTokenizer::is_end(std::int32_t id) const {
  return id == vocabulary_->eos() || id == vocabulary_->end_of_turn();
}

}  // namespace reprise
