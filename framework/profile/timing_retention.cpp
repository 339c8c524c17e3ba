#include "framework/profile/timing_retention.h"

#include <algorithm>
#include <bit>

namespace reprise::profile {

bool TimingRetention::sampled(std::uint64_t ordinal) const {
  if (ordinal < kFirst) {
    return ordinal < kFirst >> halvings_;
  }
  // Ordinals 64 to 127 have octave 1 and stride 2.
  const auto octave = static_cast<std::uint32_t>(std::bit_width(ordinal / kFirst));
  const std::uint32_t shift = octave + halvings_;
  return shift < 64 && ordinal % (std::uint64_t{1} << shift) == 0;
}

bool TimingRetention::add(std::int64_t id, std::size_t phase, std::uint64_t duration_ns,
                          std::uint64_t bytes) {
  removed_.clear();
  Phase& p = phases_[phase];
  const std::uint64_t ordinal = p.count++;
  if (bytes > budget_bytes_) {
    return false;
  }
  kept_[id] = {ordinal, bytes, sampled(ordinal) ? 3 : 2};
  kept_bytes_ += bytes;
  p.slowest.emplace(duration_ns, -id);
  last_.push_back(id);
  trim(p);
  trim();
  while (kept_bytes_ > budget_bytes_) {
    halve();
  }
  const auto own = std::find(removed_.begin(), removed_.end(), id);
  if (own == removed_.end()) {
    return true;
  }
  removed_.erase(own);
  return false;
}

void TimingRetention::trim(Phase& phase) {
  while (phase.slowest.size() > kSlowest >> halvings_) {
    const std::int64_t id = -phase.slowest.begin()->second;
    phase.slowest.erase(phase.slowest.begin());
    lose_reason(id);
  }
}

void TimingRetention::trim() {
  while (last_.size() > kLast >> halvings_) {
    const std::int64_t id = last_.front();
    last_.pop_front();
    lose_reason(id);
  }
}

void TimingRetention::halve() {
  std::vector<std::int64_t> sampled_before;
  for (const auto& [id, kept] : kept_) {
    if (sampled(kept.ordinal)) {
      sampled_before.push_back(id);
    }
  }
  ++halvings_;
  for (const std::int64_t id : sampled_before) {
    if (!sampled(kept_.at(id).ordinal)) {
      lose_reason(id);
    }
  }
  for (auto& [name, phase] : phases_) {
    trim(phase);
  }
  trim();
}

void TimingRetention::lose_reason(std::int64_t id) {
  const auto kept = kept_.find(id);
  if (--kept->second.reasons == 0) {
    kept_bytes_ -= kept->second.bytes;
    removed_.push_back(id);
    kept_.erase(kept);
  }
}

}  // namespace reprise::profile
