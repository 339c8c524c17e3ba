#include "reprise/core/in_flight.h"

namespace reprise {

void InFlight::grow() {
  std::vector<Entry> larger(ring_.size() * 2);
  for (std::size_t i = 0; i < count_; ++i) {
    larger[i] = std::move(at(i));
  }
  ring_ = std::move(larger);
  first_ = 0;
}

void InFlight::add(std::uint64_t submission, std::span<const EncodingRef> encodings) {
  for (const EncodingRef& encoding : encodings) {
    if (count_ == ring_.size()) {
      grow();
    }
    at(count_++) = {submission, encoding};
  }
}

void InFlight::retire(std::uint64_t submission) {
  for (; count_ > 0 && at(0).submission <= submission; --count_) {
    at(0) = {};
    first_ = (first_ + 1) % ring_.size();
  }
}

std::uint64_t InFlight::last_use(const Buffer& buffer, Access access) const {
  for (std::size_t i = count_; i-- > 0;) {
    if (at(i).encoding->uses().any(buffer, access)) {
      return at(i).submission;
    }
  }
  return 0;
}

}  // namespace reprise
