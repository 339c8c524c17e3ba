// The element types of the format: the sizes of all of them, so that a file with a type this
// library does not compute with still opens. Names: Dtype in safetensors/src/tensor.rs.
#include <algorithm>
#include <array>

#include "framework/formats/safetensors_header.h"

namespace reprise {
namespace {

constexpr std::array kTypes{
    SafetensorsType{"F32", 32, DType::f32},      SafetensorsType{"F16", 16, DType::f16},
    SafetensorsType{"BF16", 16, DType::bf16},    SafetensorsType{"I32", 32, DType::i32},
    SafetensorsType{"I64", 64, DType::i64},      SafetensorsType{"BOOL", 8, std::nullopt},
    SafetensorsType{"F4", 4, std::nullopt},      SafetensorsType{"F6_E2M3", 6, std::nullopt},
    SafetensorsType{"F6_E3M2", 6, std::nullopt}, SafetensorsType{"U8", 8, std::nullopt},
    SafetensorsType{"I8", 8, std::nullopt},      SafetensorsType{"F8_E5M2", 8, std::nullopt},
    SafetensorsType{"F8_E4M3", 8, std::nullopt}, SafetensorsType{"F8_E8M0", 8, std::nullopt},
    SafetensorsType{"I16", 16, std::nullopt},    SafetensorsType{"U16", 16, std::nullopt},
    SafetensorsType{"U32", 32, std::nullopt},    SafetensorsType{"C64", 64, std::nullopt},
    SafetensorsType{"F64", 64, std::nullopt},    SafetensorsType{"U64", 64, std::nullopt},
};

}  // namespace

const SafetensorsType* safetensors_type(std::string_view name) {
  const auto* const found = std::ranges::find(kTypes, name, &SafetensorsType::name);
  return found == kTypes.end() ? nullptr : found;
}

std::string computable_safetensors_types() {
  std::string names;
  for (const SafetensorsType& type : kTypes) {
    if (type.dtype) {
      names += (names.empty() ? "" : ", ") + std::string(type.name);
    }
  }
  return names;
}

}  // namespace reprise
