// Device::compile_kernel: from what a caller declares to an op that sessions record.
#include <algorithm>

#include "framework/core/custom_op.h"
#include "framework/graph/hasher.h"
#include "reprise/backend/backend.h"
#include "reprise/session/device.h"

namespace reprise {
namespace {

constexpr std::size_t kMaxName = 64;

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

void require_name(const std::string& name) {
  if (name.empty() || name.size() > kMaxName || !std::ranges::all_of(name, name_character)) {
    throw_invalid_argument("The name of a kernel has (", name.size(), ") characters; 1 to ",
                           kMaxName, " of A-Z, a-z, 0-9, '_', '.' and '-' are possible.");
  }
}

bool has_shader(const KernelSource& source) {
  return !source.glsl.empty() || !source.spirv.empty();
}

void require_source(const KernelSource& source) {
  if (!source.glsl.empty() && !source.spirv.empty()) {
    throw_invalid_argument("The kernel '", source.name, "' has (", source.glsl.size(),
                           ") bytes of GLSL and (", source.spirv.size(),
                           ") words of SPIR-V; give one of them.");
  }
  if (!has_shader(source) && !source.function) {
    throw_invalid_argument("The kernel '", source.name,
                           "' has an empty source; give GLSL, SPIR-V or a function.");
  }
}

[[noreturn]] void nothing_to_run(const KernelSource& source, const Device& device) {
  const bool on_host = device.backend().traits().runs_on_host;
  throw_error(ErrorCode::unsupported, "The kernel '", source.name, "' has ",
              (on_host ? "a shader" : "a function"), " alone, but the ", device.info().backend,
              " device (", device.info().name, ") runs ", (on_host ? "functions" : "shaders"),
              "; give the kernel ", (on_host ? "KernelSource::function." : "GLSL or SPIR-V."));
}

/// Identifies the shader source. A function cannot be identified, so a kernel that has both sources
/// is the same node on every device, and compare_numerics() compares the two. 0: no shader.
std::uint64_t hash_of(const KernelSource& source, const KernelInterface& interface) {
  if (!has_shader(source)) {
    return 0;
  }
  Hasher hash;
  hash.text(source.glsl).bytes(std::as_bytes(std::span(source.spirv)));
  for (const auto& [name, text] : source.includes) {
    hash.text(name).text(text);
  }
  for (const auto& [id, value] : interface.constants) {
    hash.number(id).number(value);
  }
  if (interface.rows_axis) {
    hash.number(*interface.rows_axis);
  }
  return hash.digest();
}

}  // namespace

CustomKernel Device::compile_kernel(const KernelSource& source,
                                    const KernelInterface& interface) const {
  require_name(source.name);
  require_sound(source.name, interface);
  require_source(source);
  const bool on_host = backend_->traits().runs_on_host;
  if (on_host ? !source.function : !has_shader(source)) {
    nothing_to_run(source, *this);
  }
  KernelSource kept = source;
  std::shared_ptr<const RunTimeShader> shader;
  if (!on_host) {
    shader = backend_->add_shader(
        {source.name, source.glsl, source.spirv, source.includes, interface.constants});
    require_match(source.name, interface, shader->interface);
    kept.function = nullptr;  // it could own anything, and nobody calls it
  }
  return CustomKernel(std::make_shared<const CustomOp>(
      std::move(kept), interface, hash_of(source, interface), backend_, std::move(shader)));
}

}  // namespace reprise
