// The tensor types a GGUF file may name: the sizes of all of them, so that a file with a type this
// library does not compute with still loads. Ids and block layouts: ggml.h, ggml-common.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reprise/core/dtype.h"

namespace reprise {

struct GgufTensorType {
  std::uint32_t id;
  std::string_view name;
  std::uint32_t block_elements;
  std::uint32_t block_bytes;
  std::optional<DType> dtype;
};

/// nullptr for ids that were removed from the format or never given out: their size is unknown.
const GgufTensorType* gguf_tensor_type(std::uint32_t id);
/// "f32, f16, ...": those with a dtype.
std::string computable_gguf_types();

}  // namespace reprise
