#include <algorithm>
#include <set>

#include "framework/core/op.h"
#include "reprise/backend/shader_interface.h"
#include "reprise/core/custom_kernel.h"

namespace reprise {
namespace {

constexpr std::uint32_t kWord = 4;
constexpr std::uint32_t kMaxPushBytes = 256;  // what any device of today takes; most take less

template <class... Parts>
[[noreturn]] void refuse(std::string_view kernel, const Parts&... why) {
  throw_invalid_argument("The kernel '", kernel, "' ", why..., ".");
}

std::string binding_text(const KernelInterface& interface, std::size_t i) {
  return joined_text("binding (", i, ") '", interface.bindings[i].name, "'");
}

std::string_view access_text(Access access) {
  return access == Access::read ? "read" : access == Access::write ? "write" : "read_write";
}

void require_bindings(std::string_view kernel, const KernelInterface& interface) {
  const auto& bindings = interface.bindings;
  const auto made = std::ranges::count(bindings, Access::write, &KernelBinding::access);
  if (bindings.empty() || bindings.size() > KernelInterface::kMaxBindings ||
      made > static_cast<std::ptrdiff_t>(Outputs::kMax)) {
    refuse(kernel, "has (", bindings.size(), ") bindings, (", made, ") of them outputs; 1 to ",
           KernelInterface::kMaxBindings, " are possible, up to ", Outputs::kMax,
           " of them outputs");
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    if (bindings[i].name.empty() || !names.insert(bindings[i].name).second) {
      refuse(kernel, "has ", binding_text(interface, i),
             ", but every binding needs a name of its own");
    }
    if (bindings[i].dtypes == 0) {
      refuse(kernel, "takes no dtype at all as ", binding_text(interface, i));
    }
    if (i > 0 && bindings[i - 1].access == Access::write && bindings[i].access != Access::write) {
      refuse(kernel, "declares ", binding_text(interface, i), " as (",
             access_text(bindings[i].access), ") after ", binding_text(interface, i - 1),
             ", which is write; outputs come after all that a call brings");
    }
  }
  if (std::ranges::none_of(bindings, [](const KernelBinding& b) { return writes(b.access); })) {
    refuse(kernel, "writes none of its bindings; at least one is needed");
  }
}

void require_fields(std::string_view kernel, const KernelInterface& interface) {
  if (interface.push_bytes % kWord != 0 || interface.push_bytes > kMaxPushBytes) {
    refuse(kernel, "has (", interface.push_bytes,
           ") bytes of push constants; a multiple of 4 up to ", kMaxPushBytes, " is possible");
  }
  std::vector<const KernelField*> owners(interface.push_bytes / kWord);
  for (const KernelField& field : interface.fields) {
    const auto refuse_field = [&](const auto&... why) {
      refuse(kernel, "has the field '", field.name, "' at byte (", field.offset,
             ") of its push constants, but ", why...);
    };
    if (field.name.empty()) {
      refuse_field("every field needs a name");
    }
    if (field.type == AttributeType::boolean) {
      refuse_field("it is boolean; the fields of push constants are numbers and Params");
    }
    const std::size_t bytes = size_of(field.type);
    if (field.offset % kWord != 0) {
      refuse_field("fields begin at multiples of 4");
    }
    if (bytes > interface.push_bytes || field.offset > interface.push_bytes - bytes) {
      refuse_field("its ", bytes, " bytes do not lie inside of the ", interface.push_bytes);
    }
    for (std::size_t word = field.offset / kWord; word < (field.offset + bytes) / kWord; ++word) {
      if (owners[word] != nullptr) {
        refuse_field("the field '", owners[word]->name, "' is there too");
      }
      owners[word] = &field;
    }
  }
}

std::string_view kind_text(ShaderBindingKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"a storage buffer", "a uniform buffer",
                                                   "a texel buffer"};
  return kNames[static_cast<std::size_t>(kind)];
}

void require_access(std::string_view kernel, const KernelInterface& interface, std::size_t i,
                    const ShaderBinding& found) {
  const Access access = interface.bindings[i].access;
  const auto refuse_shader = [&](const auto&... why) {
    refuse(kernel, "declares ", binding_text(interface, i), " as (", access_text(access),
           "), but its shader ", why...);
  };
  if (found.kind != ShaderBindingKind::storage) {
    refuse_shader("has ", kind_text(found.kind), " there; tensors are storage buffers");
  }
  if (!writes(access) && !found.readonly) {
    refuse_shader(
        "may write it; declare the buffer readonly there, or the binding read_write here");
  }
  if (writes(access) && found.readonly) {
    refuse_shader("has it readonly; declare the binding read here");
  }
  if (access == Access::read && found.writeonly) {
    refuse_shader("has it writeonly");
  }
}

}  // namespace

bool KernelInterface::reads_state() const {
  return std::ranges::any_of(fields, is_param, &KernelField::type);
}

void require_sound(std::string_view kernel, const KernelInterface& interface) {
  require_bindings(kernel, interface);
  require_fields(kernel, interface);
  if (interface.rows_axis.value_or(0) > 2) {
    refuse(kernel, "takes rows along axis (", *interface.rows_axis,
           ") of its grid; 0 to 2 are possible");
  }
}

void require_match(std::string_view kernel, const KernelInterface& interface,
                   const ShaderInterface& shader) {
  const auto count = static_cast<std::uint32_t>(interface.bindings.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto found = shader.bindings.find(i);
    if (found == shader.bindings.end()) {
      refuse(kernel, "declares ", binding_text(interface, i),
             ", but its shader has nothing bound there");
    }
    require_access(kernel, interface, i, found->second);
  }
  for (const auto& [number, binding] : shader.bindings) {
    const bool state = number == count && binding.kind == ShaderBindingKind::uniform;
    if (number >= count && !(state && interface.reads_state())) {
      throw_invalid_argument("The shader of the kernel '", kernel, "' has ",
                             kind_text(binding.kind), " as binding (", number,
                             "), but its interface ends with ", binding_text(interface, count - 1),
                             state ? " and has no field that may live in the state." : ".");
    }
  }
  if (interface.reads_state() && !shader.bindings.contains(count)) {
    refuse(kernel,
           "has fields that may live in the state, but its shader does not bind the state block as "
           "binding (",
           count, "); define STATE_BINDING as ", count, " and include state.glsl");
  }
  if (shader.push_bytes != interface.push_bytes) {
    refuse(kernel, "declares (", interface.push_bytes,
           ") bytes of push constants, but its shader has ", shader.push_bytes);
  }
}

}  // namespace reprise
