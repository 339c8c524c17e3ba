#include "reprise/backend/in_flight.h"

namespace reprise {

void InFlight::grow() {
  std::vector<Entry> larger(ring_.size() * 2);
  for (std::size_t i = 0; i < count_; ++i) {
    larger[i] = std::move(at(i));
  }
  ring_ = std::move(larger);
  first_ = 0;
}

void InFlight::admit(std::span<const EncodingRef> encodings) {
  for (const EncodingRef& encoding : encodings) {
    encoding->require_alive(free_count());
  }
  while (count_ + encodings.size() > ring_.size()) {
    grow();
  }
}

void InFlight::add(std::uint64_t submission, std::span<const EncodingRef> encodings) noexcept {
  for (const EncodingRef& encoding : encodings) {
    at(count_++) = {submission, encoding};
  }
}

std::size_t InFlight::take(std::uint64_t submission, std::span<EncodingRef> retired) {
  std::size_t taken = 0;
  for (; taken < retired.size() && count_ > 0 && at(0).first <= submission; --count_) {
    retired[taken++] = std::move(at(0).second);
    first_ = (first_ + 1) & (ring_.size() - 1);
  }
  return taken;
}

std::uint64_t InFlight::last_use(const Buffer& buffer, Access access) const {
  for (std::size_t i = count_; i-- > 0;) {
    if (at(i).second->uses().any(buffer, access)) {
      return at(i).first;
    }
  }
  return 0;
}

void InFlight::free(const std::shared_ptr<Buffer>& buffer) {
  if (!buffer->freed()) {
    freed_.push_back(buffer);
    has_freed_ = true;
    buffer->mark_freed();
    ++free_count_;
  }
}

std::shared_ptr<Buffer> InFlight::take_freed() {
  for (std::shared_ptr<Buffer>& buffer : freed_) {
    if (!buffer->pinned() && last_use(*buffer, Access::read_write) == 0) {
      std::swap(buffer, freed_.back());
      std::shared_ptr<Buffer> taken = std::move(freed_.back());
      freed_.pop_back();
      has_freed_ = !freed_.empty();
      return taken;
    }
  }
  return nullptr;
}

}  // namespace reprise
