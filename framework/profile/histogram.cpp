#include "framework/profile/histogram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace reprise::profile {
namespace {

constexpr std::uint32_t kBitsPerOctave = 5;
constexpr std::uint32_t kPerOctave = 1U << kBitsPerOctave;

std::uint32_t bucket_of(std::uint64_t value) {
  const auto width = static_cast<std::uint32_t>(std::bit_width(value));
  // Low bits that the bucket does not tell apart.
  const std::uint32_t dropped = width > kBitsPerOctave + 1 ? width - kBitsPerOctave - 1 : 0;
  return dropped * kPerOctave + static_cast<std::uint32_t>(value >> dropped);
}

void append_number(std::vector<std::byte>& blob, std::uint32_t number) {
  for (; number >= 0x80U; number >>= 7U) {
    blob.push_back(static_cast<std::byte>(number | 0x80U));
  }
  blob.push_back(static_cast<std::byte>(number));
}

}  // namespace

BucketRange range_of(std::uint32_t bucket) {
  const std::uint32_t dropped = bucket < 2 * kPerOctave ? 0 : bucket / kPerOctave - 1;
  const std::uint64_t low = std::uint64_t{bucket - dropped * kPerOctave} << dropped;
  return {low, low + ((std::uint64_t{1} << dropped) - 1)};
}

void Histogram::reach(std::uint32_t low, std::uint32_t high) {
  if (counts_.empty()) {
    first_ = low;
  }
  if (low < first_) {
    counts_.insert(counts_.begin(), first_ - low, 0);
    first_ = low;
  }
  if (high - first_ >= counts_.size()) {
    counts_.resize(high - first_ + 1);
  }
}

void Histogram::add(std::span<const std::uint64_t> values) {
  std::array<std::uint32_t, 64> buckets;
  for (std::size_t begin = 0; begin < values.size(); begin += buckets.size()) {
    const std::size_t some = std::min(buckets.size(), values.size() - begin);
    std::uint32_t low = kBuckets;
    std::uint32_t high = 0;
    for (std::size_t i = 0; i < some; ++i) {
      buckets[i] = bucket_of(values[begin + i]);
      low = std::min(low, buckets[i]);
      high = std::max(high, buckets[i]);
    }
    reach(low, high);
    for (std::size_t i = 0; i < some; ++i) {
      ++counts_[buckets[i] - first_];
    }
  }
  count_ += values.size();
}

std::uint64_t Histogram::quantile(double share) const {
  const double rank = std::ceil(share * static_cast<double>(count_));
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    if (static_cast<double>(below) >= rank && below > 0) {
      const BucketRange range = range_of(first_ + static_cast<std::uint32_t>(i));
      return range.low + (range.last - range.low) / 2;
    }
  }
  return 0;
}

std::vector<std::byte> Histogram::blob() const {
  std::vector<std::byte> blob;
  if (count_ > 0) {
    append_number(blob, first_);
    for (const std::uint32_t count : counts_) {
      append_number(blob, count);
    }
  }
  return blob;
}

}  // namespace reprise::profile
