#include "framework/session/slot.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace reprise {
namespace {

constexpr std::uint64_t kWord = 4;
constexpr std::uint64_t kPatchBytes = (StateLayout::kMaxCarried + 1) * kWord;

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

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

/// Copies between a staging buffer and device buffers; every copy has its own place, so they need
/// no barriers between them.
class CopyList {
 public:
  explicit CopyList(std::shared_ptr<Buffer> staging) { pools_.push_back(std::move(staging)); }
  void add(std::uint64_t staging_offset, const std::shared_ptr<Buffer>& buffer,
           std::uint64_t offset, std::uint64_t bytes, bool upload) {
    if (bytes == 0) {
      return;
    }
    const auto pool = static_cast<std::uint32_t>(pools_.size());
    pools_.push_back(buffer);
    const auto binding = [&](std::uint32_t p, std::uint64_t at, Access access) {
      return Binding{p, access, BindingType::storage, at, bytes};
    };
    if (upload) {
      steps_.copy(StepList::kNoNode, binding(0, staging_offset, Access::read),
                  binding(pool, offset, Access::write));
    } else {
      steps_.copy(StepList::kNoNode, binding(pool, offset, Access::read),
                  binding(0, staging_offset, Access::write));
    }
  }
  std::unique_ptr<Encoding> encode(const Device& device, const EncoderOptions& options) const {
    const auto encoder = device.backend().encoder(options);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      encoder->step(steps_, i, pools_);
    }
    return encoder->finish();
  }

 private:
  StepList steps_;
  std::vector<std::shared_ptr<Buffer>> pools_;
};

void add_tensor(CopyList& copies, const TensorRef& tensor, std::uint64_t staging_offset,
                std::uint64_t bytes, bool upload) {
  copies.add(staging_offset, tensor->buffer, tensor->offset, bytes, upload);
}

}  // namespace

Slot::Slot(const Device& device, StateBlock state, std::vector<Exchange> inputs,
           std::vector<Exchange> outputs, Staging& staging)
    : device_(device),
      state_(std::move(state)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      timer_(device.backend().timer()) {
  const std::uint64_t state_bytes = state_ ? aligned(patch_offset() + kPatchBytes) : 0;
  grow(device_, staging.upload, lay_out(inputs_, state_bytes), BufferKind::upload);
  state_offset_ = lay_out(outputs_, 0);
  grow(device_, staging.download, state_offset_ + (state_ ? state_.layout().words() * kWord : 0),
       BufferKind::download);
  staging_ = staging;

  CopyList up(staging_.upload);
  CopyList down(staging_.download);
  if (state_) {
    const auto& memory = *state_.memory_;
    add_tensor(up, memory.block, 0, memory.layout.host_count() * kWord, true);
    if (memory.layout.carried_count() > 0) {
      add_tensor(up, memory.patch, patch_offset(), kPatchBytes, true);
    }
    add_tensor(down, memory.block, state_offset_, memory.layout.words() * kWord, false);
  }
  for (const Exchange& t : inputs_) {
    up.add(t.staging_offset, t.buffer, t.buffer_offset, t.spec.bytes(), true);
  }
  for (const Exchange& t : outputs_) {
    down.add(t.staging_offset, t.buffer, t.buffer_offset, t.spec.bytes(), false);
  }
  prologue_ =
      up.encode(device_, {.name = "prologue", .reusable = true, .start_timer = timer_.get()});
  epilogue_ = down.encode(
      device_,
      {.name = "epilogue", .reusable = true, .ends_at_host = true, .stop_timer = timer_.get()});
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
  memory.patch_mask = 0;
}

void Slot::read_state() {
  auto& memory = *state_.memory_;
  state_words_.resize(memory.layout.words());
  std::memcpy(state_words_.data(), staging_.download->mapped() + state_offset_,
              state_words_.size() * kWord);
  const std::lock_guard lock(memory.mutex);
  memory.returned.assign(state_words_.begin(), state_words_.end());
}

SubmissionTimes Slot::run(const Encoding& body) {
  SubmissionTimes times;
  const std::int64_t begin = now_ns();
  if (state_) {
    write_state();
  }
  const Encoding* const list[] = {prologue_.get(), &body, epilogue_.get()};
  times.submit_time_ns = now_ns();
  times.submission = device_.backend().submit(list);
  const std::int64_t submitted = now_ns();
  device_.backend().wait(times.submission);
  const std::int64_t done = now_ns();
  if (state_) {
    read_state();
  }
  times.prepare_ns = static_cast<std::uint64_t>(times.submit_time_ns - begin);
  times.submit_ns = static_cast<std::uint64_t>(submitted - times.submit_time_ns);
  times.wait_ns = static_cast<std::uint64_t>(done - submitted);
  times.device_ns = timer_->elapsed_ns();
  return times;
}

}  // namespace reprise
