// Filling memory by a rule, in pieces: a large tensor needs no copy of its size on the host.
#pragma once
#include "framework/session/device/element_values.h"
#include "reprise/session/device.h"

namespace reprise {

/// What the host holds of a tensor at once.
inline constexpr std::uint64_t kPieceBytes = std::uint64_t{256} << 10U;

/// `bytes`: whole elements of the dtype, a plain one. Element 0 goes to `offset`.
void write_values(const Device& device, const std::shared_ptr<Buffer>& to, std::uint64_t offset,
                  std::uint64_t bytes, DType dtype, const ElementValues& values);
/// A tensor of these values.
Tensor filled(const Device& device, const TensorSpec& spec, const ElementValues& values,
              std::string name);
void write_zeros(const Device& device, const std::shared_ptr<Buffer>& to, std::uint64_t offset,
                 std::uint64_t bytes);

}  // namespace reprise
