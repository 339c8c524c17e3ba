#include "reprise/ops/solve_triangular.h"

#include <vector>

#include "framework/core/record.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"

namespace reprise::ops {
namespace {

constexpr Operand kOperands[] = {{"a", Access::read, accepts({DType::f32}), false, Layout::any},
                                 {"b", Access::read, accepts({DType::f32}), false, Layout::any}};
constexpr Operand kResults[] = {{"x", Access::write, accepts({DType::f32})}};
constexpr Attribute kAttributes[] = {
    {"unit", AttributeType::boolean, offsetof(SolveTriangularAttributes, unit)}};
constexpr std::string_view kShaders[] = {"solve_triangular"};

// Mirrors the push block of shaders/solve_triangular.comp.
struct Push {
  std::array<std::uint32_t, 4> shape;  // of b
  View a;
  View b;
  std::uint32_t unit;
};

Outputs infer(const OpCall& call) {
  const Shape& a = call.inputs[0].shape();
  const Shape& b = call.inputs[1].shape();
  if (a.rank() < 2) {
    require_rank(call, 0, 2);
  }
  require_rank(call, 1, a.rank());
  require_pair(a.fixed() || a.rank() > 2, call, "a dimension before those of the matrices", 0, 1);
  const std::size_t row = a.rank() - 2;
  for (std::size_t i = 0; i < row; ++i) {
    require_pair(a.dim(i) == b.dim(i), call, "equal leading dimensions", 0, 1);
  }
  require_pair(a.dim(row) == a.back() && a.dim(row) == b.dim(row), call,
               "a square matrix with the rows of b", 0, 1);
  return TensorSpec{b, DType::f32};
}

Cost cost(const BoundCall& call) {
  const Shape& b = call.tensors[1].shape();
  return streaming_cost(call, static_cast<std::uint64_t>(b.elements() * b.padded()[2]));
}

void reference(const HostCall& call) {
  const bool unit = call.as<SolveTriangularAttributes>().unit;
  const HostTensor& a = call.tensors[0];
  const HostTensor& b = call.tensors[1];
  const HostTensor& x = call.tensors[2];
  const auto dims = b.shape().padded();
  const std::int64_t a_step = last_stride(a);
  const std::int64_t b_step = last_stride(b);
  std::vector<double> solved(static_cast<std::size_t>(dims[2]));
  for (std::int64_t batch = 0; batch < dims[0] * dims[1]; ++batch) {
    const std::int64_t i0 = batch / dims[1];
    const std::int64_t i1 = batch % dims[1];
    for (std::int64_t column = 0; column < dims[3]; ++column) {
      for (std::int64_t row = 0; row < dims[2]; ++row) {
        const std::int64_t from = a.row(i0, i1, row);
        double rest = b.load(b.row(i0, i1, row) + column * b_step);
        for (std::int64_t k = 0; k < row; ++k) {
          rest -= a.load(from + k * a_step) * solved[static_cast<std::size_t>(k)];
        }
        solved[static_cast<std::size_t>(row)] = unit ? rest : rest / a.load(from + row * a_step);
        x.store(x.row(i0, i1, row) + column, solved[static_cast<std::size_t>(row)]);
      }
    }
  }
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& a = call.tensors[0];
  const BoundTensor& b = call.tensors[1];
  const Push push{shape_words(b.shape()), view_of(a, traits), view_of(b, traits),
                  call.as<SolveTriangularAttributes>().unit ? 1U : 0U};
  for (const BoundTensor& tensor : call.tensors) {
    indexable_elements(tensor);
  }
  const std::int64_t n = push.shape[2];
  require_loop_limit(call, traits, n * (n + 3) / 2 + 1, n);  // with those that end loops
  const std::uint64_t columns = std::uint64_t{push.shape[0]} * push.shape[1] * push.shape[3];
  const bool batched = b.shape().rank() > 2;
  dispatch_units(call, traits, steps, kShaders[0],
                 batched ? Work(b.shape(), columns) : Work(columns), push);
}

}  // namespace

extern const OpDef solve_triangular_def;
const OpDef solve_triangular_def{.name = "solve_triangular",
                                 .family = OpFamily::product,
                                 .operands = kOperands,
                                 .results = kResults,
                                 .attributes = kAttributes,
                                 .push_bytes = sizeof(Push),
                                 .shaders = kShaders,
                                 .infer = infer,
                                 .cost = cost,
                                 .reference = reference,
                                 .lower = lower,
                                 .extents = ExtentRule::rows};

}  // namespace reprise::ops

namespace reprise {

Tensor solve_triangular(Site site, TensorRef a, TensorRef b, SolveTriangularAttributes attributes) {
  return record(site, ops::solve_triangular_def, {a, b}, attributes);
}

}  // namespace reprise
