#include "backends/vulkan/check_spirv.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>

#include "reprise/core/error.h"

namespace reprise::vulkan {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{4} << 20U;
constexpr std::uint32_t kMaxBinding = 31;
constexpr spv_target_env kEnvironment = SPV_ENV_VULKAN_1_2;

std::string spirv_of(const ShaderSource& source) {
  return "The SPIR-V of the kernel '" + source.name + "' ";
}

void require_valid(const ShaderSource& source, const std::vector<std::uint32_t>& words) {
  if (words.size() * sizeof(std::uint32_t) > kMaxBytes) {
    throw_invalid_argument(spirv_of(source), "has (", words.size() * sizeof(std::uint32_t),
                           ") bytes; at most ", kMaxBytes, " are possible.");
  }
  std::string messages;
  spvtools::SpirvTools tools(kEnvironment);
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& at, const char* text) {
        if (messages.empty()) {  // the first one is what is wrong
          messages = text;
          messages += " (word " + std::to_string(at.index) + ")";
        }
      });
  if (!tools.Validate(words)) {
    throw_invalid_argument(spirv_of(source), "is not valid: ", messages, ".");
  }
}

void require_constants(const ShaderSource& source, const ShaderInterface& shader) {
  for (const auto& [id, value] : source.constants) {
    if (std::ranges::count(shader.constant_ids, id) != 0) {
      continue;
    }
    std::string known;
    for (const std::uint32_t one : shader.constant_ids) {
      known += (known.empty() ? "" : ", ") + std::to_string(one);
    }
    throw_invalid_argument("The kernel '", source.name, "' sets the specialization constant (", id,
                           "), but its shader has ",
                           (known.empty() ? "none" : "only those with the ids " + known), ".");
  }
}

/// Drivers keep tables as long as the largest number.
void require_low_bindings(const ShaderSource& source, const ShaderInterface& shader) {
  if (!shader.bindings.empty() && shader.bindings.rbegin()->first > kMaxBinding) {
    throw_invalid_argument(spirv_of(source), "has binding (", shader.bindings.rbegin()->first,
                           "); numbers up to ", kMaxBinding, " are possible.");
  }
}

}  // namespace

std::vector<std::uint32_t> checked_spirv(const ShaderSource& source,
                                         std::vector<std::uint32_t> words) {
  require_valid(source, words);
  const ShaderInterface shader = reflect_spirv(words);
  if (shader.entry_point != "main") {
    throw_invalid_argument(spirv_of(source), "has the entry point (", shader.entry_point,
                           "); it has to be called main.");
  }
  require_low_bindings(source, shader);
  require_constants(source, shader);
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> values;
  for (const auto& [id, value] : source.constants) {
    values.emplace(id, std::vector{value});
  }
  spvtools::Optimizer optimizer(kEnvironment);
  optimizer.RegisterPass(spvtools::CreateSetSpecConstantDefaultValuePass(values))
      .RegisterPass(spvtools::CreateFreezeSpecConstantValuePass())
      .RegisterPass(spvtools::CreateFoldSpecConstantOpAndCompositePass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  std::vector<std::uint32_t> frozen;
  if (!optimizer.Run(words.data(), words.size(), &frozen, options)) {
    throw_invalid_argument(spirv_of(source),
                           "has specialization constants that are no 32-bit numbers or bools.");
  }
  require_valid(source, frozen);  // values may be wrong for what they are used as
  return frozen;
}

}  // namespace reprise::vulkan
