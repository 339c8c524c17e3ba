// Which raw step times stay in the file. Pure: decides over ids, and knows no database.
//
// Kept are, per phase, the first 64 replays, then one of 2 up to replay 128, one of 4 up to 256 and
// so on (32 per octave), and the slowest 64; and over all phases the last 1,024. When that takes
// more than the budget all of these numbers are halved, again and again until it fits; they do not
// grow back.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

namespace reprise::profile {

class TimingRetention {
 public:
  static constexpr std::uint64_t kFirst = 64, kSlowest = 64, kLast = 1024;
  explicit TimingRetention(std::uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  /// `ids` must differ. Returns whether this one is kept; removed() are those that make room for
  /// it, to be removed first, and are valid until the next call. Never is more kept than the
  /// budget.
  bool add(std::int64_t id, std::size_t phase, std::uint64_t duration_ns, std::uint64_t bytes);
  const std::vector<std::int64_t>& removed() const { return removed_; }

  std::uint64_t kept_bytes() const { return kept_bytes_; }
  /// How often the numbers were halved.
  std::uint32_t halvings() const { return halvings_; }

 private:
  struct Kept {
    std::uint64_t ordinal = 0, bytes = 0;
    int reasons = 0;
  };
  struct Phase {
    std::uint64_t count = 0;
    // The fastest first, and of equals the latest, which is the first to go.
    std::set<std::pair<std::uint64_t, std::int64_t>> slowest;
  };
  bool sampled(std::uint64_t ordinal) const;
  void halve();
  void trim();
  void trim(Phase& phase);
  void lose_reason(std::int64_t id);

  const std::uint64_t budget_bytes_;
  std::uint64_t kept_bytes_ = 0;
  std::uint32_t halvings_ = 0;
  std::map<std::int64_t, Kept> kept_;
  std::map<std::size_t, Phase> phases_;
  std::deque<std::int64_t> last_;
  std::vector<std::int64_t> removed_;
};

}  // namespace reprise::profile
