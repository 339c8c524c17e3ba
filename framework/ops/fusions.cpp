#include "framework/ops/fusions.h"

#include "framework/ops/rope_set_rows.h"

namespace reprise {
namespace ops {

extern const OpDef add_def;
extern const OpDef add_rms_norm_def;
extern const OpDef matmul_def;
extern const OpDef matmul_group_def;
extern const OpDef mul_def;
extern const OpDef rms_norm_def;
extern const OpDef rope_def;
extern const OpDef rope_set_rows_def;
extern const OpDef set_rows_def;

namespace {

constexpr FusedSlot producer(std::uint8_t slot) { return {FusedSlot::From::producer, slot}; }
constexpr FusedSlot consumer(std::uint8_t slot) { return {FusedSlot::From::consumer, slot}; }

template <class T>
std::vector<std::byte> copy_of(const T& attributes) {
  const auto bytes = std::as_bytes(std::span(&attributes, 1));
  return {bytes.begin(), bytes.end()};
}
std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> of_producer(const BoundCall& first, const BoundCall& /*second*/) {
  return copy_of(first.attributes);
}
std::vector<std::byte> of_consumer(const BoundCall& /*first*/, const BoundCall& second) {
  return copy_of(second.attributes);
}

// matmul {x, w, residual; y} and add {x, y; z}; `kAddend` is what add adds to the product.
template <std::size_t kAddend>
bool adds_row(const BoundCall& product, const BoundCall& sum) {
  const Shape& addend = sum.tensors[kAddend].shape();
  const Shape& y = product.tensors[3].shape();
  return !(addend == y) && addend.elements() == addend.back() && addend.back() == y.back();
}
template <std::size_t kAddend>
bool adds_rows(const BoundCall& product, const BoundCall& sum) {
  return !adds_row<kAddend>(product, sum);
}

std::string bias_refuses(const BoundCall& product, const BoundCall& sum,
                         const DeviceTraits& /*traits*/) {
  if (product.tensors[2]) {
    return "the product has a residual already";
  }
  const Shape &rows = product.tensors[3].shape(), &read = sum.tensors[2].shape();
  return read == rows || read.elements() == rows.back() ? ""
                                                        : "add reads the product in another shape";
}

std::string residual_refuses(const BoundCall& product, const BoundCall& sum,
                             const DeviceTraits& /*traits*/) {
  if (product.tensors[2]) {
    return "the product has a residual already";
  }
  const Shape& shape = product.tensors[3].shape();
  if (!(sum.tensors[0].shape() == shape) || !(sum.tensors[1].shape() == shape)) {
    return "the operands of add are not both of the shape of the product";
  }
  return {};
}

// add {x, y; z} and rms_norm {x, weight; y}.
std::string add_rms_norm_refuses(const BoundCall& sum, const BoundCall& norm,
                                 const DeviceTraits& /*traits*/) {
  if (!(sum.tensors[0].shape() == sum.tensors[1].shape())) {
    return "the operands of add are of different shapes";
  }
  return norm.tensors[0].shape() == sum.tensors[2].shape()
             ? ""
             : "rms_norm reads the sum in another shape";
}

// rope {x, positions, frequency_factors; y} and set_rows {table, values, ids}.
std::string rope_set_rows_refuses(const BoundCall& rotation, const BoundCall& rows,
                                  const DeviceTraits& /*traits*/) {
  if (!rotation.as<RopeForm>().plain()) {
    return "the rotation has sections, extrapolation or a magnitude";
  }
  return rows.tensors[1].shape().dim(0) == rotation.tensors[3].shape().dim(0)
             ? ""
             : "set_rows reads the rotated values in other rows";
}

std::vector<std::byte> rope_set_rows_attributes(const BoundCall& rotation, const BoundCall& rows) {
  return copy_of(RopeSetRowsForm{rotation.as<RopeForm>().angles, rows.as<SetRowsAttributes>()});
}

// rms_norm {x, weight; y} and mul {x, y; z}.
std::string norm_weight_refuses(const BoundCall& norm, const BoundCall& product,
                                const DeviceTraits& /*traits*/) {
  if (norm.tensors[1]) {
    return "the norm has a weight already";
  }
  if (!(product.tensors[0].shape() == norm.tensors[2].shape())) {
    return "mul reads the norm in another shape";
  }
  const Shape& weight = product.tensors[1].shape();
  return weight.elements() == norm.tensors[0].shape().back() && weight.elements() == weight.back()
             ? ""
             : "the other operand of mul is not one row of the norm's length";
}

// matmul {x, w, residual; y}, both.
std::string matmul_group_refuses(const BoundCall& first, const BoundCall& other,
                                 const DeviceTraits& traits) {
  if (first.tensors[2] || other.tensors[2]) {
    return "one of them has a residual";
  }
  if (first.tensors[1].dtype() != other.tensors[1].dtype()) {
    return "their weights are of different dtypes";
  }
  for (const BoundCall* product : {&first, &other}) {
    const Shape& w = product->tensors[1].shape();
    if (w.rank() != 2 || w.dim(0) == 0) {
      return "weights are not matrices with rows";
    }
  }
  // One dispatch would need a branch to each of the weights, which costs more than it saves.
  return traits.runs_on_host ? "" : "dispatches of their own are as quick on this device";
}

// Slots of the fused ops.
constexpr FusedSlot kResidualIsX[] = {producer(0), producer(1), consumer(0), consumer(2)};
constexpr FusedSlot kResidualIsY[] = {producer(0), producer(1), consumer(1), consumer(2)};
constexpr FusedSlot kNormWeight[] = {producer(0), consumer(1), consumer(2)};
constexpr FusedSlot kAddRmsNorm[] = {producer(0), producer(1), consumer(1), producer(2),
                                     consumer(2)};
constexpr FusedSlot kRopeSetRows[] = {consumer(0), producer(0), producer(1), producer(2),
                                      consumer(2)};

/// Of the sum of a product and operand `addend` of add.
constexpr FusionRule product_and_sum(std::string_view name, std::uint8_t addend,
                                     bool (*about)(const BoundCall&, const BoundCall&),
                                     std::string (*refuses)(const BoundCall&, const BoundCall&,
                                                            const DeviceTraits&)) {
  return {.name = name,
          .producer = &matmul_def,
          .consumer = &add_def,
          .operand = static_cast<std::uint8_t>(1 - addend),
          .fused = &matmul_def,
          .slots = addend == 0 ? std::span<const FusedSlot>(kResidualIsX) : kResidualIsY,
          .about = about,
          .refuses = refuses,
          .attributes = of_producer};
}

// A product takes the sum before a norm does: both save one dispatch, but a product of many groups
// adds what it has in registers, and the sum is written once and read once.
constinit const FusionRule kRules[] = {
    product_and_sum("residual", 0, adds_rows<0>, residual_refuses),
    product_and_sum("residual", 1, adds_rows<1>, residual_refuses),
    product_and_sum("bias", 1, adds_row<1>, bias_refuses),
    // A product of one row may come second.
    product_and_sum("bias", 0, adds_row<0>, bias_refuses),
    {.name = "norm_weight",  // before what takes a norm with its weight
     .exact = false,         // references round once instead of twice
     .producer = &rms_norm_def,
     .consumer = &mul_def,
     .operand = 0,
     .fused = &rms_norm_def,
     .slots = kNormWeight,
     .refuses = norm_weight_refuses,
     .attributes = of_producer},
    {.name = "add_rms_norm",
     .producer = &add_def,
     .consumer = &rms_norm_def,
     .operand = 0,
     .fused = &add_rms_norm_def,
     .slots = kAddRmsNorm,
     .refuses = add_rms_norm_refuses,
     .attributes = of_consumer},
    {.name = "rope_set_rows",
     .producer = &rope_def,
     .consumer = &set_rows_def,
     .operand = 1,
     .fused = &rope_set_rows_def,
     .slots = kRopeSetRows,
     .refuses = rope_set_rows_refuses,
     .attributes = rope_set_rows_attributes}};

constexpr SiblingRule kSiblingRules[] = {{.name = "matmul_group",
                                          .op = &matmul_def,
                                          .shared = 0,
                                          .own = 1,
                                          .fused = &matmul_group_def,
                                          .refuses = matmul_group_refuses}};

}  // namespace
}  // namespace ops

FusionRules fusion_rules() { return {ops::kRules, ops::kSiblingRules}; }

}  // namespace reprise
