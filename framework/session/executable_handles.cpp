// The handles of an executable graph: tensors that stay between its runs.
#include <algorithm>

#include "framework/session/executable_instance.h"
#include "reprise/core/known_names.h"

namespace reprise {
namespace {

void require_spec(const std::string& what, const TensorSpec& is, const TensorSpec& wanted) {
  if (is.shape != wanted.shape) {
    throw Error(ErrorCode::shape_mismatch,
                what + " is " + to_string(is) + ", but (" + to_string(wanted) + ") is needed.");
  }
  if (is.dtype != wanted.dtype) {
    throw Error(ErrorCode::dtype_mismatch,
                what + " is " + to_string(is) + ", but (" + to_string(wanted) + ") is needed.");
  }
}

}  // namespace

Tensor ExecutableInstance::allocate(const Handle& handle) const {
  const Device& device = program_->core()->device();
  if (handle.residency == HandleResidency::device) {
    return device.zeros(handle.shape, handle.dtype, handle.name);
  }
  const TensorSpec spec(handle.shape, handle.dtype);
  auto buffer = device.backend().allocate(handle.name, spec.bytes(), BufferKind::download);
  std::fill_n(buffer->mapped(), spec.bytes(), std::byte{0});
  return Tensor::over(std::move(buffer), spec, 0, handle.name);
}

const ExecutableInstance::HandleEntry& ExecutableInstance::handle(std::string_view name) const {
  const std::uint32_t index = handle_of(name);
  if (index == kNoIndex) {
    throw_unknown_name("The executable '" + program_->options().name + "'", "handle", name,
                       names_of(handles_, [](const HandleEntry& e) { return e.info.name; }));
  }
  return handles_[index];
}

void ExecutableInstance::create_handle(const Handle& handle) {
  require_free();
  if (handle_of(handle.name) != kNoIndex) {
    throw_invalid_argument("The executable '" + program_->options().name + "' has a handle '" +
                           handle.name + "' already.");
  }
  const std::vector<Port>& inputs = program_->inputs();
  const auto input = std::ranges::find(inputs, handle.name, &Port::name);
  if (input != inputs.end()) {
    require_spec("The handle '" + handle.name + "'", TensorSpec(handle.shape, handle.dtype),
                 input->spec);
  }
  handles_.push_back({.info = handle, .tensor = allocate(handle)});
  made_.clear();
}

void ExecutableInstance::bind(std::string_view name, std::span<const std::byte> bytes,
                              DType dtype) {
  const HandleEntry& entry = handle(name);
  const TensorRef tensor(entry.tensor);
  const std::string is = "The handle '" + entry.info.name + "' is " + to_string(tensor.spec());
  if (dtype != tensor.dtype()) {
    throw Error(ErrorCode::dtype_mismatch,
                is + ", but was bound to (" + std::string(name_of(dtype)) + ") values.");
  }
  if (bytes.size() != tensor.spec().bytes()) {
    throw Error(ErrorCode::size_mismatch, is + " (" + std::to_string(tensor.spec().bytes()) +
                                              " bytes), but was bound to (" +
                                              std::to_string(bytes.size()) + ") bytes.");
  }
  program_->core()->device().write(tensor->buffer, tensor->offset, bytes);
}

void ExecutableInstance::bind(std::string_view name, const Tensor& tensor) {
  require_free();
  HandleEntry& entry = handles_[static_cast<std::size_t>(&handle(name) - handles_.data())];
  const TensorRef ref(tensor);
  if (!ref || ref->buffer == nullptr || !ref.spec().contiguous()) {
    throw_invalid_argument("The handle '" + entry.info.name +
                           "' takes a contiguous persistent tensor, but this one is " +
                           (!ref                     ? "empty."
                            : ref->buffer == nullptr ? "a session's transient."
                                                     : "strided."));
  }
  if (entry.next) {
    throw_invalid_argument("The handle '" + entry.info.name +
                           "' swaps its memory with every run, so it takes none of the caller's.");
  }
  require_spec("The tensor '" + ref->name + "'", ref.spec(),
               TensorSpec(entry.info.shape, entry.info.dtype));
  ref->buffer->require_alive();
  entry.tensor = tensor;
  entry.borrowed = true;
  made_.clear();
}

void ExecutableInstance::feed(std::string_view name, std::string_view output,
                              const FeedOptions& options) {
  require_free();
  HandleEntry& entry = handles_[static_cast<std::size_t>(&handle(name) - handles_.data())];
  require_spec("The output '" + std::string(output) + "'", program_->output(output).spec,
               TensorSpec(entry.info.shape, entry.info.dtype));
  const auto fed = std::ranges::find(handles_, output, &HandleEntry::output);
  if (!entry.output.empty() || fed != handles_.end()) {
    const HandleEntry& has = entry.output.empty() ? *fed : entry;
    throw_invalid_argument("The output '" + std::string(output) + "' cannot feed the handle '" +
                           entry.info.name + "': '" + has.output + "' feeds '" + has.info.name +
                           "' already.");
  }
  if (options.mode == FeedMode::swap) {
    if (entry.borrowed) {
      throw_invalid_argument("The handle '" + entry.info.name +
                             "' has memory of the caller's, so it cannot swap it.");
    }
    if (program_->layout().stop_word()) {
      throw Error(ErrorCode::unsupported,
                  "The handle '" + entry.info.name +
                      "' cannot swap: the state of the executable '" + program_->options().name +
                      "' may stop a run on the device, and the host would swap all the same. Feed "
                      "it by copy.");
    }
    entry.next = allocate(entry.info);
  }
  entry.output = output;
  entry.feed = options;
  made_.clear();
}

}  // namespace reprise
