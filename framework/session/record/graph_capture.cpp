#include "framework/session/record/graph_capture.h"

#include "framework/core/custom_op.h"
#include "framework/graph/range_map.h"

namespace reprise {

std::uint32_t& PointerMap::slot(const void* key) {
  if (count_ * 2 >= entries_.size()) {
    const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries_.size() * 2));
    count_ = 0;
    for (const Entry& e : old) {
      if (e.key != nullptr) {
        slot(e.key) = e.value;
      }
    }
  }
  const std::size_t mask = entries_.size() - 1;
  std::size_t i = (reinterpret_cast<std::uintptr_t>(key) * 0x9E3779B97F4A7C15U >> 20U) & mask;
  while (entries_[i].key != nullptr && entries_[i].key != key) {
    i = (i + 1) & mask;
  }
  if (entries_[i].key == nullptr) {
    entries_[i].key = key;
    ++count_;
  }
  return entries_[i].value;
}

GraphCapture::GraphCapture(std::string name, std::uint64_t owner) : slab_(new TensorSlab(owner)) {
  graph_.name = std::move(name);
}

GraphCapture::~GraphCapture() { slab_->close(); }

void GraphCapture::reserve(const GraphSizes& sizes) {
  graph_.nodes.reserve(sizes.nodes);
  graph_.uses.reserve(sizes.uses);
  graph_.tensors.reserve(sizes.tensors);
  graph_.storages.reserve(sizes.storages);
  graph_.attributes.reserve(sizes.attribute_bytes);
  handles_.reserve(sizes.storages);
}

GraphSizes GraphCapture::sizes() const {
  return {graph_.nodes.size(), graph_.uses.size(), graph_.tensors.size(), graph_.storages.size(),
          graph_.attributes.size()};
}

std::uint32_t GraphCapture::add_storage(const Storage& storage, std::shared_ptr<Buffer> memory) {
  graph_.storages.push_back(storage);
  handles_.push_back(0);
  if (memory != nullptr) {
    memory_.resize(graph_.storages.size());
    memory_.back() = std::move(memory);
  }
  return static_cast<std::uint32_t>(graph_.storages.size() - 1);
}

Tensor GraphCapture::make(const TensorSpec& spec, std::uint32_t storage, std::uint64_t offset) {
  TensorRecord* record = slab_->create();
  record->spec = spec;
  record->offset = offset;
  record->index = static_cast<std::uint32_t>(graph_.tensors.size());
  graph_.tensors.push_back({spec, offset, storage, 0, TensorRole::activation, kNoIndex});
  ++handles_[storage];
  return Tensor(record);
}

std::uint32_t GraphCapture::index_of(const TensorRef& tensor) {
  if (tensor->slab->owner() == owner()) {
    return tensor->index;
  }
  std::uint32_t& known = tensors_.slot(&*tensor);
  if (known == kNoIndex) {
    std::uint32_t& storage = buffers_.slot(tensor->buffer.get());
    if (storage == kNoIndex) {
      storage = add_storage({.bytes = tensor->buffer->bytes(), .origin = StorageOrigin::caller},
                            tensor->buffer);
    }
    known = static_cast<std::uint32_t>(graph_.tensors.size());
    graph_.tensors.push_back({tensor->spec, tensor->offset, storage,
                              graph_.names.intern(tensor->name), TensorRole::param, kNoIndex});
    retained_.push_back(tensor.own());
  }
  return known;
}

void GraphCapture::set_origin(const TensorRef& tensor, StorageOrigin origin,
                              std::string_view name) {
  const std::uint32_t storage = buffers_.slot(tensor->buffer.get());
  if (storage != kNoIndex) {
    graph_.storages[storage].origin = origin;
    graph_.storages[storage].name = graph_.names.intern(name);
  }
}

std::uint32_t GraphCapture::operand(const OpCall& call, std::size_t i) {
  const std::uint32_t tensor = index_of(call.inputs[i]);
  const Buffer* buffer = buffer_behind(tensor);
  if (buffer != nullptr && buffer->freed()) {
    throw_error(ErrorCode::stale, describe(call, i), " cannot be used: its buffer (",
                buffer->name(), ") was freed. Use the tensor that took its place.");
  }
  return tensor;
}

Tensor GraphCapture::add_input(std::string_view name, const TensorSpec& spec) {
  Tensor tensor = make(spec, add_storage({.bytes = spec.bytes(), .input = true}), 0);
  graph_.tensors.back().name = graph_.names.intern(name);
  graph_.tensors.back().role = TensorRole::input;
  graph_.inputs.push_back({std::string(name), spec, TensorRef(tensor)->index});
  return tensor;
}

bool GraphCapture::can_place(const TensorRef& tensor, const TensorRef& target) {
  if (tensor->slab->owner() != owner()) {
    return false;
  }
  const GraphTensor& entry = graph_.tensors[tensor->index];
  const Storage& storage = graph_.storages[entry.storage];
  return !storage.is_persistent() && !storage.input && entry.offset == 0 &&
         storage.bytes == target.spec().bytes() && buffers_.slot(target->buffer.get()) == kNoIndex;
}

void GraphCapture::place(const TensorRef& tensor, const TensorRef& target) {
  const GraphTensor to = graph_.tensors[index_of(target)];
  const std::uint32_t from = graph_.tensors[tensor->index].storage;
  for (GraphTensor& entry : graph_.tensors) {
    if (entry.storage == from) {
      entry.storage = to.storage;
      entry.offset += to.offset;
    }
  }
  graph_.storages[to.storage].output |= graph_.storages[from].output;
  graph_.storages[from].output = false;
  handles_[to.storage] += std::exchange(handles_[from], 0);
}

Tensor GraphCapture::add_view(const OpCall& call, const Outputs& outputs) {
  const std::uint32_t source = operand(call, 0);
  const GraphTensor of = graph_.tensors[source];
  Tensor tensor = make(outputs.specs[0], of.storage, of.offset + outputs.offset);
  graph_.tensors.back().alias_of = source;
  graph_.tensors.back().role = of.role;
  graph_.tensors.back().name = of.name;
  return tensor;
}

void GraphCapture::require_apart(const OpCall& call, std::span<const Use> uses) const {
  const auto bytes_of = [&](const Use& use) {
    const GraphTensor& t = graph_.tensors[use.tensor];
    return Range{t.storage, t.offset, t.offset + t.spec.span_bytes()};
  };
  for (const Use& written : uses) {
    for (const Use& other : uses) {
      const Range a = bytes_of(written), b = bytes_of(other);
      if (writes(written.access) && written.slot != other.slot && a.buffer == b.buffer &&
          a.begin < b.end && b.begin < a.end) {
        const auto name = [&](const Use& use) {
          return std::string(call.op.operands[use.slot].name);
        };
        throw_invalid_argument(call.op.name, " needs ", name(other), " outside of the memory of ",
                               name(written), ", which it writes, but ", describe(call, other.slot),
                               " shares memory with ", describe(call, written.slot),
                               "; copy it first.");
      }
    }
  }
}

void GraphCapture::keep_op(const OpDef& op) {
  if (auto owner = owner_of(op);
      owner != nullptr && std::ranges::count(graph_.custom_ops, owner) == 0) {
    graph_.custom_ops.push_back(std::move(owner));
  }
}

void GraphCapture::add_node(const OpCall& call, const Outputs& outputs, std::uint32_t scope,
                            std::uint32_t state, std::span<Tensor> results) {
  Node node;
  node.op = &call.op;
  keep_op(call.op);
  node.where = call.where;
  node.scope = scope;
  node.first_use = static_cast<std::uint32_t>(graph_.uses.size());
  node.attribute_bytes = static_cast<std::uint16_t>(call.attributes.size());
  node.attributes = static_cast<std::uint32_t>(graph_.attributes.size());
  // Whole words keep every struct aligned.
  graph_.attributes.resize(node.attributes + (call.attributes.size() + 7) / 8 * 8);
  std::ranges::copy(call.attributes, graph_.attributes.begin() + node.attributes);
  std::uint8_t slot = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i, ++slot) {
    if (call.inputs[i]) {
      const Use use{operand(call, i), slot, call.op.operands[i].access};
      const Buffer* buffer = buffer_behind(use.tensor);
      if (writes(use.access) && buffer != nullptr) {
        buffer->require_writable();
      }
      graph_.uses.push_back(use);
    }
  }
  if (owner_of(call.op) == nullptr) {  // what kernels of the caller's do with memory, they know
    require_apart(call, std::span(graph_.uses).subspan(node.first_use));
  }
  for (std::size_t i = 0; i < outputs.count; ++i, ++slot) {
    const std::uint32_t storage = add_storage({.bytes = outputs.specs[i].bytes()});
    graph_.uses.push_back({static_cast<std::uint32_t>(graph_.tensors.size()), slot, Access::write});
    results[i] = make(outputs.specs[i], storage, 0);
  }
  if (state != kNoIndex) {
    graph_.uses.push_back({state, slot, Access::read});
  }
  node.use_count = static_cast<std::uint8_t>(graph_.uses.size() - node.first_use);
  graph_.nodes.push_back(node);
}

std::string GraphCapture::tensor_name(const TensorRecord& tensor) const {
  if (tensor.buffer) {
    return "'" + tensor.name + "'";
  }
  if (tensor.slab->owner() != owner()) {
    return "";
  }
  const GraphTensor& known = graph_.tensors[tensor.index];
  if (known.name != 0) {
    return "'" + std::string(graph_.names.text(known.name)) + "'";
  }
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
    for (const Use& use : graph_.uses_of(graph_.nodes[n])) {
      if (writes(use.access) && graph_.tensors[use.tensor].storage == known.storage) {
        return "result of op " + std::to_string(n) + " " + std::string(graph_.nodes[n].op->name) +
               ",";
      }
    }
  }
  return "";
}

}  // namespace reprise
