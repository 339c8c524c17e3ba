#include "reprise/ops/copy.h"

#include <algorithm>
#include <vector>

#include "framework/core/record.h"
#include "framework/ops/push_block.h"
#include "framework/ops/schema.h"
#include "framework/ops/weight_formats.h"
#include "reprise/backend/decode.h"
#include "reprise/core/encode.h"

namespace reprise::ops {
namespace {

struct CopyAttributes {
  static constexpr std::int32_t kSame = -1;
  std::int32_t dtype = kSame;  // of the result, as the number of its DType
};

constexpr Operand kOperands[] = {
    {"x", Access::read, kWeightTypes | accepts({DType::i32}), false, Layout::any}};
constexpr Operand kResults[] = {{"y", Access::write}};
constexpr Attribute kAttributes[] = {
    {"dtype", AttributeType::i32, offsetof(CopyAttributes, dtype)}};
// Equal dtypes, then from f32, then to f32.
constexpr std::array kMoves{std::string_view("copy.w32"), std::string_view("copy.w16"),
                            std::string_view("copy.wide")};
constexpr std::array kNarrow{DType::f16, DType::bf16, DType::q8_0, DType::q4_0};
constexpr std::array kWide = [] {
  std::array<DType, kWeightFormats.size() - 1> types{};
  std::copy(kWeightFormats.begin() + 1, kWeightFormats.end(), types.begin());
  return types;
}();
static_assert(kWeightFormats[0] == DType::f32);
constexpr auto kShaders =
    joined(kMoves, kFormatShaders<"copy.to_", kNarrow>, kFormatShaders<"copy.from_", kWide>);

// Mirrors the push block of shaders/copy.comp.
struct Push {
  std::array<std::uint32_t, 4> shape;
  View x;
  std::uint32_t units;
};

bool converts(DType from, DType to) {
  return from == to || (from == DType::f32 && std::ranges::find(kNarrow, to) != kNarrow.end()) ||
         (to == DType::f32 && decoder_of(from) != nullptr);
}

Outputs infer(const OpCall& call) {
  const TensorRef& x = call.inputs[0];
  const std::int32_t wanted = call.as<CopyAttributes>().dtype;
  if (wanted < CopyAttributes::kSame || wanted >= static_cast<std::int32_t>(kDTypeCount)) {
    throw_invalid_argument("copy knows the dtypes 0 to ", kDTypeCount - 1, ", but got (", wanted,
                           ").");
  }
  const DType to = wanted == CopyAttributes::kSame ? x.dtype() : static_cast<DType>(wanted);
  if (!converts(x.dtype(), to)) {
    throw_invalid_argument(
        "copy converts f32 to f16, bf16, q8_0 and q4_0, these and all other blocks to f32, or "
        "keeps the dtype, but got ",
        describe(call, 0), " and the dtype (", name_of(to), ").");
  }
  const std::int64_t block = info_of(to).block_elements;
  if (x.shape().back() % block != 0) {
    throw_invalid_argument("copy to ", name_of(to), " needs rows of whole blocks of ", block,
                           " elements, but ", describe(call, 0), " has rows of (", x.shape().back(),
                           ").");
  }
  return TensorSpec{x.shape(), to};
}

/// Calls f(first byte of a row of x, bytes from an element to the next) for every row.
template <class F>
void for_each_row_of(const HostTensor& x, F&& f) {
  const std::uint64_t step = bytes_of(x.dtype(), static_cast<std::uint64_t>(last_stride(x)));
  for_each_row(x.shape(), [&](std::int64_t i0, std::int64_t i1, std::int64_t i2) {
    f(x.data + bytes_of(x.dtype(), static_cast<std::uint64_t>(x.row(i0, i1, i2))), step);
  });
}

// A copy must not touch the bits of a NaN: no floats on the way.
void keep_bits(const HostTensor& x, const HostTensor& y) {
  const DTypeInfo& info = info_of(x.dtype());
  std::byte* to = y.data;
  if (info.block_elements > 1) {
    std::copy_n(x.data, x.spec->bytes(), to);
    return;
  }
  const auto cols = static_cast<std::size_t>(x.shape().back());
  for_each_row_of(x, [&](const std::byte* from, std::uint64_t step) {
    for (std::size_t c = 0; c < cols; ++c, to += info.block_bytes) {
      std::copy_n(from + c * step, info.block_bytes, to);
    }
  });
}

void reference(const HostCall& call) {
  const HostTensor& x = call.tensors[0];
  const HostTensor& y = call.tensors[1];
  if (x.dtype() == y.dtype()) {
    keep_bits(x, y);
    return;
  }
  const auto cols = static_cast<std::size_t>(x.shape().back());
  const bool neighbours = last_stride(x) == 1 || cols <= 1;
  const Decode decode = decoder_of(x.dtype());
  const Encode encode = encoder_of(y.dtype());
  std::vector<float> row(cols);
  std::byte* to = y.data;
  for_each_row_of(x, [&](const std::byte* from, std::uint64_t step) {
    if (neighbours) {
      decode(from, cols, row.data());
    } else {
      for (std::size_t c = 0; c < cols; ++c) {
        decode(from + c * step, 1, &row[c]);
      }
    }
    encode(row.data(), cols, to);
    to += bytes_of(y.dtype(), cols);
  });
}

std::string_view shader_of(const OpDef& op, DType from, DType to) {
  if (from == to) {
    return kMoves[info_of(from).block_bytes == 4 ? 0 : 1];
  }
  return from == DType::f32 ? shader_for(op, to, "to_") : shader_for(op, from, "from_");
}

/// How many invocations there are: one per element, per block that is made, or per 2 bytes of
/// blocks that stay as they are.
std::int64_t units_of(const BoundTensor& x, DType to) {
  const DTypeInfo& info = info_of(to);
  const std::int64_t elements = x.shape().elements();
  if (info.block_elements == 1) {
    return elements;
  }
  return elements / info.block_elements * (x.dtype() == to ? info.block_bytes / 2 : 1);
}

constexpr std::uint64_t kWideBytes = 16;

/// Whether x is so many bytes after as many, from the beginning of its binding, in every row of an
/// extent too.
bool is_wide(const BoundTensor& x, DType to, const DeviceTraits& traits) {
  const auto rows = static_cast<std::uint64_t>(x.shape().fixed() ? 1 : x.shape().dim(0));
  return traits.kernels == KernelFamily::gpu && x.dtype() == to && x.spec->contiguous() &&
         x.offset % std::max<std::uint64_t>(kWideBytes, traits.binding_alignment) == 0 &&
         x.spec->bytes() % (rows * kWideBytes) == 0;
}

void lower(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const BoundTensor& x = call.tensors[0];
  const DType to = call.tensors[1].dtype();
  indexable_elements(x);
  indexable_elements(call.tensors[1]);
  if (is_wide(x, to, traits)) {
    const Push push{{}, {}, word(static_cast<std::int64_t>(x.spec->bytes() / kWideBytes))};
    dispatch_units(call, traits, steps, kMoves[2], {x.shape(), push.units}, push);
    return;
  }
  Push push{shape_words(x.shape()), view_of(x, traits), word(units_of(x, to))};
  if (x.dtype() == to && info_of(to).block_elements > 1) {
    push.shape = {1, 1, 1, push.units};
    push.x.strides = {0, 0, 0, 1};
  }
  const std::string_view shader = shader_of(call.op, x.dtype(), to);
  dispatch_units(call, traits, steps, shader, {x.shape(), push.units}, push);
}

}  // namespace

extern const OpDef copy_def;
const OpDef copy_def{.name = "copy",
                     .family = OpFamily::movement,
                     .operands = kOperands,
                     .results = kResults,
                     .attributes = kAttributes,
                     .push_bytes = sizeof(Push),
                     .shaders = kShaders,
                     .infer = infer,
                     .cost = cost_per_element<0>,
                     .reference = reference,
                     .lower = lower,
                     .extents = ExtentRule::elements};

}  // namespace reprise::ops

namespace reprise {

Tensor copy(Site site, TensorRef x) {
  return record(site, ops::copy_def, {x}, ops::CopyAttributes{});
}

Tensor cast(Site site, TensorRef x, DType dtype) {
  return record(site, ops::copy_def, {x}, ops::CopyAttributes{static_cast<std::int32_t>(dtype)});
}

}  // namespace reprise
