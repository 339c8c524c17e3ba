#include "backends/vulkan/kernel_use.h"

#include <algorithm>

namespace reprise::vulkan {
namespace {

constexpr std::uint32_t kFirstBlock = 8;
constexpr std::uint32_t kLargestBlock = 512;

}  // namespace

KernelUse::~KernelUse() { pipeline_->sets.give(blocks_); }

void KernelUse::add_block() {
  const auto last = blocks_.empty() ? 0 : static_cast<std::uint32_t>(blocks_.back().sets.size());
  pipeline_->sets.take(*device_, std::clamp(last * 2, kFirstBlock, kLargestBlock), blocks_);
  next_ = blocks_.back().sets.data();
  end_ = next_ + blocks_.back().sets.size();
}

}  // namespace reprise::vulkan
