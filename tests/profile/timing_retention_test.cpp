// Retention against its definition, applied to everything ever added.
#include "framework/profile/timing_retention.h"

#include <algorithm>

#include "tests/testing.h"

namespace reprise {
namespace {

using profile::TimingRetention;

/// Keeps everything and says what should be in the file.
class Model {
 public:
  explicit Model(std::uint64_t budget) : budget_(budget) {}

  std::set<std::int64_t> add(std::int64_t id, std::size_t phase, std::uint64_t duration,
                             std::uint64_t bytes) {
    all_.push_back({id, phase, duration, bytes, counts_[phase]++});
    for (;; ++halvings) {
      std::set<std::int64_t> kept = keep();
      std::uint64_t sum = 0;
      for (const Replay& replay : all_) {
        sum += kept.contains(replay.id) ? replay.bytes : 0;
      }
      if (sum <= budget_) {
        return kept;
      }
    }
  }
  std::uint32_t halvings = 0;

 private:
  struct Replay {
    std::int64_t id = 0;
    std::size_t phase = 0;
    std::uint64_t duration = 0, bytes = 0, ordinal = 0;
  };

  std::set<std::int64_t> keep() const {
    std::vector<Replay> fitting;
    std::ranges::copy_if(all_, std::back_inserter(fitting),
                         [&](const Replay& replay) { return replay.bytes <= budget_; });
    std::set<std::int64_t> kept;
    std::map<std::size_t, std::vector<Replay>> phases;
    for (const Replay& replay : fitting) {
      phases[replay.phase].push_back(replay);
      if (sampled(replay.ordinal)) {
        kept.insert(replay.id);
      }
    }
    for (auto& [phase, replays] : phases) {
      std::ranges::stable_sort(replays, std::ranges::greater(), &Replay::duration);
      for (std::size_t i = 0; i < replays.size() && i < 64U >> halvings; ++i) {
        kept.insert(replays[i].id);
      }
    }
    const std::size_t last = std::min<std::size_t>(fitting.size(), 1024U >> halvings);
    for (std::size_t i = fitting.size() - last; i < fitting.size(); ++i) {
      kept.insert(fitting[i].id);
    }
    return kept;
  }

  bool sampled(std::uint64_t ordinal) const {
    if (ordinal < 64) {
      return ordinal < 64U >> halvings;
    }
    std::uint64_t stride = 2;
    for (std::uint64_t end = 128; ordinal >= end; end *= 2) {
      stride *= 2;
    }
    return ordinal % (stride << halvings) == 0;
  }

  const std::uint64_t budget_;
  std::vector<Replay> all_;
  std::map<std::size_t, std::uint64_t> counts_;
};

class TimingRetentionOf : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(TimingRetentionOf, KeepsWhatTheDefinitionSaysAfterEveryReplay) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(testing::seed_note(seed));
  std::mt19937_64 random(seed);
  const std::uint64_t budget = GetParam();
  TimingRetention retention(budget);
  Model model(budget);
  std::map<std::int64_t, std::uint64_t> file;  // bytes by id
  for (std::int64_t id = 1; id <= 3000; ++id) {
    const std::size_t phase = random() % 10 == 0 ? 1 : 0;
    const std::uint64_t duration = random() % 500;  // many equal
    const std::uint64_t bytes = 8 * (random() % (phase == 1 ? 100 : 20));
    const bool kept = retention.add(id, phase, duration, bytes);
    for (const std::int64_t removed : retention.removed()) {
      ASSERT_EQ(file.erase(removed), 1U) << removed;
    }
    if (kept) {
      file[id] = bytes;
    }
    std::uint64_t sum = 0;
    for (const auto& [kept_id, size] : file) {
      sum += size;
    }
    ASSERT_LE(sum, budget) << id;
    ASSERT_EQ(sum, retention.kept_bytes()) << id;
    const std::set<std::int64_t> expected = model.add(id, phase, duration, bytes);
    ASSERT_TRUE(std::ranges::equal(file, expected, {}, [](const auto& f) { return f.first; }))
        << id << ": " << file.size() << " instead of " << expected.size();
    ASSERT_EQ(retention.halvings(), model.halvings) << id;
  }
}
INSTANTIATE_TEST_SUITE_P(Budgets, TimingRetentionOf,
                         ::testing::Values(0, 100, 1000, 20'000, 80'000, 1 << 20));

TEST(TimingRetention, KeepsAboutAThousandAndThirtyTwoPerOctaveOfAMillion) {
  TimingRetention retention(~std::uint64_t{0});
  for (std::int64_t id = 0; id < 1 << 20; ++id) {
    retention.add(id, 0, 1, 1);
  }
  // All equally slow: the slowest 64 are the first 64. 14 octaves follow; the last stride is wider
  // than the last 1,024.
  EXPECT_EQ(retention.kept_bytes(), 1024U + 64 + 14 * 32);
}

}  // namespace
}  // namespace reprise
