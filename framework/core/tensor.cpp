#include "reprise/core/tensor.h"

#include <algorithm>

#include "framework/core/tensor_slab.h"
#include "reprise/core/error.h"

namespace reprise {
namespace {

constexpr std::size_t kLargestChunk = 1024;

}  // namespace

TensorSpec::TensorSpec(const Shape& of_shape, DType type, const Strides& with)
    : shape(of_shape), dtype(type), strides(with) {
  std::int64_t reach = 0;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const std::int64_t steps = std::max<std::int64_t>(shape.dim(i) - 1, 1);
    if (strides[i] < 0 || strides[i] > (Shape::kMaxElements - reach) / steps) {
      throw_invalid_argument("A view of shape ", to_string(shape), " has a stride of (", strides[i],
                             ") elements; strides are at least 0 and reach at most 2^56 elements.");
    }
    reach += strides[i] * (shape.dim(i) > 1 ? steps : 0);
  }
}

std::string to_string(const TensorSpec& spec) {
  return std::string(name_of(spec.dtype)) + " " + to_string(spec.shape);
}

TensorRecord* TensorSlab::closed() {
  static TensorRecord mark;
  return &mark;
}

TensorRecord* TensorSlab::create() {
  if (free_ != nullptr) {
    return std::exchange(free_, free_->next);
  }
  if (left_ == 0) {
    chunks_.push_back(std::make_unique<TensorRecord[]>(next_chunk_));
    next_ = chunks_.back().get();
    left_ = next_chunk_;
    next_chunk_ = std::min(next_chunk_ * 2, kLargestChunk);
  }
  --left_;
  ++created_;
  TensorRecord* record = next_++;
  record->slab = this;
  return record;
}

void Tensor::drop(TensorRecord* record) { record->slab->drop(record); }

void TensorSlab::drop(TensorRecord* record) {
  record->buffer.reset();
  TensorRecord* head = dropped_.load(std::memory_order_relaxed);
  do {
    if (head == closed()) {
      if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete this;
      }
      return;
    }
    record->next = head;
  } while (!dropped_.compare_exchange_weak(head, record, std::memory_order_acq_rel,
                                           std::memory_order_acquire));
}

void TensorSlab::close() {
  auto alive = static_cast<std::int64_t>(created_);
  for (TensorRecord* list : {free_, dropped_.exchange(closed(), std::memory_order_acq_rel)}) {
    for (; list != nullptr; list = list->next) {
      --alive;
    }
  }
  if (remaining_.fetch_add(alive, std::memory_order_acq_rel) + alive == 0) {
    delete this;
  }
}

Tensor Tensor::over(std::shared_ptr<Buffer> buffer, const TensorSpec& spec, std::uint64_t offset,
                    std::string name) {
  if (!spec.shape.fixed()) {
    throw_invalid_argument(
        "Tensor '", name, "' ", to_string(spec),
        " has an extent of the state; tensors that outlive a session have fixed shapes.");
  }
  return persistent_tensor(std::move(buffer), spec, offset, std::move(name));
}

Tensor persistent_tensor(std::shared_ptr<Buffer> buffer, const TensorSpec& spec,
                         std::uint64_t offset, std::string name) {
  require_rank(spec.shape);
  if (offset > buffer->bytes() || spec.span_bytes() > buffer->bytes() - offset) {
    throw_invalid_argument("Tensor '", name, "' ", to_string(spec), " needs (", spec.span_bytes(),
                           ") bytes at offset (", offset, "), but buffer '", buffer->name(),
                           "' has ", buffer->bytes(), " bytes.");
  }
  // A block starts with a half-precision scale, a plain element is one number.
  const DTypeInfo& info = info_of(spec.dtype);
  const std::uint64_t element = info.block_elements > 1 ? 2 : info.block_bytes;
  if (offset % element != 0) {
    throw_invalid_argument("Tensor '", name, "' ", to_string(spec), " starts at offset (", offset,
                           "), which is not a multiple of its element's ", element, " bytes.");
  }
  auto* slab = new TensorSlab(0, 1);
  TensorRecord* record = slab->create();
  slab->close();
  record->spec = spec;
  record->buffer = std::move(buffer);
  record->offset = offset;
  record->name = std::move(name);
  return Tensor(record);
}

}  // namespace reprise
