#include "reprise/ops/conv.h"

#include "framework/core/record.h"
#include "framework/ops/gpu_groups.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"
#include "framework/ops/sliding.h"

namespace reprise::ops {
namespace {

// What conv_1d and conv_2d record.
struct Form1d {
  std::int32_t stride, padding, dilation, groups;
};
struct Window {
  std::int32_t stride_y, stride_x;
  std::int32_t padding_y, padding_x;
  std::int32_t dilation_y, dilation_x;
};
struct Form {
  Window window;
  std::int32_t groups;
};

constexpr Operand kOperands[] = {{"x", Access::read, accepts({DType::f32}), false, Layout::any},
                                 {"w", Access::read, accepts({DType::f32, DType::f16})}};
constexpr Attribute kAttributes1d[] = {{"stride", AttributeType::i32, offsetof(Form1d, stride)},
                                       {"padding", AttributeType::i32, offsetof(Form1d, padding)},
                                       {"dilation", AttributeType::i32, offsetof(Form1d, dilation)},
                                       {"groups", AttributeType::i32, offsetof(Form1d, groups)}};
constexpr Attribute kAttributes2d[] = {
    {"stride_y", AttributeType::i32, offsetof(Form, window.stride_y)},
    {"stride_x", AttributeType::i32, offsetof(Form, window.stride_x)},
    {"padding_y", AttributeType::i32, offsetof(Form, window.padding_y)},
    {"padding_x", AttributeType::i32, offsetof(Form, window.padding_x)},
    {"dilation_y", AttributeType::i32, offsetof(Form, window.dilation_y)},
    {"dilation_x", AttributeType::i32, offsetof(Form, window.dilation_x)},
    {"groups", AttributeType::i32, offsetof(Form, groups)}};
constexpr std::string_view kShaders[] = {"conv.conv_1d_f32", "conv.conv_1d_f16", "conv.conv_2d_f32",
                                         "conv.conv_2d_f16"};

// Mirrors the push block of shaders/conv.comp.
struct Push {
  std::uint32_t x_offset;
  std::array<std::uint32_t, 4> x_strides;  // batch, channel, row, column
  std::uint32_t height, width;
  std::uint32_t outputs, out_height, out_width;
  std::uint32_t channels;  // that an output reads
  std::uint32_t taps_y, taps_x;
  Window window;
  std::uint32_t group_outputs;
  std::uint32_t w_offset;
  std::uint32_t elements;
};

bool flat(const OpDef& op) { return op.attributes.size() == std::size(kAttributes1d); }

// conv_1d is conv_2d over one row.
template <class Call>
Form form_of(const Call& call) {
  if (!flat(call.op)) {
    return call.template as<Form>();
  }
  const auto& form = call.template as<Form1d>();
  return {{1, form.stride, 0, form.padding, 1, form.dilation}, form.groups};
}

/// [batch, channels, height, width] of x, y or w, whichever rank they have.
std::array<std::int64_t, 4> image(const Shape& shape, bool is_flat) {
  const auto dims = shape.padded();
  return is_flat ? std::array{dims[1], dims[2], std::int64_t{1}, dims[3]} : dims;
}
Sliding along_y(const Window& w, std::int64_t taps) {
  return {taps, w.stride_y, w.padding_y, w.dilation_y};
}
Sliding along_x(const Window& w, std::int64_t taps) {
  return {taps, w.stride_x, w.padding_x, w.dilation_x};
}

Outputs infer(const OpCall& call) {
  const Form form = form_of(call);
  const bool is_flat = flat(call.op);
  const std::size_t rank = is_flat ? 3 : 4;
  const Shape& x = call.inputs[0].shape();
  const Shape& w = call.inputs[1].shape();
  if (x.rank() + 1 != rank) {
    require_rank(call, 0, rank);
  }
  require_rank(call, 1, rank);
  require_pair(w.fixed(), call, "weights with a fixed number of outputs", 0, 1);
  require_pair(x.fixed() || x.rank() == rank, call, "a batch whose extent is that of the state", 0,
               1);
  const auto from = image(x, is_flat);
  const auto taps = image(w, is_flat);
  if (form.groups < 1 || from[1] % form.groups != 0 || taps[0] % form.groups != 0) {
    throw_invalid_argument(
        call.op.name, " needs groups of which channels and outputs are multiples", ", but got (",
        form.groups, ") for ", describe(call, 0), " and ", describe(call, 1), ".");
  }
  require_pair(taps[1] == from[1] / form.groups, call, "w with the channels of a group of x", 0, 1);
  const std::int64_t height =
      is_flat ? 1 : outputs_of(call, "y", from[2], along_y(form.window, taps[2]));
  const std::int64_t width = outputs_of(call, "x", from[3], along_x(form.window, taps[3]));
  std::vector<std::int64_t> dims;
  if (x.rank() == rank) {
    dims.push_back(x.dim(0));
  }
  dims.push_back(taps[0]);
  if (!is_flat) {
    dims.push_back(height);
  }
  dims.push_back(width);
  return TensorSpec{Shape(dims).with_extent(x.extent_word()), DType::f32};
}

Cost cost(const BoundCall& call) {
  const Shape& w = call.tensors[1].shape();
  const std::int64_t products = w.dim(0) == 0 ? 0 : w.elements() / w.dim(0);
  return streaming_cost(
      call, 2 * static_cast<std::uint64_t>(call.tensors[2].shape().elements() * products));
}

void reference(const HostCall& call) {
  const Form form = form_of(call);
  const bool is_flat = flat(call.op);
  const HostTensor& x = call.tensors[0];
  const HostTensor& w = call.tensors[1];
  const HostTensor& y = call.tensors[2];
  const auto from = image(x.shape(), is_flat);
  const auto taps = image(w.shape(), is_flat);
  const auto to = image(y.shape(), is_flat);
  const Sliding down = along_y(form.window, taps[2]);
  const Sliding right = along_x(form.window, taps[3]);
  const std::int64_t step = last_stride(x);
  const auto load = [&](std::int64_t b, std::int64_t c, std::int64_t row, std::int64_t column) {
    return x.load((is_flat ? x.row(0, b, c) : x.row(b, c, row)) + column * step);
  };
  std::int64_t next = 0;
  const auto sum_of = [&](std::int64_t b, std::int64_t o, std::int64_t r, std::int64_t l) {
    const std::int64_t first = o / (to[1] / form.groups) * taps[1];
    double sum = 0;
    std::int64_t weight = o * taps[1] * taps[2] * taps[3];
    for (std::int64_t c = 0; c < taps[1]; ++c) {
      for (std::int64_t ty = 0; ty < taps[2]; ++ty) {
        for (std::int64_t tx = 0; tx < taps[3]; ++tx, ++weight) {
          const std::int64_t row = down.begin(r) + ty * down.dilation;
          const std::int64_t column = right.begin(l) + tx * right.dilation;
          if (row >= 0 && row < from[2] && column >= 0 && column < from[3]) {
            sum += w.load(weight) * load(b, first + c, row, column);
          }
        }
      }
    }
    return sum;
  };
  for (std::int64_t b = 0; b < to[0]; ++b) {
    for (std::int64_t o = 0; o < to[1]; ++o) {
      for (std::int64_t r = 0; r < to[2]; ++r) {
        for (std::int64_t l = 0; l < to[3]; ++l) {
          y.store(next++, sum_of(b, o, r, l));
        }
      }
    }
  }
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const Form form = form_of(call);
  const bool is_flat = flat(call.op);
  const BoundTensor& x = call.tensors[0];
  const BoundTensor& w = call.tensors[1];
  const Shape& y = call.tensors[2].shape();
  const View view = view_of(x, traits);
  const auto& s = view.strides;
  const auto from = image(x.shape(), is_flat);
  const auto taps = image(w.shape(), is_flat);
  const auto to = image(y, is_flat);
  indexable_elements(x);
  indexable_elements(w);
  // With the turn that ends each loop.
  const std::int64_t turns = taps[1] * (taps[2] * (taps[3] + 2) + 2) + 1;
  require_loop_limit(call, traits, turns, taps[1] * taps[2] * taps[3]);
  const Push push{.x_offset = view.offset,
                  .x_strides = is_flat ? std::array{s[1], s[2], 0U, s[3]} : s,
                  .height = word(from[2]),
                  .width = word(from[3]),
                  .outputs = word(to[1]),
                  .out_height = word(to[2]),
                  .out_width = word(to[3]),
                  .channels = word(taps[1]),
                  .taps_y = word(taps[2]),
                  .taps_x = word(taps[3]),
                  .window = form.window,
                  .group_outputs = word(to[1] / form.groups),
                  .w_offset = view_of(w, traits).offset,
                  .elements = indexable_elements(call.tensors[2])};
  dispatch_units(call, traits, steps, call.op.shaders[w.dtype() == DType::f16 ? 1 : 0],
                 {y, push.elements}, push);
}

constexpr OpDef conv_def(std::string_view name, std::span<const Attribute> attributes) {
  return {.name = name,
          .family = OpFamily::product,
          .operands = kOperands,
          .results = kFloatY,
          .attributes = attributes,
          .push_bytes = sizeof(Push),
          .shaders = shaders_of(kShaders, name, 2),
          .infer = infer,
          .cost = cost,
          .reference = reference,
          .lower = lower,
          .extents = ExtentRule::rows};
}

}  // namespace

extern const OpDef conv_1d_def, conv_2d_def;
constinit const OpDef conv_1d_def = conv_def("conv_1d", kAttributes1d);
constinit const OpDef conv_2d_def = conv_def("conv_2d", kAttributes2d);

}  // namespace reprise::ops

namespace reprise {

Tensor conv_1d(Site site, TensorRef x, TensorRef w, Conv1dAttributes a) {
  return record(site, ops::conv_1d_def, {x, w},
                ops::Form1d{a.stride, a.padding, a.dilation, a.groups});
}

Tensor conv_2d(Site site, TensorRef x, TensorRef w, Conv2dAttributes a) {
  return record(
      site, ops::conv_2d_def, {x, w},
      ops::Form{{a.stride_y, a.stride_x, a.padding_y, a.padding_x, a.dilation_y, a.dilation_x},
                a.groups});
}

}  // namespace reprise
