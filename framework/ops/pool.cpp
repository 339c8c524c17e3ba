#include "reprise/ops/pool.h"

#include <cmath>
#include <limits>

#include "framework/core/record.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"
#include "framework/ops/sliding.h"

namespace reprise::ops {
namespace {

// What pool_1d and pool_2d record. Strides are numbers above 0.
struct Form1d {
  std::int32_t width, stride, padding;
  PoolMode mode;
};
struct Form {
  std::int32_t height, width;
  std::int32_t stride_y, stride_x;
  std::int32_t padding_y, padding_x;
  PoolMode mode;
};

constexpr Attribute kAttributes1d[] = {{"width", AttributeType::i32, offsetof(Form1d, width)},
                                       {"stride", AttributeType::i32, offsetof(Form1d, stride)},
                                       {"padding", AttributeType::i32, offsetof(Form1d, padding)},
                                       {"mode", AttributeType::i32, offsetof(Form1d, mode)}};
constexpr Attribute kAttributes2d[] = {{"height", AttributeType::i32, offsetof(Form, height)},
                                       {"width", AttributeType::i32, offsetof(Form, width)},
                                       {"stride_y", AttributeType::i32, offsetof(Form, stride_y)},
                                       {"stride_x", AttributeType::i32, offsetof(Form, stride_x)},
                                       {"padding_y", AttributeType::i32, offsetof(Form, padding_y)},
                                       {"padding_x", AttributeType::i32, offsetof(Form, padding_x)},
                                       {"mode", AttributeType::i32, offsetof(Form, mode)}};
constexpr std::string_view kShaders[] = {"pool.pool_1d", "pool.pool_2d"};

static_assert(static_cast<std::int32_t>(PoolMode::mean) == 1);

// Mirrors the push block of shaders/pool.comp.
struct Push {
  std::array<std::uint32_t, 4> shape;  // of y
  View x;
  std::uint32_t in_height, in_width;
  Form form;  // mode: whether it is the mean
  std::uint32_t elements;
};

bool flat(const OpDef& op) { return op.attributes.size() == std::size(kAttributes1d); }

// pool_1d is pool_2d over one row.
template <class Call>
Form form_of(const Call& call) {
  if (!flat(call.op)) {
    return call.template as<Form>();
  }
  const auto& form = call.template as<Form1d>();
  return {1, form.width, 1, form.stride, 0, form.padding, form.mode};
}

Outputs infer(const OpCall& call) {
  const Form form = form_of(call);
  const bool is_flat = flat(call.op);
  const Shape& x = call.inputs[0].shape();
  const std::size_t axes = is_flat ? 1 : 2;
  if (x.rank() < axes || (!x.fixed() && x.rank() == axes)) {
    throw_invalid_argument(call.op.name, " needs a dimension before those that it pools, or all ",
                           "fixed and at least ", axes, ", but got ", describe(call, 0), ".");
  }
  if (form.mode != PoolMode::max && form.mode != PoolMode::mean) {
    throw_invalid_argument(call.op.name, " knows the modes max (0) and mean (1), but got (",
                           static_cast<std::int32_t>(form.mode), ").");
  }
  if (form.padding_x >= form.width || form.padding_y >= form.height) {
    throw_invalid_argument(call.op.name, " needs a padding below the (", form.height, " x ",
                           form.width, ") elements of a window, but got (", form.padding_y, " and ",
                           form.padding_x, ") for ", describe(call, 0), ".");
  }
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i + axes < x.rank(); ++i) {
    dims.push_back(x.dim(i));
  }
  if (!is_flat) {
    dims.push_back(outputs_of(call, "y", x.dim(x.rank() - 2),
                              {form.height, form.stride_y, form.padding_y, 1}));
  }
  dims.push_back(outputs_of(call, "x", x.back(), {form.width, form.stride_x, form.padding_x, 1}));
  return TensorSpec{Shape(dims).with_extent(x.extent_word()), DType::f32};
}

Cost cost(const BoundCall& call) {
  const Form form = form_of(call);
  return streaming_cost(
      call, static_cast<std::uint64_t>(call.tensors[1].shape().elements() * form.height) *
                static_cast<std::uint64_t>(form.width));
}

double pooled(PoolMode mode, double so_far, double element) {
  if (mode == PoolMode::mean) {
    return so_far + element;
  }
  return std::isnan(element) || element > so_far ? element : so_far;
}

void reference(const HostCall& call) {
  const Form form = form_of(call);
  const HostTensor& x = call.tensors[0];
  const HostTensor& y = call.tensors[1];
  const bool is_flat = flat(call.op);
  const bool mean = form.mode == PoolMode::mean;
  const auto from = x.shape().padded();
  const std::int64_t rows = is_flat ? 1 : from[2];
  const std::int64_t step = last_stride(x);
  const double count = static_cast<double>(form.height) * static_cast<double>(form.width);
  std::int64_t next = 0;
  for_each_row(y.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t r) {
    for (std::int64_t l = 0; l < y.shape().back(); ++l) {
      double result = mean ? 0 : -std::numeric_limits<double>::infinity();
      for (std::int64_t ty = 0; ty < form.height; ++ty) {
        const std::int64_t row = is_flat ? r : r * form.stride_y - form.padding_y + ty;
        if (!is_flat && (row < 0 || row >= rows)) {
          continue;
        }
        for (std::int64_t tx = 0; tx < form.width; ++tx) {
          const std::int64_t column = l * form.stride_x - form.padding_x + tx;
          if (column >= 0 && column < from[3]) {
            result = pooled(form.mode, result, x.load(x.row(i0, i1, row) + column * step));
          }
        }
      }
      y.store(next++, mean ? result / count : result);
    }
  });
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const Form form = form_of(call);
  const BoundTensor& x = call.tensors[0];
  const Shape& y = call.tensors[1].shape();
  const auto from = shape_words(x.shape());
  const std::int64_t window = std::int64_t{form.height} * form.width;
  indexable_elements(x);
  require_loop_limit(call, traits, window + 2 * std::int64_t{form.height} + 1, window);
  const Push push{.shape = shape_words(y),
                  .x = view_of(x, traits),
                  .in_height = from[2],
                  .in_width = from[3],
                  .form = form,
                  .elements = indexable_elements(call.tensors[1])};
  dispatch_units(call, traits, steps, call.op.shaders[0], {y, push.elements}, push);
}

constexpr OpDef pool_def(std::string_view name, std::span<const Attribute> attributes) {
  return {.name = name,
          .family = OpFamily::other,
          .operands = kStridedX,
          .results = kFloatY,
          .attributes = attributes,
          .push_bytes = sizeof(Push),
          .shaders = shaders_of(kShaders, name, 1),
          .infer = infer,
          .cost = cost,
          .reference = reference,
          .lower = lower,
          .extents = ExtentRule::rows};
}

}  // namespace

extern const OpDef pool_1d_def, pool_2d_def;
constinit const OpDef pool_1d_def = pool_def("pool_1d", kAttributes1d);
constinit const OpDef pool_2d_def = pool_def("pool_2d", kAttributes2d);

}  // namespace reprise::ops

namespace reprise {

Tensor pool_1d(Site site, TensorRef x, Pool1dAttributes a) {
  return record(site, ops::pool_1d_def, {x},
                ops::Form1d{a.width, a.stride == 0 ? a.width : a.stride, a.padding, a.mode});
}

Tensor pool_2d(Site site, TensorRef x, Pool2dAttributes a) {
  return record(
      site, ops::pool_2d_def, {x},
      ops::Form{a.height, a.width, a.stride_y == 0 ? a.height : a.stride_y,
                a.stride_x == 0 ? a.width : a.stride_x, a.padding_y, a.padding_x, a.mode});
}

}  // namespace reprise
