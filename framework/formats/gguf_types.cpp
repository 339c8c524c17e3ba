#include "framework/formats/gguf_types.h"

#include <algorithm>
#include <array>

namespace reprise {
namespace {

// Ids 4, 5, 31 to 33 and 36 to 38 were removed from the format.
constexpr std::array kTypes{
    GgufTensorType{0, "f32", 1, 4, DType::f32},
    GgufTensorType{1, "f16", 1, 2, DType::f16},
    GgufTensorType{2, "q4_0", 32, 18, DType::q4_0},
    GgufTensorType{3, "q4_1", 32, 20, DType::q4_1},
    GgufTensorType{6, "q5_0", 32, 22, DType::q5_0},
    GgufTensorType{7, "q5_1", 32, 24, DType::q5_1},
    GgufTensorType{8, "q8_0", 32, 34, DType::q8_0},
    GgufTensorType{9, "q8_1", 32, 36, std::nullopt},
    GgufTensorType{10, "q2_K", 256, 84, DType::q2_k},
    GgufTensorType{11, "q3_K", 256, 110, DType::q3_k},
    GgufTensorType{12, "q4_K", 256, 144, DType::q4_k},
    GgufTensorType{13, "q5_K", 256, 176, DType::q5_k},
    GgufTensorType{14, "q6_K", 256, 210, DType::q6_k},
    GgufTensorType{15, "q8_K", 256, 292, std::nullopt},
    GgufTensorType{16, "iq2_xxs", 256, 66, std::nullopt},
    GgufTensorType{17, "iq2_xs", 256, 74, std::nullopt},
    GgufTensorType{18, "iq3_xxs", 256, 98, std::nullopt},
    GgufTensorType{19, "iq1_s", 256, 50, std::nullopt},
    GgufTensorType{20, "iq4_nl", 32, 18, DType::iq4_nl},
    GgufTensorType{21, "iq3_s", 256, 110, std::nullopt},
    GgufTensorType{22, "iq2_s", 256, 82, std::nullopt},
    GgufTensorType{23, "iq4_xs", 256, 136, DType::iq4_xs},
    GgufTensorType{24, "i8", 1, 1, std::nullopt},
    GgufTensorType{25, "i16", 1, 2, std::nullopt},
    GgufTensorType{26, "i32", 1, 4, DType::i32},
    GgufTensorType{27, "i64", 1, 8, DType::i64},
    GgufTensorType{28, "f64", 1, 8, std::nullopt},
    GgufTensorType{29, "iq1_m", 256, 56, std::nullopt},
    GgufTensorType{30, "bf16", 1, 2, DType::bf16},
    GgufTensorType{34, "tq1_0", 256, 54, std::nullopt},
    GgufTensorType{35, "tq2_0", 256, 66, std::nullopt},
    GgufTensorType{39, "mxfp4", 32, 17, std::nullopt},
    GgufTensorType{40, "nvfp4", 64, 36, std::nullopt},
};

}  // namespace

const GgufTensorType* gguf_tensor_type(std::uint32_t id) {
  const auto* const found = std::ranges::find(kTypes, id, &GgufTensorType::id);
  return found == kTypes.end() ? nullptr : found;
}

std::string computable_gguf_types() {
  std::string names;
  for (const GgufTensorType& type : kTypes) {
    if (type.dtype) {
      names += (names.empty() ? "" : ", ") + std::string(type.name);
    }
  }
  return names;
}

}  // namespace reprise
