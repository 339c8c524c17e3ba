// What a StateBlock documents: which values may be set, when a launch is refused, what it leaves.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "reprise/reprise.h"

namespace reprise::testing {

/// Words of the block that random programs use.
enum StateWord : std::uint32_t { kRow, kPos, kToken, kDone, kLength, kStateWords };
inline constexpr const char* kFields[] = {"row", "pos", "token", "done", "length", "nothing"};
using StateWords = std::array<std::int32_t, kStateWords>;

class StateModel {
 public:
  static constexpr StateRange kRowRange{0, 5}, kPosRange{0, 9}, kLengthRange{0, 11};
  /// row (host), pos, token, done (carried), length = pos + row (derived); done stops iterations.
  static StateLayout layout() {
    return StateLayout()
        .host("row", 0, kRowRange)
        .carried("pos", 0, kPosRange)
        .carried("token", 0)
        .carried("done", 0)
        .derived("length", field("pos") + field("row"), kLengthRange)
        .stop_when("done");
  }
  static std::optional<StateWord> word_of(const std::string& name) {
    const auto fields = layout().fields();
    for (const StateFieldInfo& info : fields) {
      if (info.name == name) {
        return static_cast<StateWord>(info.word);
      }
    }
    return std::nullopt;
  }

  /// False: refused with invalid_argument, nothing changes.
  bool set(const std::string& name, std::int32_t value) {
    const auto word = word_of(name);
    if (!word || *word == kLength || (*word == kRow && !kRowRange.contains(value)) ||
        (*word == kPos && !kPosRange.contains(value))) {
      return false;
    }
    if (*word == kRow) {
      row_ = value;
    } else {
      patches_[*word] = value;
    }
    return true;
  }

  /// Whether the next launch is within the ranges.
  bool launches() const {
    const std::int32_t pos = patches_[kPos].value_or(words_[kPos]);
    return kPosRange.contains(pos) && kLengthRange.contains(pos + row_);
  }
  /// The head of a submission: what the host set arrives.
  void send() {
    words_[kRow] = row_;
    for (const StateWord word : {kPos, kToken, kDone}) {
      words_[word] = std::exchange(patches_[word], std::nullopt).value_or(words_[word]);
    }
  }
  /// The head of an iteration; whether it runs in a graph that iterates.
  bool plan() {
    words_[kLength] = words_[kPos] + words_[kRow];
    return kPosRange.contains(words_[kPos]) && kLengthRange.contains(words_[kLength]) &&
           words_[kDone] == 0;
  }
  StateWords& words() { return words_; }

  /// A submission that left `words_` behind; `known`: its completion was seen.
  std::size_t submitted() {
    returned_.push_back({++submissions_, words_});
    return submissions_;
  }
  /// Its completion was seen, so earlier ones do not show any more.
  void completed(std::size_t submission) {
    std::erase_if(returned_, [&](const Returned& r) { return r.submission < submission; });
  }
  /// Whether StateBlock::get may answer so: any submission since the last one seen to complete.
  bool may_return(StateWord word, std::int32_t value) const {
    return std::ranges::any_of(returned_,
                               [&](const Returned& r) { return r.words[word] == value; });
  }

 private:
  struct Returned {
    std::size_t submission;
    StateWords words;
  };
  std::int32_t row_ = 0;
  StateWords words_{};
  std::array<std::optional<std::int32_t>, kStateWords> patches_{};
  std::size_t submissions_ = 0;
  std::vector<Returned> returned_{{0, {}}};
};

}  // namespace reprise::testing
