#include "framework/session/saved/saved_kernels.h"

#include <algorithm>

#include "reprise/backend/backend.h"

namespace reprise {
namespace {

KernelSource source_of(const SavedKernel& saved) {
  return {.name = saved.name,
          .glsl = saved.glsl,
          .spirv = saved.spirv,
          .includes = {saved.includes.begin(), saved.includes.end()}};
}

KernelInterface interface_of(const SavedKernel& saved) {
  KernelInterface interface {
    .bindings = saved.bindings, .push_bytes = saved.push_bytes, .fields = saved.fields,
    .constants = {
      saved.constants.begin(),
      saved.constants.end()
    }
  };
  if (saved.rows_axis != kNoIndex) {
    interface.rows_axis = saved.rows_axis;
  }
  return interface;
}

bool same(const CustomOp& kernel, const SavedKernel& saved) {
  const KernelSource source = source_of(saved);
  return kernel.source.glsl == source.glsl && kernel.source.spirv == source.spirv &&
         kernel.source.includes == source.includes && kernel.interface == interface_of(saved);
}

}  // namespace

SavedKernel saved_kernel(const CustomOp& kernel, std::uint32_t op) {
  const KernelSource& source = kernel.source;
  const KernelInterface& interface = kernel.interface;
  if (source.glsl.empty() && source.spirv.empty()) {
    throw Error(ErrorCode::unsupported, kernel.title() +
                                            " is a function alone, which no file can hold; give it "
                                            "KernelSource::glsl or KernelSource::spirv as well.");
  }
  return {.op = op,
          .name = source.name,
          .glsl = source.glsl,
          .spirv = source.spirv,
          .includes = {source.includes.begin(), source.includes.end()},
          .bindings = interface.bindings,
          .push_bytes = interface.push_bytes,
          .fields = interface.fields,
          .constants = {interface.constants.begin(), interface.constants.end()},
          .rows_axis = interface.rows_axis.value_or(kNoIndex)};
}

CustomKernel loaded_kernel(const Device& device, const SavedKernel& saved,
                           const LoadOptions& options) {
  const auto given = std::ranges::find(options.kernels, saved.name, [](const CustomKernel& kernel) {
    return kernel ? kernel.name() : std::string_view();
  });
  const std::string text = "The graph runs the kernel '" + saved.name + "'";
  if (given != options.kernels.end()) {
    require_device(given->op(), device.backend());
    if (!same(given->op(), saved)) {
      throw_invalid_argument(text + ", but the one that is given has another source or interface.");
    }
    return *given;
  }
  if (device.backend().traits().runs_on_host) {
    throw_invalid_argument(
        text + ", and no file can hold the function that the " + device.info().backend +
        " device needs; compile the kernel and give it in LoadOptions::kernels.");
  }
  if (!options.trust_kernels) {
    throw_invalid_argument(text +
                           ", whose code is in the file; give the kernel in "
                           "LoadOptions::kernels, or set LoadOptions::trust_kernels to run "
                           "what the file holds.");
  }
  return device.compile_kernel(source_of(saved), interface_of(saved));
}

}  // namespace reprise
