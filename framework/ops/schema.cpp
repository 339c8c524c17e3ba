#include "framework/ops/schema.h"

#include <algorithm>

#include "reprise/backend/step.h"

namespace reprise::ops {

void require_rank(const OpCall& call, std::size_t operand, std::size_t rank) {
  const std::size_t actual = call.inputs[operand].shape().rank();
  if (actual != rank) {
    throw_invalid_argument(std::string(call.op.name) + " needs rank " + std::to_string(rank) +
                           ", but " + describe(call, operand) + " has rank (" +
                           std::to_string(actual) + ").");
  }
}

void require_equal_columns(const OpCall& call, std::size_t a, std::size_t b) {
  const std::int64_t columns_a = call.inputs[a].shape().back();
  const std::int64_t columns_b = call.inputs[b].shape().back();
  if (columns_a != columns_b) {
    throw_invalid_argument(std::string(call.op.name) + " needs equal last dimensions, but " +
                           describe(call, a) + " has (" + std::to_string(columns_a) +
                           ") columns and " + describe(call, b) + " has (" +
                           std::to_string(columns_b) + ").");
  }
}

void require_row(const OpCall& call, std::size_t a, std::size_t operand) {
  if (call.inputs[operand]) {
    require_rank(call, operand, 1);
    require_equal_columns(call, a, operand);
  }
}

void require_pair(bool condition, const OpCall& call, std::string_view what, std::size_t a,
                  std::size_t b) {
  if (!condition) {
    throw_invalid_argument(std::string(call.op.name) + " needs " + std::string(what) +
                           ", but got " + describe(call, a) + " and " + describe(call, b) + ".");
  }
}

void not_a_word(std::int64_t value) {
  throw Error(ErrorCode::unsupported, "An extent or stride of (" + std::to_string(value) +
                                          ") elements is outside 0 to 2^32 - 1.");
}

std::uint32_t indexable_elements(const BoundTensor& tensor) {
  const DTypeInfo& info = info_of(tensor.dtype());
  const std::uint64_t reach = (tensor.spec->span_bytes() + kStorageAlignment) / info.block_bytes;
  if (reach > 0xFFFFFFFF / info.block_elements) {
    throw Error(ErrorCode::unsupported, "A kernel reaches 2^32 elements of one tensor, but " +
                                            to_string(*tensor.spec) + " extends over (" +
                                            std::to_string(reach) + ") blocks.");
  }
  return word(tensor.shape().elements());
}

std::string_view shader_for(const OpDef& op, DType dtype, std::string_view variant) {
  const auto found = std::ranges::find_if(op.shaders, [&](std::string_view name) {
    name.remove_prefix(op.name.size() + 1);
    return name.starts_with(variant) && name.substr(variant.size()) == name_of(dtype);
  });
  if (found == op.shaders.end()) {
    throw Error(ErrorCode::unsupported,
                std::string(op.name) + " has no shader for " + std::string(name_of(dtype)) + ".");
  }
  return *found;
}

}  // namespace reprise::ops
