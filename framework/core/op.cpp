#include "framework/core/op.h"

#include <cstring>

#include "framework/core/float16.h"
#include "reprise/core/recorder.h"

namespace reprise {
namespace {

template <class T>
T load_as(const std::byte* data, std::int64_t element) {
  T value;
  std::memcpy(&value, data + static_cast<std::size_t>(element) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store_as(std::byte* data, std::int64_t element, T value) {
  std::memcpy(data + static_cast<std::size_t>(element) * sizeof(T), &value, sizeof(T));
}

[[noreturn]] void no_plain_access(DType type) {
  throw_error(ErrorCode::unsupported, "The elements of a tensor of dtype (", name_of(type),
              ") cannot be used one by one here.");
}

}  // namespace

std::string_view name_of(const OpDef& op) { return op.name; }

void run_reference(const HostCall& call) { call.op.reference(call); }

std::string_view name_of(OpFamily family) {
  constexpr std::array<std::string_view, kOpFamilyCount> kNames{
      "other", "product", "attention", "norm", "elementwise", "movement", "sampling"};
  return kNames[static_cast<std::size_t>(family)];
}

void require_field(const StateField& field, DType wanted, SourceLocation where) {
  if (field.word == StateField::kNone) {
    throw Error(ErrorCode::invalid_argument,
                "An attribute was given a state field that is unset. Take one of the session's "
                "state(), or give a constant.",
                where);
  }
  if (field.dtype != wanted) {
    throw Error(ErrorCode::invalid_argument,
                joined_text("The state field '", field.name, "' of dtype (", name_of(field.dtype),
                            ") cannot be an attribute of dtype ", name_of(wanted), "."),
                where);
  }
}

void refuse_constant(const std::string& value, SourceLocation where) {
  throw Error(ErrorCode::invalid_argument,
              "An i32 attribute holds -2147483648 to 2147483647, but was given (" + value + ").",
              where);
}

std::int32_t to_i32(const Extent& extent) {
  if (extent.max > std::numeric_limits<std::int32_t>::max()) {
    throw_invalid_argument("(", extent.max,
                           ") rows cannot be an attribute, which is at most 2^31 - 1.");
  }
  return static_cast<std::int32_t>(extent.max);
}

bool has_layout(const TensorSpec& spec, Layout layout) {
  const std::size_t last = spec.shape.rank() - 1;
  return layout == Layout::any || spec.contiguous() ||
         (layout == Layout::rows && (spec.strides[last] == 1 || spec.shape.dim(last) <= 1));
}

std::int64_t HostTensor::row(std::int64_t i0, std::int64_t i1, std::int64_t i2) const {
  const std::size_t rank = spec->shape.rank();
  const std::int64_t index[3] = {i0, i1, i2};
  std::int64_t element = 0;
  for (std::size_t d = 0; d + 1 < rank; ++d) {
    element += index[d + (Shape::kMaxRank - rank)] * spec->strides[d];
  }
  return element;
}

double HostTensor::load(std::int64_t element) const {
  switch (spec->dtype) {
    case DType::f32:
      return static_cast<double>(load_as<float>(data, element));
    case DType::f16:
      return static_cast<double>(f16_to_f32(load_as<std::uint16_t>(data, element)));
    case DType::bf16:
      return static_cast<double>(bf16_to_f32(load_as<std::uint16_t>(data, element)));
    case DType::i32:
      return static_cast<double>(load_as<std::int32_t>(data, element));
    default:
      no_plain_access(spec->dtype);
  }
}

void HostTensor::store(std::int64_t element, double value) const {
  switch (spec->dtype) {
    case DType::f32:
      store_as(data, element, static_cast<float>(value));
      return;
    case DType::f16:
      store_as(data, element, f32_to_f16(static_cast<float>(value)));
      return;
    case DType::i32:
      store_as(data, element, static_cast<std::int32_t>(value));
      return;
    default:
      no_plain_access(spec->dtype);
  }
}

std::int64_t HostTensor::load_integer(std::int64_t element) const {
  return spec->dtype == DType::i64 ? load_as<std::int64_t>(data, element)
                                   : std::int64_t{load_as<std::int32_t>(data, element)};
}

std::size_t size_of(AttributeType type) {
  return type == AttributeType::boolean ? 1 : is_param(type) ? sizeof(Param<float>) : 4;
}

void refuse_empty(const OpDef& op, std::size_t operand) {
  throw_invalid_argument(op.name, " needs ", op.operands[operand].name,
                         ", which is an empty tensor.");
}

std::string describe(const OpCall& call, std::size_t operand) {
  const TensorRef& t = call.inputs[operand];
  std::string label = call.recorder.tensor_name(*t);
  label += label.empty() ? "" : " ";
  return joined_text(call.op.operands[operand].name, " (", label, to_string(t.spec()), ")");
}

Cost streaming_cost(const BoundCall& call, std::uint64_t operations) {
  Cost cost;
  cost.operations = operations;
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    if (!call.tensors[i]) {
      continue;
    }
    const std::size_t operands = call.op.operands.size();
    const Access access = i < operands ? call.op.operands[i].access : Access::write;
    cost.read_bytes += reads(access) ? call.tensors[i].spec->bytes() : 0;
    cost.write_bytes += writes(access) ? call.tensors[i].spec->bytes() : 0;
  }
  return cost;
}

}  // namespace reprise
