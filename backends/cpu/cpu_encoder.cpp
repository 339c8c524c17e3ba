#include "backends/cpu/cpu_encoder.h"

#include <chrono>
#include <cstring>
#include <new>

namespace reprise::cpu {
namespace {

std::byte* address(const Buffer& of) {
  const auto* buffer = dynamic_cast<const CpuBuffer*>(&of);
  if (buffer == nullptr) {
    invalid("Buffer '" + of.name() + "' belongs to another device.");
  }
  return buffer->data();
}

std::uint64_t now_ticks() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

CpuBuffer::CpuBuffer(std::string name, std::uint64_t bytes, BufferKind kind, bool mapped)
    : Buffer(std::move(name), bytes, kind),
      data_(static_cast<std::byte*>(
          ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow))) {
  if (data_ == nullptr) {
    throw Error(ErrorCode::out_of_memory, "The buffer '" + this->name() + "' needs (" +
                                              std::to_string(bytes) +
                                              ") bytes, which the system does not give.");
  }
  mapped_ = mapped || kind != BufferKind::device ? data_ : nullptr;
}

// No step writes to imported memory, but host functions take all tensors alike.
CpuBuffer::CpuBuffer(std::string name, std::span<const std::byte> bytes,
                     std::shared_ptr<const void> owner)
    : Buffer(std::move(name), bytes.size(), BufferKind::imported),
      data_(const_cast<std::byte*>(bytes.data())),
      owner_(std::move(owner)) {}

CpuBuffer::~CpuBuffer() {
  if (kind() != BufferKind::imported) {
    ::operator delete (data_, std::align_val_t{kAlignment});
  }
}

void CpuEncoding::run() const {
  for (const Command& command : commands_) {
    const std::span tensors(tensors_.data() + command.first_tensor, command.tensor_count);
    switch (command.kind) {
      case Kind::call:
        command.op->reference({*command.op, tensors,
                               std::span(bytes_.data() + command.first_byte, command.byte_count),
                               command.state});
        break;
      case Kind::copy:
        std::memcpy(tensors[1].data, tensors[0].data, command.copy_bytes);
        break;
      case Kind::stamp:
        *command.stamp = now_ticks();
        break;
    }
  }
}

CpuEncoder::CpuEncoder() : encoding_(std::make_unique<CpuEncoding>()) {}

CpuTimestamps& CpuEncoder::own(const std::shared_ptr<Timestamps>& stamps) {
  auto* own = dynamic_cast<CpuTimestamps*>(stamps.get());
  if (own == nullptr) {
    invalid("The timestamps belong to another backend.");
  }
  if (encoding_->stamps_.empty() || encoding_->stamps_.back() != stamps) {
    encoding_->stamps_.push_back(stamps);
  }
  return *own;
}

void CpuEncoder::stamp(const std::shared_ptr<Timestamps>& stamps, std::uint32_t index) {
  encoding_->commands_.push_back(
      {.kind = CpuEncoding::Kind::stamp, .stamp = &own(stamps).ticks.at(index)});
}

void CpuEncoder::resolve(const std::shared_ptr<Timestamps>& stamps,
                         const std::shared_ptr<Buffer>& to, std::uint64_t offset) {
  auto& ticks = own(stamps).ticks;
  CpuEncoding::Command copy{.kind = CpuEncoding::Kind::copy};
  copy.first_tensor = static_cast<std::uint32_t>(encoding_->tensors_.size());
  copy.tensor_count = 2;
  copy.copy_bytes = ticks.size() * sizeof(std::uint64_t);
  for (std::byte* data : {reinterpret_cast<std::byte*>(ticks.data()), address(*to) + offset}) {
    encoding_->tensors_.push_back({data, nullptr});
    encoding_->specs_.emplace_back();
  }
  encoding_->commands_.push_back(copy);
  encoding_->uses_.add(to, Access::write);
}

void CpuEncoder::step(const StepList& steps, std::size_t index,
                      std::span<const std::shared_ptr<Buffer>> pools) {
  const Step& step = steps[index];
  const auto bindings = steps.bindings(step);
  const auto specs = steps.specs(step);
  CpuEncoding::Command call;
  call.kind = step.op == nullptr ? CpuEncoding::Kind::copy : CpuEncoding::Kind::call;
  call.op = step.op;
  call.first_tensor = static_cast<std::uint32_t>(encoding_->tensors_.size());
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    std::byte* data = nullptr;
    if (bindings[i].bytes != 0) {
      const std::shared_ptr<Buffer>& buffer = pools[bindings[i].pool];
      data = address(*buffer) + bindings[i].offset;
      encoding_->uses_.add(bindings[i].pool, buffer, bindings[i].access);
    }
    if (bindings[i].type == BindingType::uniform) {
      call.state = reinterpret_cast<const std::uint32_t*>(data);
      continue;
    }
    encoding_->tensors_.push_back({data, nullptr});
    encoding_->specs_.push_back(specs.empty() ? TensorSpec() : specs[i]);
    ++call.tensor_count;
  }
  call.copy_bytes = step.op == nullptr ? bindings[0].bytes : 0;
  call.first_byte = static_cast<std::uint32_t>(encoding_->bytes_.size());
  call.byte_count = step.byte_count;
  const auto bytes = steps.bytes(step);
  encoding_->bytes_.insert(encoding_->bytes_.end(), bytes.begin(), bytes.end());
  encoding_->bytes_.resize((encoding_->bytes_.size() + 7) / 8 * 8);  // attribute structs align to 8
  encoding_->commands_.push_back(call);
}

std::unique_ptr<Encoding> CpuEncoder::finish() {
  for (std::size_t i = 0; i < encoding_->tensors_.size(); ++i) {
    encoding_->tensors_[i].spec = &encoding_->specs_[i];
  }
  return std::move(encoding_);
}

}  // namespace reprise::cpu
