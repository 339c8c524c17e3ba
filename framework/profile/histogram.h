// A histogram of durations with a bounded relative error: 32 buckets per octave, so every bucket is
// at most 1/32 as wide as its values are large. Buckets 0 to 63 hold the values 0 to 63.
// Only the span of buckets in use is stored: one node's times lie close together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reprise::profile {

/// The values of a bucket, both ends included.
struct BucketRange {
  std::uint64_t low = 0, last = 0;
};
/// `bucket` is less than kBuckets.
BucketRange range_of(std::uint32_t bucket);
inline constexpr std::uint32_t kBuckets = 60 * 32;  // the last holds the largest value

class Histogram {
 public:
  /// Of nanoseconds, or whatever is counted. Many at once cost less.
  void add(std::span<const std::uint64_t> values);
  void add(std::uint64_t value) { add({&value, 1}); }
  std::uint64_t count() const { return count_; }
  /// The middle of the bucket that holds the smallest value with at least `share` (0 to 1) of all
  /// values at or below it; 0 without values.
  std::uint64_t quantile(double share) const;
  /// Numbers as unsigned LEB128: the first bucket in use, then the counts from it to the last one
  /// in use. Nothing without values.
  std::vector<std::byte> blob() const;

 private:
  std::uint32_t first_ = 0;
  std::vector<std::uint32_t> counts_;  // of buckets first_, first_ + 1, ...
  std::uint64_t count_ = 0;

  /// So that there are counts from `low` to `high`.
  void reach(std::uint32_t low, std::uint32_t high);
};

}  // namespace reprise::profile
