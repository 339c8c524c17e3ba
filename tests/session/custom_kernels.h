// Kernels that tests bring at run time, as GLSL and as functions: each computes one float per
// element with one rounding at most, so that devices agree to the bit.
#pragma once
#include <algorithm>

#include "framework/core/custom_op.h"
#include "tests/testing.h"

namespace reprise::testing {

using Values = std::vector<float>;
inline constexpr DTypeSet kFloats = accepts({DType::f32});

struct CountPush {
  std::uint32_t count;
};

/// A kernel of bindings x, w (read) and y (write), n elements each: y = `expression` of x[i], w[i].
inline KernelSource elementwise_source(const std::string& name, const std::string& expression,
                                       float (*function)(float, float)) {
  return {.name = name,
          .glsl =
              "#version 450\n"
              "#include \"index.glsl\"\n"
              "layout(binding = 0) readonly buffer X { float x[]; };\n"
              "layout(binding = 1) readonly buffer W { float w[]; };\n"
              "layout(binding = 2) writeonly buffer Y { float y[]; };\n"
              "layout(push_constant) uniform Push { uint count; };\n"
              "void main() {\n"
              "  uint i = linear_index();\n"
              "  if (i < count) { y[i] = " +
              expression +
              "; }\n"
              "}\n",
          .function = [function](const KernelRun& run) {
            std::ranges::transform(run.read<float>(0), run.read<float>(1),
                                   run.write<float>(2).begin(), function);
          }};
}

inline KernelInterface elementwise_interface() {
  return {.bindings = {{"x", Access::read, kFloats},
                       {"w", Access::read, kFloats},
                       {"y", Access::write, kFloats}},
          .push_bytes = sizeof(CountPush),
          .fields = {{"count", AttributeType::i32, 0}},
          .constants = {{0, 32}}};
}

inline CustomKernel sum_kernel(const Device& device) {
  return device.compile_kernel(
      elementwise_source("sum", "x[i] + w[i]", [](float x, float w) { return x + w; }),
      elementwise_interface());
}

inline CustomKernel product_kernel(const Device& device,
                                   const KernelInterface& interface = elementwise_interface()) {
  return device.compile_kernel(
      elementwise_source("product", "x[i] * w[i]", [](float x, float w) { return x * w; }),
      interface);
}

/// A call of such a kernel.
inline Tensor call(Site site, const CustomKernel& kernel, const Tensor& x, const Tensor& w) {
  const auto count = static_cast<std::uint32_t>(x.shape().elements());
  return dispatch(site, kernel, {x, w}, {TensorSpec(x.shape(), DType::f32)}, CountPush{count},
                  {(count + 31) / 32, 1, 1})[0];
}

struct ScalePush {
  Param<float> factor;
  std::uint32_t count;
};

/// total (read_write) += x * factor, rounded twice, with a factor that may live in the state.
inline CustomKernel accumulate_kernel(const Device& device) {
  return device.compile_kernel(
      {.name = "accumulate",
       .glsl = "#version 450\n"
               "#include \"index.glsl\"\n"
               "#define STATE_BINDING 2\n"
               "#include \"state.glsl\"\n"
               "layout(binding = 0) readonly buffer X { float x[]; };\n"
               "layout(binding = 1) buffer T { float total[]; };\n"
               "layout(push_constant) uniform Push { Param factor; uint count; };\n"
               "void main() {\n"
               "  uint i = linear_index();\n"
               "  if (i < count) {\n"
               "    precise float scaled = x[i] * param_float(factor);\n"
               "    precise float sum = total[i] + scaled;\n"
               "    total[i] = sum;\n"
               "  }\n"
               "}\n",
       .function =
           [](const KernelRun& run) {
             const auto x = run.read<float>(0);
             const auto total = run.write<float>(1);
             const float factor = run.value(run.push<ScalePush>().factor);
             for (std::size_t i = 0; i < x.size(); ++i) {
               const volatile float scaled = x[i] * factor;  // no fused multiply-add
               total[i] += scaled;
             }
           }},
      {.bindings = {{"x", Access::read, kFloats}, {"total", Access::read_write, kFloats}},
       .push_bytes = sizeof(ScalePush),
       .fields = {{"factor", AttributeType::param_f32, 0}},
       .constants = {{0, 64}}});
}

inline void accumulate(Site site, const CustomKernel& kernel, const Tensor& x, const Tensor& total,
                       const Param<float>& factor) {
  const auto count = static_cast<std::uint32_t>(x.shape().elements());
  dispatch(site, kernel, {x, total}, {}, ScalePush{factor, count}, {(count + 63) / 64, 1, 1});
}

inline Values random_values(std::mt19937_64& rng, std::size_t count) {
  std::uniform_real_distribution<float> any(-4, 4);
  Values values(count);
  for (float& value : values) {
    value = any(rng);
  }
  return values;
}

/// GLSL of buffers 0 to 2 as declared, in front of a main() that uses them.
inline KernelSource shader(const std::string& declarations, const std::string& body) {
  return {.name = "odd",
          .glsl = "#version 450\nlayout(local_size_x = 8) in;\n" + declarations +
                  "\nvoid main() {\n  uint i = gl_GlobalInvocationID.x;\n" + body + "\n}\n"};
}
inline const char* const kX = "layout(binding = 0) readonly buffer X { float x[]; };\n";
inline const char* const kY = "layout(binding = 1) writeonly buffer Y { float y[]; };\n";
inline const char* const kCopy = "y[i] = x[i];";

inline KernelInterface copy_interface() {
  return {.bindings = {{"x", Access::read, kFloats}, {"y", Access::write, kFloats}}};
}

}  // namespace reprise::testing
