// How matmul runs where the device takes the gpu kernels.
#pragma once
#include "framework/ops/gpu_groups.h"

namespace reprise::ops {

inline constexpr std::string_view kGpuVectorShaders[] = {
    "matmul.gpu_vector_f32", "matmul.gpu_vector_f16", "matmul.gpu_vector_q8_0",
    "matmul.gpu_vector_q4_0"};
inline constexpr std::string_view kGpuTileShaders[] = {
    "matmul.gpu_tile_f32", "matmul.gpu_tile_f16", "matmul.gpu_tile_q8_0", "matmul.gpu_tile_q4_0"};

/// For a call whose weights fit one binding; `x` and `w` are the views of its operands. The bits of
/// a result depend on k, the dtype of w and whether x has more than 8 rows, on no other extent.
Dispatch gpu_matmul(const BoundCall& call, const View& x, const View& w,
                    const DeviceTraits& traits);

}  // namespace reprise::ops
