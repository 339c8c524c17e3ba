#include "backends/vulkan/submission_order.h"

#include <algorithm>

namespace reprise::vulkan {

void SubmissionOrder::reserve() {
  if (submitted_ - completed_ < ring_.size()) {
    return;
  }
  std::vector<QueueKind> larger(ring_.size() * 2);
  for (std::uint64_t n = completed_ + 1; n <= submitted_; ++n) {
    larger[n % larger.size()] = at(n);
  }
  ring_ = std::move(larger);
}

void SubmissionOrder::add(QueueKind queue) noexcept {
  ++submitted_;
  ring_[submitted_ % ring_.size()] = queue;
  of(queue).submitted = submitted_;
}

void SubmissionOrder::complete(QueueKind queue, std::uint64_t through) noexcept {
  of(queue).completed = std::max(of(queue).completed, through);
  while (completed_ < submitted_ && of(at(completed_ + 1)).completed > completed_) {
    ++completed_;
  }
}

std::optional<QueueKind> SubmissionOrder::queue_of(std::uint64_t submission) const {
  if (submission <= completed_) {
    return std::nullopt;
  }
  return submission <= submitted_ ? at(submission) : QueueKind::compute;
}

std::uint64_t SubmissionOrder::last(QueueKind queue, std::uint64_t submission) const {
  std::uint64_t n = std::min(submission, submitted_);
  while (n > completed_ && at(n) != queue) {
    --n;
  }
  return n > completed_ ? n : 0;
}

}  // namespace reprise::vulkan
