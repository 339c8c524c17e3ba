#include "reprise/ops/argmax.h"

#include <cmath>
#include <limits>

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/row_grid.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr Operand kResults[] = {{"y", Access::write, accepts({DType::i32})}};
constexpr std::string_view kShaders[] = {"argmax", "argmax.gpu"};

Outputs infer(const OpCall& call) {
  const Shape& x = call.inputs[0].shape();
  if (x.back() < 1 || x.back() > std::numeric_limits<std::int32_t>::max()) {
    throw_invalid_argument("argmax needs 1 to 2^31 - 1 columns, but ", describe(call, 0), " has (",
                           x.back(), ").");
  }
  if (x.rank() == 1) {
    return TensorSpec{{1}, DType::i32};
  }
  std::array<std::int64_t, Shape::kMaxRank> dims{};
  for (std::size_t i = 0; i + 1 < x.rank(); ++i) {
    dims[i] = x.dim(i);
  }
  const Shape rows(std::span<const std::int64_t>(dims).first(x.rank() - 1));
  return TensorSpec{rows.with_extent(x.extent_word()), DType::i32};
}

void reference(const HostCall& call) {
  auto* y = elements_of<std::int32_t>(call.tensors[1]);
  for_each_float_row(call.tensors[0], [&](const FloatRow& row) {
    std::int64_t best = -1;
    for (std::int64_t c = 0; c < row.columns; ++c) {
      if (!std::isnan(row[c]) && (best < 0 || row[c] > row[best])) {
        best = c;
      }
    }
    *y++ = static_cast<std::int32_t>(best < 0 ? 0 : best);
  });
}

// The row of a decoder's logits is the only one, and long: its workgroup is as large as possible.
constexpr RowGrid kGrid{.passes = 1, .groups_on_lanes = false, .max_invocations = 1024};

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  dispatch_rows(call, traits, steps, x.shape(), kGrid, StridedTensor(x, traits));
}

}  // namespace

extern const OpDef argmax_def;
const OpDef argmax_def{.name = "argmax",
                       .family = OpFamily::sampling,
                       .operands = kStridedX,
                       .results = kResults,
                       .push_bytes = sizeof(StridedTensor),
                       .shaders = kShaders,
                       .infer = infer,
                       .cost = cost_per_element<1>,
                       .reference = reference,
                       .lower = lower,
                       .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor argmax(Site site, TensorRef x) { return record(site, ops::argmax_def, {x}); }

}  // namespace reprise
