#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <spirv/unified1/spirv.hpp>

#include "reprise/backend/shader_interface.h"
#include "reprise/core/error.h"

namespace reprise {
namespace {

using Words = std::span<const std::uint32_t>;

constexpr std::size_t kHeaderWords = 5;
constexpr int kMaxTypeDepth = 16;
constexpr std::uint64_t kMaxReflectedPush =
    65536;  // far above any device; keeps sums from overflowing
constexpr std::uint64_t kMaxSharedBytes = std::uint64_t{1} << 40U;  // so do sums of these

std::uint64_t whole(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

template <class... Parts>
[[noreturn]] void malformed(const Parts&... what) {
  throw_invalid_argument("The SPIR-V module is malformed: ", what..., ".");
}

/// What compute() returns for a type, computed once.
template <class T, class F>
T once(std::unordered_map<std::uint32_t, T>& known, std::uint32_t type, int depth, F&& compute) {
  if (const auto found = known.find(type); found != known.end()) {
    return found->second;
  }
  if (depth > kMaxTypeDepth) {
    malformed("a type is nested deeper than ", kMaxTypeDepth);
  }
  return known.emplace(type, compute()).first->second;
}

template <class... Parts>
[[noreturn]] void unsupported(const Parts&... what) {
  throw_error(ErrorCode::unsupported, "The SPIR-V module uses ", what..., ".");
}

/// A literal string: four bytes a word, the first one lowest, ended by a zero.
std::string text_of(Words words) {
  constexpr std::size_t kMaxBytes = 256;
  std::string text;
  for (std::size_t i = 0; i / 4 < words.size() && i < kMaxBytes; ++i) {
    const auto byte = static_cast<char>(words[i / 4] >> (i % 4 * 8) & 0xFFU);
    if (byte == 0) {
      break;
    }
    text += byte;
  }
  return text;
}

std::uint32_t at(Words words, std::size_t i) {
  if (i >= words.size()) {
    malformed("an instruction of (", words.size() + 1, ") words is too short");
  }
  return words[i];
}

struct Decorations {
  std::optional<std::uint32_t> binding, set, spec_id, array_stride, offset;
  bool buffer_block = false, nonwritable = false, nonreadable = false, workgroup_size = false;
};

struct Id {
  spv::Op op = spv::OpNop;
  Words operands;  // without the result and its type
  std::uint32_t type = 0;
  Decorations decorations;
  std::map<std::uint32_t, Decorations> members;
};

class Reader {
 public:
  explicit Reader(Words words) {
    if (words.size() < kHeaderWords || words[0] != spv::MagicNumber) {
      malformed("it does not start with the magic number of SPIR-V");
    }
    for (std::size_t i = kHeaderWords; i < words.size();) {
      const std::size_t count = words[i] >> spv::WordCountShift;
      if (count == 0 || count > words.size() - i) {
        malformed("the instruction at word (", i, ") of ", words.size(), " has a length of (",
                  count, ")");
      }
      read(static_cast<spv::Op>(words[i] & spv::OpCodeMask), words.subspan(i + 1, count - 1));
      ends_function_ = (words[i] & spv::OpCodeMask) == spv::OpFunctionEnd;
      i += count;
    }
  }

  ShaderInterface interface() {
    if (!ends_function_) {
      malformed("it does not end with a function");
    }
    if (!compute_) {
      unsupported("no compute entry point");
    }
    if (!local_size_ids_.empty()) {
      set_local_size(local_size_ids_);
    }
    // The decorated constant wins over both execution modes.
    for (const std::uint32_t id : workgroup_sizes_) {
      set_local_size(find(id).operands);
    }
    for (const std::uint32_t id : variables_) {
      add_variable(find(id));
    }
    return std::move(interface_);
  }

 private:
  struct Room {
    std::uint64_t bytes = 0, alignment = 1;
  };

  void read(spv::Op op, Words operands) {
    switch (op) {
      case spv::OpCapability:
        interface_.capabilities.push_back(at(operands, 0));
        break;
      case spv::OpEntryPoint:
        // What follows, as workgroup sizes and variables, may be of any of several.
        if (std::exchange(has_entry_point_, true)) {
          unsupported("more than one entry point");
        }
        compute_ = at(operands, 0) == spv::ExecutionModelGLCompute;
        interface_.entry_point =
            text_of(operands.subspan(std::min<std::size_t>(operands.size(), 2)));
        break;
      case spv::OpExecutionMode:
        if (at(operands, 1) == spv::ExecutionModeLocalSize) {
          interface_.local_size = {at(operands, 2), at(operands, 3), at(operands, 4)};
        }
        break;
      case spv::OpExecutionModeId:
        if (at(operands, 1) == spv::ExecutionModeLocalSizeId) {
          local_size_ids_ = operands.subspan(2);
        }
        break;
      case spv::OpDecorate:
        at(operands, 1);
        decorate(ids_[operands[0]].decorations, operands.subspan(1));
        break;
      case spv::OpMemberDecorate:
        at(operands, 2);
        decorate(ids_[operands[0]].members[operands[1]], operands.subspan(2));
        break;
      case spv::OpTypeBool:
      case spv::OpTypeInt:
      case spv::OpTypeFloat:
      case spv::OpTypeImage:
      case spv::OpTypeVector:
      case spv::OpTypeMatrix:
      case spv::OpTypeArray:
      case spv::OpTypeRuntimeArray:
      case spv::OpTypeStruct:
      case spv::OpTypePointer:
        define(op, operands, 0);
        break;
      case spv::OpConstant:
      case spv::OpSpecConstant:
      case spv::OpConstantComposite:
      case spv::OpSpecConstantComposite:
      case spv::OpVariable:
        define(op, operands, 1);
        break;
      default:
        break;
    }
  }

  void define(spv::Op op, Words operands, std::size_t result) {
    const std::uint32_t id = at(operands, result);
    Id& defined = ids_[id];
    if (defined.op != spv::OpNop) {
      malformed("id (", id, ") is defined twice");
    }
    defined.op = op;
    defined.type = result == 1 ? operands[0] : 0;
    defined.operands = operands.subspan(result + 1);
    if (op == spv::OpVariable) {
      variables_.push_back(id);
    }
    if (defined.decorations.workgroup_size) {
      workgroup_sizes_.push_back(id);
    }
  }

  void decorate(Decorations& to, Words decoration) {
    switch (decoration[0]) {
      case spv::DecorationBinding:
        to.binding = at(decoration, 1);
        break;
      case spv::DecorationDescriptorSet:
        to.set = at(decoration, 1);
        break;
      case spv::DecorationSpecId:
        to.spec_id = at(decoration, 1);
        interface_.constant_ids.push_back(*to.spec_id);
        break;
      case spv::DecorationArrayStride:
        to.array_stride = at(decoration, 1);
        break;
      case spv::DecorationOffset:
        to.offset = at(decoration, 1);
        break;
      case spv::DecorationBuiltIn:
        to.workgroup_size = at(decoration, 1) == spv::BuiltInWorkgroupSize;
        break;
      case spv::DecorationBufferBlock:
        to.buffer_block = true;
        break;
      case spv::DecorationNonWritable:
        to.nonwritable = true;
        break;
      case spv::DecorationNonReadable:
        to.nonreadable = true;
        break;
      default:
        break;
    }
  }

  const Id& find(std::uint32_t id) const {
    const auto found = ids_.find(id);
    if (found == ids_.end() || found->second.op == spv::OpNop) {
      malformed("id (", id, ") is used but not defined");
    }
    return found->second;
  }

  const Decorations& member(const Id& structure, std::size_t i) const {
    static constexpr Decorations kNone;
    const auto found = structure.members.find(static_cast<std::uint32_t>(i));
    return found == structure.members.end() ? kNone : found->second;
  }

  std::uint64_t bytes_of(std::uint32_t type, int depth) {
    return once(bytes_, type, depth, [&] { return compute_bytes(find(type), depth); });
  }

  std::uint64_t compute_bytes(const Id& id, int depth) {
    std::uint64_t bytes = 0;
    switch (id.op) {
      case spv::OpTypeInt:
      case spv::OpTypeFloat:
        bytes = at(id.operands, 0) / 8;
        break;
      case spv::OpTypeVector:
        bytes = std::uint64_t{at(id.operands, 1)} * bytes_of(at(id.operands, 0), depth + 1);
        break;
      case spv::OpTypeArray: {
        const Id& length = find(at(id.operands, 1));
        if (length.op != spv::OpConstant || !id.decorations.array_stride) {
          malformed("an array of push constants has no constant length and stride");
        }
        bytes = std::uint64_t{at(length.operands, 0)} * *id.decorations.array_stride;
        break;
      }
      case spv::OpTypeStruct:
        bytes = struct_bytes(id, depth);
        break;
      default:
        unsupported("push constants of a type that is no number, vector, array or struct");
    }
    if (bytes > kMaxReflectedPush) {
      malformed("push constants need more than ", kMaxReflectedPush, " bytes");
    }
    return bytes;
  }

  std::uint64_t struct_bytes(const Id& structure, int depth) {
    std::uint64_t last_offset = 0;
    std::uint32_t last_type = 0;
    for (std::size_t i = 0; i < structure.operands.size(); ++i) {
      const std::optional<std::uint32_t> offset = member(structure, i).offset;
      if (!offset) {
        malformed("a member of the push constants has no offset");
      }
      if (i == 0 || *offset >= last_offset) {
        last_offset = *offset;
        last_type = structure.operands[i];
      }
    }
    return structure.operands.empty() ? 0 : last_offset + bytes_of(last_type, depth + 1);
  }

  /// Of an array, or of a matrix with its columns.
  std::optional<Room> room_of_array(const Id& array, int depth) {
    std::uint64_t count = at(array.operands, 1);
    if (array.op == spv::OpTypeArray) {
      const auto length = ids_.find(array.operands[1]);
      if (length == ids_.end() || length->second.op != spv::OpConstant) {
        return std::nullopt;
      }
      count = at(length->second.operands, 0);
    }
    const std::optional<Room> element = room_of(array.operands[0], depth + 1);
    if (!element) {
      return std::nullopt;
    }
    const std::uint64_t stride = whole(element->bytes, element->alignment);
    if (stride != 0 && count > kMaxSharedBytes / stride) {
      return Room{kMaxSharedBytes, element->alignment};
    }
    return Room{count * stride, element->alignment};
  }

  /// As std430 lays it out; empty where that is not decided by plain constants.
  std::optional<Room> room_of(std::uint32_t type, int depth) {
    return once(rooms_, type, depth, [&] { return compute_room(find(type), depth); });
  }

  std::optional<Room> compute_room(const Id& id, int depth) {
    switch (id.op) {
      case spv::OpTypeBool:
        return Room{4, 4};
      case spv::OpTypeInt:
      case spv::OpTypeFloat: {
        const std::uint64_t bytes = std::clamp<std::uint64_t>(at(id.operands, 0) / 8, 1, 8);
        return Room{bytes, bytes};
      }
      case spv::OpTypeVector: {
        const spv::Op part = find(at(id.operands, 0)).op;
        if (part != spv::OpTypeBool && part != spv::OpTypeInt && part != spv::OpTypeFloat) {
          malformed("a vector is not made of numbers");
        }
        const std::optional<Room> one = room_of(at(id.operands, 0), depth + 1);
        const std::uint64_t count = std::clamp<std::uint64_t>(at(id.operands, 1), 1, 16);
        return one ? std::optional(
                         Room{one->bytes * count, one->alignment * (count == 3 ? 4 : count)})
                   : std::nullopt;
      }
      case spv::OpTypeMatrix:
      case spv::OpTypeArray:
        return room_of_array(id, depth);
      case spv::OpTypeStruct: {
        Room room;
        for (const std::uint32_t member : id.operands) {
          const std::optional<Room> next = room_of(member, depth + 1);
          if (!next) {
            return std::nullopt;
          }
          room.bytes = std::min(whole(room.bytes, next->alignment) + next->bytes, kMaxSharedBytes);
          room.alignment = std::max(room.alignment, next->alignment);
        }
        room.bytes = whole(room.bytes, room.alignment);
        return room;
      }
      default:
        return std::nullopt;
    }
  }

  void add_shared(std::uint32_t type) {
    const std::optional<Room> room = room_of(type, 0);
    if (!room || !interface_.shared_bytes) {
      interface_.shared_bytes.reset();
      return;
    }
    interface_.shared_bytes = whole(*interface_.shared_bytes, room->alignment) + room->bytes;
  }

  void set_local_size(Words constants) {
    for (std::size_t i = 0; i < 3; ++i) {
      const Id& constant = find(at(constants, i));
      if (constant.op != spv::OpConstant && constant.op != spv::OpSpecConstant) {
        malformed("the workgroup size is not made of constants");
      }
      interface_.local_size[i] = at(constant.operands, 0);
      interface_.local_size_ids[i] =
          constant.decorations.spec_id.value_or(ShaderInterface::kNoConstant);
    }
  }

  /// Empty for anything else than a buffer or a texel buffer.
  std::optional<ShaderBinding> binding_of(const Id& variable, std::uint32_t storage,
                                          std::uint32_t type_id) {
    const auto found = ids_.find(type_id);
    if (found == ids_.end()) {
      return std::nullopt;
    }
    const Id& type = found->second;
    if (storage == spv::StorageClassUniformConstant) {
      constexpr std::uint32_t kSampled = 1;
      const bool texels = type.op == spv::OpTypeImage && at(type.operands, 1) == spv::DimBuffer &&
                          at(type.operands, 5) == kSampled;
      return texels ? std::optional(ShaderBinding{ShaderBindingKind::texels, true, false})
                    : std::nullopt;
    }
    if (type.op != spv::OpTypeStruct) {
      return std::nullopt;
    }
    if (storage == spv::StorageClassUniform && !type.decorations.buffer_block) {
      return ShaderBinding{ShaderBindingKind::uniform, true, false};
    }
    ShaderBinding binding = once(structs_, type_id, 0, [&] {
      bool readonly = true;
      bool writeonly = true;
      for (std::size_t i = 0; i < type.operands.size(); ++i) {
        readonly = readonly && member(type, i).nonwritable;
        writeonly = writeonly && member(type, i).nonreadable;
      }
      return ShaderBinding{ShaderBindingKind::storage, readonly, writeonly};
    });
    binding.readonly = binding.readonly || variable.decorations.nonwritable;
    binding.writeonly = binding.writeonly || variable.decorations.nonreadable;
    return binding;
  }

  void add_variable(const Id& variable) {
    const std::uint32_t storage = at(variable.operands, 0);
    const Id& pointer = find(variable.type);
    if (pointer.op != spv::OpTypePointer) {
      malformed("a variable has no pointer type");
    }
    if (storage == spv::StorageClassPushConstant) {
      interface_.push_bytes = static_cast<std::uint32_t>(bytes_of(at(pointer.operands, 1), 0));
      return;
    }
    if (storage == spv::StorageClassWorkgroup) {
      add_shared(at(pointer.operands, 1));
      return;
    }
    if (storage != spv::StorageClassStorageBuffer && storage != spv::StorageClassUniform &&
        storage != spv::StorageClassUniformConstant) {
      return;
    }
    const Decorations& placed = variable.decorations;
    const std::uint32_t binding = placed.binding.value_or(0);
    const std::optional<ShaderBinding> result =
        binding_of(variable, storage, at(pointer.operands, 1));
    if (!result) {
      unsupported("binding (", binding, ") as something else than one buffer");
    }
    if (!placed.binding || placed.set.value_or(0) != 0) {
      unsupported("a buffer without a binding in set 0");
    }
    if (!interface_.bindings.emplace(binding, *result).second) {
      unsupported("binding (", binding, ") for two buffers");
    }
  }

  ShaderInterface interface_;
  std::unordered_map<std::uint32_t, Id> ids_;
  // By type: members and variables may name one as often as they like.
  std::unordered_map<std::uint32_t, std::uint64_t> bytes_;
  std::unordered_map<std::uint32_t, std::optional<Room>> rooms_;
  std::unordered_map<std::uint32_t, ShaderBinding> structs_;  // bindings of storage
  std::vector<std::uint32_t> variables_;
  std::vector<std::uint32_t> workgroup_sizes_;  // constants decorated with BuiltIn WorkgroupSize
  Words local_size_ids_;
  bool has_entry_point_ = false;
  bool compute_ = false;
  bool ends_function_ = false;  // a module ends with a function, or it is cut off
};

}  // namespace

ShaderInterface reflect_spirv(std::span<const std::uint32_t> words) {
  return Reader(words).interface();
}

}  // namespace reprise
