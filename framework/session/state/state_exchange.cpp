#include "framework/session/state/state_exchange.h"

#include <algorithm>
#include <cstring>

namespace reprise {
namespace {

constexpr std::uint64_t kPatchBytes = (StateLayout::kMaxCarried + 1) * StateLayout::kWordBytes;

}  // namespace

StateExchange::StateExchange(const Device& device, StateBlock state)
    : device_(device), state_(std::move(state)) {
  if (state_) {
    words_.resize(state_.layout().words_with_arrays());
    array_patches_.resize(state_.inner().arrays.size());
    arrays_up_ = staging_aligned(patch_offset() + kPatchBytes);
    arrays_down_ = staging_aligned(block_words() * StateLayout::kWordBytes);
    upload_bytes_ = staging_aligned(arrays_up_ + array_bytes());
    download_bytes_ = staging_aligned(arrays_down_ + array_bytes());
  }
}

std::uint64_t StateExchange::array_bytes() const {
  const auto& buffer = state_.inner().array_buffer;
  return buffer == nullptr ? 0 : buffer->bytes();
}

std::uint64_t StateExchange::patch_offset() const {
  return staging_aligned(state_.layout().host_count() * StateLayout::kWordBytes);
}

void StateExchange::add_uploads(std::vector<StagedCopy>& copies) const {
  if (!state_) {
    return;
  }
  const auto& memory = state_.inner();
  copies.push_back(copy_of(memory.block, 0, memory.layout.host_count() * StateLayout::kWordBytes));
  if (memory.layout.carried_count() > 0) {
    copies.push_back(copy_of(memory.patch, patch_offset(), kPatchBytes));
  }
  for (const StateArray& array : memory.arrays) {
    if (array.info.owner == StateOwner::host) {
      copies.push_back(copy_of(array.tensor, arrays_up_ + array.offset,
                               array.info.count * StateLayout::kWordBytes));
    }
  }
}

void StateExchange::add_downloads(std::vector<StagedCopy>& copies) const {
  if (state_) {
    const auto& memory = state_.inner();
    copies.push_back(copy_of(memory.block, 0, block_words() * StateLayout::kWordBytes));
    if (memory.array_buffer != nullptr) {
      copies.push_back({arrays_down_, memory.array_buffer, 0, array_bytes()});
    }
  }
}

std::unique_lock<std::mutex> StateExchange::send(const Staging& staging,
                                                 std::vector<EncodingRef>& list,
                                                 std::span<const ExtentLimit> limits) {
  if (!state_) {
    return {};
  }
  StateMemory& memory = state_.inner();
  std::unique_lock lock = memory.lock_to_send(limits);
  encode_patches(staging);
  std::byte* upload = staging.upload->mapped();
  write_arrays(upload, list);
  std::ranges::copy(std::as_bytes(std::span(memory.host)), upload);
  std::memcpy(upload + patch_offset(), &memory.patch_mask, StateLayout::kWordBytes);
  std::memcpy(upload + patch_offset() + StateLayout::kWordBytes, memory.patches.data(),
              kPatchBytes - StateLayout::kWordBytes);
  sent_patches_ = std::exchange(memory.patch_mask, 0);
  return lock;
}

void StateExchange::encode_patches(const Staging& staging) {
  const auto& arrays = state_.inner().arrays;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const bool again = !device_.backend().traits().replays;
    if (arrays[i].pending && (again || array_patches_[i].encoding == nullptr)) {
      array_patches_[i].encoding =
          encode_prologue(device_.backend(), staging,
                          {copy_of(arrays[i].tensor, arrays_up_ + arrays[i].offset,
                                   arrays[i].info.count * StateLayout::kWordBytes)},
                          nullptr);
    }
  }
}

void StateExchange::write_arrays(std::byte* upload, std::vector<EncodingRef>& list) {
  auto& arrays = state_.inner().arrays;
  list.reserve(list.size() + arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    StateArray& array = arrays[i];
    array_patches_[i].sent = std::exchange(array.pending, false);
    if (array_patches_[i].sent) {
      list.insert(list.begin() + 1, array_patches_[i].encoding);
    }
    if (array_patches_[i].sent || array.info.owner == StateOwner::host) {
      std::memcpy(upload + arrays_up_ + array.offset, array.values.data(),
                  array.values.size() * StateLayout::kWordBytes);
    }
  }
}

std::unique_lock<std::mutex> StateExchange::hold() {
  sent_patches_ = 0;
  return state_ ? std::unique_lock(state_.inner().mutex) : std::unique_lock<std::mutex>();
}

void StateExchange::submitted(std::uint64_t submission, std::span<const StateGrowth> growths,
                              std::uint32_t iterations, bool exact) {
  if (state_) {
    auto& memory = state_.inner();
    memory.bound.submitted(submission, {memory.host, sent_patches_, memory.patches}, growths,
                           iterations, exact);
  }
}

void StateExchange::failed() {
  if (state_) {
    auto& memory = state_.inner();
    memory.patch_mask |= sent_patches_;  // nothing was set since: the values are there
    for (std::size_t i = 0; i < memory.arrays.size(); ++i) {
      memory.arrays[i].pending = memory.arrays[i].pending || array_patches_[i].sent;
    }
  }
}

void StateExchange::receive(const Staging& staging, std::uint64_t submission) {
  if (!state_) {
    return;
  }
  auto& memory = state_.inner();
  const std::byte* download = staging.download->mapped();
  std::copy_n(download, block_words() * StateLayout::kWordBytes,
              std::as_writable_bytes(std::span(words_)).data());  // none without fields
  for (const StateArray& array : memory.arrays) {
    std::memcpy(words_.data() + array.info.word, download + arrays_down_ + array.offset,
                array.info.count * StateLayout::kWordBytes);
  }
  memory.receive(submission, words_);
}

std::uint32_t StateExchange::word_of(std::string_view field, DType dtype) const {
  return state_.require("field", field).info_of(field, dtype).word;
}

}  // namespace reprise
