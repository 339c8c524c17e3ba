#include "backends/cpu/cpu_encoder.h"

#include <chrono>
#include <cstring>
#include <new>

namespace reprise::cpu {
namespace {

constexpr std::align_val_t kAlignment{64};

std::byte* address(const Binding& binding, std::span<const std::shared_ptr<Buffer>> pools) {
  if (binding.bytes == 0) {
    return nullptr;
  }
  const auto* buffer = dynamic_cast<const CpuBuffer*>(pools[binding.pool].get());
  if (buffer == nullptr) {
    invalid("Buffer '" + pools[binding.pool]->name() + "' belongs to another device.");
  }
  return buffer->data() + binding.offset;
}

}  // namespace

CpuBuffer::CpuBuffer(std::string name, std::uint64_t bytes, BufferKind kind)
    : Buffer(std::move(name), bytes, kind),
      data_(static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow))) {
  if (data_ == nullptr) {
    throw Error(ErrorCode::out_of_memory, "The buffer '" + this->name() + "' needs (" +
                                              std::to_string(bytes) +
                                              ") bytes, which the system does not give.");
  }
  mapped_ = kind == BufferKind::device ? nullptr : data_;
}

CpuBuffer::~CpuBuffer() { ::operator delete(data_, kAlignment); }

std::optional<std::uint64_t> CpuTimer::elapsed_ns() {
  return static_cast<std::uint64_t>(stop_ns_ - start_ns_);
}
void CpuTimer::start() { start_ns_ = std::chrono::steady_clock::now().time_since_epoch().count(); }
void CpuTimer::stop() { stop_ns_ = std::chrono::steady_clock::now().time_since_epoch().count(); }

void CpuEncoding::run() const {
  if (stop_ != nullptr) {
    stop_->stop();
  }
  for (const Call& call : calls_) {
    const std::span tensors(tensors_.data() + call.first_tensor, call.tensor_count);
    if (call.op == nullptr) {
      std::memcpy(tensors[1].data, tensors[0].data, call.copy_bytes);
    } else {
      const std::span attributes(bytes_.data() + call.first_byte, call.byte_count);
      call.op->reference({*call.op, tensors, attributes, call.state});
    }
  }
  if (start_ != nullptr) {
    start_->start();
  }
}

CpuEncoder::CpuEncoder(const EncoderOptions& options) : encoding_(std::make_unique<CpuEncoding>()) {
  encoding_->start_ = static_cast<CpuTimer*>(options.start_timer);
  encoding_->stop_ = static_cast<CpuTimer*>(options.stop_timer);
}

void CpuEncoder::step(const StepList& steps, std::size_t index,
                      std::span<const std::shared_ptr<Buffer>> pools) {
  const Step& step = steps[index];
  const auto bindings = steps.bindings(step);
  const auto specs = steps.specs(step);
  CpuEncoding::Call call;
  call.op = step.op;
  call.first_tensor = static_cast<std::uint32_t>(encoding_->tensors_.size());
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    std::byte* data = address(bindings[i], pools);
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
  encoding_->calls_.push_back(call);
}

std::unique_ptr<Encoding> CpuEncoder::finish() {
  for (std::size_t i = 0; i < encoding_->tensors_.size(); ++i) {
    encoding_->tensors_[i].spec = &encoding_->specs_[i];
  }
  return std::move(encoding_);
}

}  // namespace reprise::cpu
