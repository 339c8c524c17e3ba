#include "framework/core/custom_op.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "reprise/backend/backend.h"

namespace reprise {
namespace {

constexpr std::uint32_t kHashOffset = 0, kGridOffset = 8;
static_assert(kGridOffset + sizeof(Grid) == CustomOp::kPushOffset);

const CustomOp& custom(const OpDef& op) { return static_cast<const CustomOp&>(op); }

std::span<const std::byte> push_of(std::span<const std::byte> attributes) {
  return attributes.subspan(CustomOp::kPushOffset);
}

Cost cost(const BoundCall& call) { return streaming_cost(call, 0); }

void run(const HostCall& call) {
  const CustomOp& op = custom(call.op);
  op.source.function(KernelRun(op.interface, op.source.name, call, push_of(call.attributes),
                               CustomOp::header_of(call.attributes).grid));
}

/// Workgroups follow the rows of an extent in proportion, which is never too few for rows in order.
/// All of them run where 32 bits could not count them on the device, or where as many as given may
/// be folded ones.
Groups groups_of(const BoundCall& call, const Grid& grid) {
  constexpr std::uint32_t kFolded = 65535;
  const std::optional<std::uint32_t> axis = custom(call.op).interface.rows_axis;
  const Extent extent = extent_of(call.tensors);
  Groups groups(grid);
  if (!axis || extent.fixed() || grid[*axis] == kFolded) {
    return groups;
  }
  const auto rows = static_cast<std::uint32_t>(extent.max);
  const std::uint32_t common = std::gcd(rows, grid[*axis]);
  const std::uint32_t units = grid[*axis] / common;
  if (std::uint64_t{rows} * units <= 0xFFFFFFFF) {
    groups.live = {.tile = 1, .units = units, .local = rows / common, .axis = *axis};
  }
  return groups;
}

void lower_custom(const BoundCall& call, const DeviceTraits& traits, StepList& steps) {
  const CustomOp& op = custom(call.op);
  steps.dispatch_bytes(call, traits, Kernel{op.shader->name},
                       groups_of(call, CustomOp::header_of(call.attributes).grid),
                       push_of(call.attributes));
}

}  // namespace

CustomOp::CustomOp(KernelSource from, KernelInterface declared, std::uint64_t content,
                   const std::shared_ptr<Backend>& backend,
                   std::shared_ptr<const RunTimeShader> compiled)
    : source(std::move(from)),
      op_name("kernel:" + source.name),
      interface(std::move(declared)),
      hash(content),
      device(backend),
      shader(std::move(compiled)) {
  for (const KernelBinding& binding : interface.bindings) {
    const Operand row{binding.name, binding.access, binding.dtypes};
    (binding.access == Access::write ? result_rows_ : operand_rows_).push_back(row);
  }
  attribute_rows_ = {{"source", AttributeType::i32, kHashOffset},
                     {"source_high", AttributeType::i32, kHashOffset + 4},
                     {"grid_x", AttributeType::i32, kGridOffset},
                     {"grid_y", AttributeType::i32, kGridOffset + 4},
                     {"grid_z", AttributeType::i32, kGridOffset + 8}};
  add_push_rows();
  name = op_name;
  operands = operand_rows_;
  results = result_rows_;
  attributes = attribute_rows_;
  push_bytes = interface.push_bytes;
  infer = infer_custom;
  OpDef::cost = reprise::cost;
  reference = run;
  lower = lower_custom;
  extents = interface.rows_axis ? ExtentRule::elements : ExtentRule::none;
}

void CustomOp::add_push_rows() {
  const std::uint32_t words = interface.push_bytes / 4;
  std::vector<const KernelField*> fields(words);
  for (const KernelField& field : interface.fields) {
    fields[field.offset / 4] = &field;
  }
  attribute_names_.reserve(words);  // the rows look at them
  for (std::uint32_t word = 0; word < words;) {
    const KernelField* field = fields[word];
    attribute_names_.push_back(field != nullptr ? field->name : "push." + std::to_string(word));
    const AttributeType type = field != nullptr ? field->type : AttributeType::i32;
    attribute_rows_.push_back(
        {attribute_names_.back(), type, static_cast<std::uint16_t>(kPushOffset + word * 4)});
    word += static_cast<std::uint32_t>(size_of(type) / 4);
  }
}

CustomOp::Header CustomOp::header_of(std::span<const std::byte> attributes) {
  Header header;
  std::memcpy(&header.hash, attributes.data() + kHashOffset, sizeof header.hash);
  std::memcpy(&header.grid, attributes.data() + kGridOffset, sizeof header.grid);
  return header;
}

std::vector<std::byte> CustomOp::attributes_of(const Grid& grid,
                                               std::span<const std::byte> push) const {
  std::vector<std::byte> bytes(kPushOffset + push.size());
  std::memcpy(bytes.data() + kHashOffset, &hash, sizeof hash);
  std::memcpy(bytes.data() + kGridOffset, &grid, sizeof grid);
  std::ranges::copy(push, bytes.begin() + kPushOffset);
  return bytes;
}

const CustomOp* custom_op(const OpDef& op) {
  return op.lower == lower_custom ? &custom(op) : nullptr;
}

std::shared_ptr<const OpDef> owner_of(const OpDef& op) {
  const CustomOp* kernel = custom_op(op);
  return kernel != nullptr ? kernel->shared_from_this() : nullptr;
}

void require_device(const OpDef& op, const Backend& device) {
  const CustomOp* kernel = custom_op(op);
  if (kernel != nullptr && kernel->device.lock().get() != &device) {
    throw_invalid_argument(kernel->title(), " was compiled for another device.");
  }
}

}  // namespace reprise
