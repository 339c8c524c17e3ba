// What a kernel of the caller's declares of itself: its bindings, push constants and specialization
// constants. Checked before anything is recorded, against the shader too.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/core/op.h"
#include "reprise/core/spirv_reflect.h"

namespace reprise {

/// A storage buffer of the shader, or a tensor of the function on the CPU. Its number is its place
/// in KernelInterface::bindings.
struct KernelBinding {
  std::string name;
  /// `read` and `read_write` are tensors that a call brings, `write` ones are made by the call. A
  /// `read` one is declared `readonly` in the shader: all that is known of hazards is this.
  Access access = Access::read;
  DTypeSet dtypes = 0xFFFFFFFF;  // of any; accepts({DType::f32})
};

/// A named word of the push constants, or two words for param_i32 and param_f32: a
/// Param, {value, word of the state}, which shaders read with shaders/include/state.glsl.
struct KernelField {
  std::string name;
  AttributeType type = AttributeType::i32;  // not boolean
  std::uint32_t offset = 0;                 // bytes, a multiple of 4
};

/// Up to 12 bindings: first those that a call brings, then up to 4 that it makes.
struct KernelInterface {
  std::vector<KernelBinding> bindings{};
  std::uint32_t push_bytes = 0;  // a multiple of 4
  /// Words without a name are called "push.<word>" in reports.
  std::vector<KernelField> fields{};
  /// Specialization constants by id, as bits. An id may be any that the shader has.
  std::map<std::uint32_t, std::uint32_t> constants{};

  static constexpr std::size_t kMaxBindings = 12;
  /// Whether a field may live in the state: then the state block is bound after all bindings.
  bool reads_state() const;
};

/// Throws invalid_argument, naming the kernel and the binding or field, for an interface that no
/// kernel can have: more or other bindings than above, two of one name, fields that overlap or
/// leave the push constants.
void require_sound(std::string_view kernel, const KernelInterface& interface);

/// Throws invalid_argument if the shader does not have this interface, naming the binding and what
/// either side says of it.
void require_match(std::string_view kernel, const KernelInterface& interface,
                   const ShaderInterface& shader);

}  // namespace reprise
