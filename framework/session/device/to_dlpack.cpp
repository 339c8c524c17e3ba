#include <algorithm>
#include <array>

#include "framework/session/device/dlpack_dtypes.h"
#include "reprise/backend/backend.h"
#include "reprise/session/dlpack.h"

namespace reprise {
namespace {

/// What an exported tensor points to. The pin keeps the memory where the tensor is freed; it goes
/// with the last owner of the buffer, or as the device releases what was put off.
class Exported {
 public:
  Exported(std::shared_ptr<Buffer> buffer, const TensorRecord& record)
      : buffer_(std::move(buffer)),
        shape_(record.spec.shape.padded()),
        strides_(record.spec.strides) {
    buffer_->pin();
    const DType dtype = record.spec.dtype;
    const auto* const known = std::ranges::find(kDlpackDtypes, dtype, &DlpackDtype::dtype);
    managed.dl_tensor.data = buffer_->mapped() + record.offset;
    managed.dl_tensor.device = {kDLCPU, 0};
    const std::size_t rank = record.spec.shape.rank();
    managed.dl_tensor.ndim = static_cast<int>(rank);
    managed.dl_tensor.dtype = {static_cast<std::uint8_t>(known->code), known->bits, 1};
    managed.dl_tensor.shape = shape_.data() + (shape_.size() - rank);  // behind the padding
    managed.dl_tensor.strides = strides_.data();
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      delete static_cast<Exported*>(self->manager_ctx);
    };
  }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;
  ~Exported() { buffer_->unpin(); }

  DLManagedTensor managed{};

 private:
  std::shared_ptr<Buffer> buffer_;
  std::array<std::int64_t, Shape::kMaxRank> shape_;
  Strides strides_;
};

}  // namespace

DLManagedTensor* to_dlpack(const Device& device, const Tensor& tensor) {
  const TensorRef ref(tensor);
  if (!ref || ref->buffer == nullptr) {
    throw_invalid_argument("to_dlpack takes persistent tensors, but this one is ",
                           ref ? "a session's transient" : "empty", ".");
  }
  const std::string label = "The tensor '" + ref->name + "' " + to_string(ref.spec());
  if (std::ranges::find(kDlpackDtypes, ref.dtype(), &DlpackDtype::dtype) ==
      std::end(kDlpackDtypes)) {
    unsupported(label + " has a block format, which DLPack does not know.");
  }
  Backend& backend = device.backend();
  const std::uint64_t last = backend.last_use(*ref->buffer, Access::read_write);
  if (!backend.traits().runs_on_host) {
    unsupported(label + " is in memory of a " + backend.info().backend +
                " device; DLPack tensors of the CPU are made. Copy it with to_host.");
  }
  ref->buffer->require_alive();
  if (ref->buffer->mapped() == nullptr) {
    unsupported(label + " is in memory that " +
                (ref->buffer->kind() == BufferKind::imported
                     ? "is used in place and may not be written."
                     : "the host does not reach (OpenOptions::map_device_memory).") +
                " Copy it with to_host.");
  }
  auto exported = std::make_unique<Exported>(ref->buffer, *ref);
  backend.wait(last);
  return &exported.release()->managed;
}

}  // namespace reprise
