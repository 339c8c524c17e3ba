#include "framework/session/slot.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "framework/session/host_clock.h"

namespace reprise {
namespace {

constexpr std::uint64_t kWord = 4;
constexpr std::uint64_t kPatchBytes = (StateLayout::kMaxCarried + 1) * kWord;
constexpr std::uint32_t kAroundStamps = 2;
constexpr std::uint64_t kAroundBytes = kAroundStamps * sizeof(std::uint64_t);

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

std::uint64_t lay_out(std::vector<Exchange>& tensors, std::uint64_t offset) {
  for (Exchange& t : tensors) {
    t.staging_offset = offset;
    offset = aligned(offset + t.spec.bytes());
  }
  return offset;
}

void grow(const Device& device, std::shared_ptr<Buffer>& buffer, std::uint64_t bytes,
          BufferKind kind) {
  if (buffer == nullptr || buffer->bytes() < bytes) {
    const bool upload = kind == BufferKind::upload;
    buffer = device.backend().allocate(upload ? "slot upload" : "slot download",
                                       std::max<std::uint64_t>(bytes, kWord), kind);
  }
}

std::vector<StagedCopy> copies_of(const std::vector<Exchange>& tensors) {
  std::vector<StagedCopy> copies;
  copies.reserve(tensors.size());
  for (const Exchange& t : tensors) {
    copies.push_back({t.staging_offset, t.buffer, t.buffer_offset, t.spec.bytes()});
  }
  return copies;
}

StagedCopy copy_of(const TensorRef& tensor, std::uint64_t staging_offset, std::uint64_t bytes) {
  return {staging_offset, tensor->buffer, tensor->offset, bytes};
}

}  // namespace

const Exchange& find_exchange(const std::vector<Exchange>& list, std::string_view kind,
                              std::string_view name) {
  const auto it = std::ranges::find(list, name, &Exchange::name);
  if (it != list.end()) {
    return *it;
  }
  std::string known;
  for (const Exchange& port : list) {
    known += (known.empty() ? "" : ", ") + port.name;
  }
  invalid("There is no " + std::string(kind) + " (" + std::string(name) + "); the " +
          std::string(kind) + "s are: " + (known.empty() ? "none" : known) + ".");
}

Slot::Slot(const Device& device, StateBlock state, std::vector<Exchange> inputs,
           std::vector<Exchange> outputs, Staging& staging, SlotOwner& owner, std::uint32_t index)
    : device_(device),
      state_(std::move(state)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      owner_(owner),
      index_(index),
      clock_(device.info()) {
  const std::uint64_t state_bytes = state_ ? aligned(patch_offset() + kPatchBytes) : 0;
  grow(device_, staging.upload, lay_out(inputs_, state_bytes), BufferKind::upload);
  state_offset_ = lay_out(outputs_, 0);
  const std::uint64_t words = state_ ? state_.layout().words() : 0;
  state_words_.resize(words);
  ticks_offset_ = aligned(state_offset_ + words * kWord);
  grow(device_, staging.download, ticks_offset_ + kAroundBytes, BufferKind::download);
  if (staging.stamps == nullptr) {
    staging.stamps = device_.backend().timestamps(kAroundStamps);
  }
  staging_ = staging;
}

const SlotEnds& Slot::ends_for(const Body& body, TimingMode mode) {
  SlotEnds& ends = ends_[static_cast<std::size_t>(mode)];
  if (ends.epilogue != nullptr) {
    return ends;
  }
  SlotEncodingPlan plan;
  plan.up = copies_of(inputs_);
  plan.down = copies_of(outputs_);
  if (state_) {
    const auto& memory = *state_.memory_;
    plan.up.push_back(copy_of(memory.block, 0, memory.layout.host_count() * kWord));
    if (memory.layout.carried_count() > 0) {
      plan.up.push_back(copy_of(memory.patch, patch_offset(), kPatchBytes));
    }
    plan.down.push_back(copy_of(memory.block, state_offset_, memory.layout.words() * kWord));
  }
  if (mode == TimingMode::replay) {
    plan.around = plan.resolved = staging_.stamps;
    plan.ticks = staging_.download;
    plan.ticks_offset = ticks_offset_;
  } else if (body.stamps != nullptr) {
    if (step_ticks_ == nullptr) {
      step_ticks_ = device_.backend().allocate(
          "step timestamps", std::uint64_t{body.stamps->count()} * sizeof(std::uint64_t),
          BufferKind::download);
    }
    plan.resolved = body.stamps;
    plan.ticks = step_ticks_;
  }
  ends = encode_slot_ends(device_.backend(), staging_, plan);
  return ends;
}

std::uint64_t Slot::patch_offset() const { return aligned(state_.layout().host_count() * kWord); }

void Slot::write_state() {
  auto& memory = *state_.memory_;
  const std::lock_guard lock(memory.mutex);
  std::byte* upload = staging_.upload->mapped();
  const auto host = std::as_bytes(std::span(memory.host));
  std::copy(host.begin(), host.end(), upload);
  std::memcpy(upload + patch_offset(), &memory.patch_mask, kWord);
  std::memcpy(upload + patch_offset() + kWord, memory.patches.data(), kPatchBytes - kWord);
  sent_patches_ = std::exchange(memory.patch_mask, 0);
}

/// Patches of a submission that failed go with the next one, unless they were set again.
void Slot::restore_patches() {
  auto& memory = *state_.memory_;
  const std::lock_guard lock(memory.mutex);
  const std::byte* sent = staging_.upload->mapped() + patch_offset() + kWord;
  for (std::uint32_t lost = sent_patches_ & ~memory.patch_mask; lost != 0; lost &= lost - 1) {
    const auto field = static_cast<std::size_t>(std::countr_zero(lost));
    std::memcpy(&memory.patches[field], sent + field * kWord, kWord);
  }
  memory.patch_mask |= sent_patches_;
}

void Slot::read_state() {
  auto& memory = *state_.memory_;
  std::memcpy(state_words_.data(), staging_.download->mapped() + state_offset_,
              state_words_.size() * kWord);
  const std::lock_guard lock(memory.mutex);
  if (times_.submission > memory.returned_by) {
    memory.returned_by = times_.submission;
    std::ranges::copy(state_words_, memory.returned.begin());
  }
}

void Slot::submit(const Body& body, TimingMode mode, std::uint64_t sequence, std::int64_t begin_ns,
                  Follow follow) {
  const SlotEnds& ends = ends_for(body, mode);
  const EncodingRef list[] = {ends.prologue, body.encoding, ends.epilogue};
  if (state_) {
    write_state();
  }
  const std::int64_t submit_ns = now_ns();
  try {
    times_.submission = device_.backend().submit(list, follow);
  } catch (...) {
    if (state_) {
      restore_patches();
    }
    throw;
  }
  times_.submit_time_ns = submit_ns;
  times_.prepare_ns = static_cast<std::uint64_t>(submit_ns - begin_ns);
  times_.submit_ns = static_cast<std::uint64_t>(now_ns() - submit_ns);
  times_.wait_ns = 0;
  mode_ = mode;
  sequence_ = sequence;
  complete_ = failed_ = false;
  phase_.store(Phase::held, std::memory_order_release);
}

std::span<const std::uint64_t> Slot::ticks() const {
  switch (mode_) {
    case TimingMode::off:
      return {};
    case TimingMode::replay:
      return {reinterpret_cast<const std::uint64_t*>(staging_.download->mapped() + ticks_offset_),
              kAroundStamps};
    default:
      return {reinterpret_cast<const std::uint64_t*>(step_ticks_->mapped()),
              step_ticks_->bytes() / sizeof(std::uint64_t)};
  }
}

std::span<const std::uint64_t> Slot::step_ticks() const {
  return mode_ == TimingMode::replay ? std::span<const std::uint64_t>() : ticks();
}

void Slot::complete() {
  if (complete_) {
    return;
  }
  complete_ = true;
  if (state_) {
    read_state();
  }
  const std::span<const std::uint64_t> stamps = ticks();
  times_.device_start_ns.reset();
  times_.device_ns.reset();
  if (!stamps.empty()) {
    times_.device_start_ns = clock_.moment_ns(stamps.front());
    times_.device_ns = clock_.between_ns(stamps.front(), stamps.back());
  }
  owner_.completed(*this);
}

template <class F>
auto Slot::telling_failures(F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    if (!failed_) {
      failed_ = true;
      owner_.failed(*this, error);
    }
    throw;
  }
}

bool Slot::done() {
  if (!complete_ &&
      telling_failures([&] { return device_.backend().complete(times_.submission); })) {
    complete();
  }
  return complete_;
}

void Slot::wait() {
  if (!complete_) {
    const std::int64_t begin = now_ns();
    telling_failures([&] { device_.backend().wait(times_.submission); });
    times_.wait_ns = static_cast<std::uint64_t>(now_ns() - begin);
    complete();
  }
}

void Slot::release() noexcept {
  phase_.store(complete_ ? Phase::idle : Phase::released, std::memory_order_release);
}

void Slot::reclaim() {
  if (phase() == Phase::released) {
    wait();
    phase_.store(Phase::idle, std::memory_order_relaxed);
  }
}

OutputView Slot::output(std::string_view name) const {
  return output(find_exchange(outputs_, "output", name));
}

std::int32_t Slot::state(std::string_view field) const {
  return std::bit_cast<std::int32_t>(state_words_[state_.info_of(field, DType::i32).word]);
}

}  // namespace reprise
