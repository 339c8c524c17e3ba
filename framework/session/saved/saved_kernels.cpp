#include "framework/session/saved/saved_kernels.h"

#include <algorithm>

#include "reprise/backend/backend.h"

namespace reprise {
namespace {

bool same(const CustomOp& kernel, const SavedKernel& saved) {
  const KernelSource& source = saved.source;
  return kernel.source.glsl == source.glsl && kernel.source.spirv == source.spirv &&
         kernel.source.includes == source.includes && kernel.interface == saved.interface;
}

}  // namespace

SavedKernel saved_kernel(const CustomOp& kernel, std::uint32_t op) {
  SavedKernel saved{op, kernel.source, kernel.interface};
  if (saved.source.glsl.empty() && saved.source.spirv.empty()) {
    throw_error(ErrorCode::unsupported, kernel.title(),
                " is a function alone, which no file can hold; give it "
                "KernelSource::glsl or KernelSource::spirv as well.");
  }
  saved.source.function = nullptr;
  return saved;
}

CustomKernel loaded_kernel(const Device& device, const SavedKernel& saved,
                           const LoadOptions& options) {
  const auto given = std::ranges::find(
      options.kernels, saved.source.name,
      [](const CustomKernel& kernel) { return kernel ? kernel.name() : std::string_view(); });
  const std::string text = "The graph runs the kernel '" + saved.source.name + "'";
  if (given != options.kernels.end()) {
    require_device(given->op(), device.backend());
    if (!same(given->op(), saved)) {
      throw_invalid_argument(text, ", but the one that is given has another source or interface.");
    }
    return *given;
  }
  if (device.backend().traits().runs_on_host) {
    throw_invalid_argument(
        text, ", and no file can hold the function that the ", device.info().backend,
        " device needs; compile the kernel and give it in LoadOptions::kernels.");
  }
  if (!options.trust_kernels) {
    throw_invalid_argument(text,
                           ", whose code is in the file; give the kernel in "
                           "LoadOptions::kernels, or set LoadOptions::trust_kernels to run "
                           "what the file holds.");
  }
  return device.compile_kernel(saved.source, saved.interface);
}

}  // namespace reprise
