// The dtypes that DLPack and tensors have in common.
#pragma once
#include <dlpack/dlpack.h>
#include <string>

#include "reprise/core/dtype.h"
#include "reprise/core/error.h"

namespace reprise {

struct DlpackDtype {
  DLDataTypeCode code;
  std::uint8_t bits;  // of one lane
  DType dtype;
};
inline constexpr DlpackDtype kDlpackDtypes[] = {{kDLFloat, 32, DType::f32},
                                                {kDLFloat, 16, DType::f16},
                                                {kDLBfloat, 16, DType::bf16},
                                                {kDLInt, 32, DType::i32},
                                                {kDLInt, 64, DType::i64}};

[[noreturn]] inline void unsupported(const std::string& message) {
  throw Error(ErrorCode::unsupported, message);
}

}  // namespace reprise
