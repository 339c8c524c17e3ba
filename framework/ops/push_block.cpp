#include "framework/ops/push_block.h"

namespace reprise::ops {

void not_a_word(std::int64_t value) {
  throw_error(ErrorCode::unsupported, "An extent or stride of (", value,
              ") elements is outside 0 to 2^32 - 1.");
}

std::uint32_t indexable_elements(const BoundTensor& tensor) {
  const DTypeInfo& info = info_of(tensor.dtype());
  const std::uint64_t reach = (tensor.spec->span_bytes() + kStorageAlignment) / info.block_bytes;
  if (reach > 0xFFFFFFFF / info.block_elements) {
    throw_error(ErrorCode::unsupported, "A kernel reaches 2^32 elements of one tensor, but ",
                to_string(*tensor.spec), " extends over (", reach, ") blocks.");
  }
  return word(tensor.shape().elements());
}

std::string_view shader_for(const OpDef& op, DType dtype, std::string_view variant) {
  const auto found = std::ranges::find_if(op.shaders, [&](std::string_view name) {
    name.remove_prefix(op.name.size() + 1);
    return name.starts_with(variant) && name.substr(variant.size()) == name_of(dtype);
  });
  if (found == op.shaders.end()) {
    throw_error(ErrorCode::unsupported, op.name, " has no shader for ", name_of(dtype), ".");
  }
  return *found;
}

}  // namespace reprise::ops
