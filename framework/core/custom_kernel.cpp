#include "reprise/core/custom_kernel.h"

#include <cstring>

#include "framework/core/custom_op.h"
#include "reprise/backend/backend.h"
#include "reprise/core/recorder.h"

namespace reprise {
namespace {

void require_call(const CustomKernel& kernel, std::size_t inputs, std::size_t outputs,
                  std::size_t push_bytes) {
  if (!kernel) {
    throw_invalid_argument(
        "A dispatch needs a kernel, but got an empty handle; compile one first.");
  }
  const CustomOp& op = kernel.op();
  if (inputs != op.operands.size() || outputs != op.results.size()) {
    throw_invalid_argument(op.title(), " takes ", op.operands.size(), " tensors and makes ",
                           op.results.size(), ", but got (", inputs, ") and (", outputs, ").");
  }
  if (push_bytes != op.push_bytes) {
    throw_invalid_argument(op.title(), " takes ", op.push_bytes,
                           " bytes of push constants, but got (", push_bytes, ").");
  }
}

}  // namespace

const HostTensor& KernelRun::at(std::size_t binding) const {
  if (binding >= call_.tensors.size()) {
    throw_invalid_argument("The kernel '", name_, "' has ", call_.tensors.size(),
                           " bindings, but number (", binding, ") is asked for.");
  }
  return call_.tensors[binding];
}

std::span<std::byte> KernelRun::bytes(std::size_t binding, Access access, DTypeSet dtypes) const {
  const HostTensor& tensor = at(binding);
  const KernelBinding& declared = interface_.bindings[binding];
  const std::string text = joined_text("The function of the kernel '", name_, "' ");
  if (access == Access::read ? !reads(declared.access) : !writes(declared.access)) {
    throw_invalid_argument(text, access == Access::read ? "reads" : "writes", " its binding (",
                           binding, ") '", declared.name, "', which its interface does not allow.");
  }
  if (!holds(dtypes, tensor.dtype())) {
    throw_invalid_argument(text, "takes its binding (", binding, ") '", declared.name,
                           "', which is ", to_string(*tensor.spec), ", for another dtype.");
  }
  return {tensor.data, tensor.spec->bytes()};
}

std::size_t KernelRun::binding_count() const { return call_.tensors.size(); }

const TensorSpec& KernelRun::spec(std::size_t binding) const { return *at(binding).spec; }

std::uint32_t KernelRun::state_word(std::uint32_t word) const { return call_.state[word]; }

void KernelRun::copy_push(void* to, std::size_t bytes) const {
  if (bytes != push_.size()) {
    throw_invalid_argument("The function of the kernel '", name_, "' takes (", bytes,
                           ") bytes of push constants; there are ", push_.size(), ".");
  }
  std::memcpy(to, push_.data(), bytes);
}

std::string_view CustomKernel::name() const { return op_->source.name; }

const KernelInterface& CustomKernel::interface() const { return op_->interface; }

CustomKernelInfo CustomKernel::info() const {
  CustomKernelInfo info;
  info.push_bytes = op_->interface.push_bytes;
  info.constants = op_->interface.constants;
  const auto device = op_->device.lock();
  if (op_->shader == nullptr) {
    return info;
  }
  info.local_size = op_->shader->interface.local_size;
  info.shared_bytes = op_->shader->interface.shared_bytes;
  info.spirv = op_->shader->spirv;
  if (const auto known =
          device == nullptr ? std::nullopt : device->kernel_info(Kernel{op_->shader->name})) {
    info.create_ns = known->pipeline_create_ns;
  }
  return info;
}

std::vector<Tensor> dispatch(Site site, const CustomKernel& kernel,
                             const std::vector<TensorRef>& inputs,
                             const std::vector<TensorSpec>& outputs, const KernelPush& push,
                             const Grid& grid) {
  site.recorder.check(kernel ? kernel.op().name : "dispatch", site.where, [&] {
    require_call(kernel, inputs.size(), outputs.size(), push.bytes().size());
  });
  const CustomOp& op = kernel.op();
  const std::vector<std::byte> attributes = op.attributes_of(grid, push.bytes());
  const CustomCall call{{site.recorder, op, inputs, attributes, site.where}, outputs};
  std::vector<Tensor> results(outputs.size());
  site.recorder.call(call, results);
  return results;
}

}  // namespace reprise
