#include "reprise/session/param_store.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "framework/core/known_names.h"

namespace reprise {

struct ParamStore::Memory {
  struct Entry {
    std::string name;
    Tensor tensor;
    bool set = false;
  };
  explicit Memory(const Device& of) : device(of) {}
  Entry* find(std::string_view name) {
    const auto it = std::ranges::find(entries, name, &Entry::name);
    return it == entries.end() ? nullptr : &*it;
  }
  Entry& require(std::string_view name) {
    return require_named(entries, "The store", "param", name, &Entry::name);
  }

  Device device;
  std::mutex mutex;
  std::vector<Entry> entries;
  std::atomic<std::size_t> unset{0};
};

ParamStore::ParamStore(const Device& device) : memory_(std::make_shared<Memory>(device)) {}

ParamStore::Memory& ParamStore::memory() const {
  if (memory_ == nullptr) {
    throw_invalid_argument("The store of params is empty: make it with a device.");
  }
  return *memory_;
}

Tensor ParamStore::declare(std::string_view name, const Shape& shape, DType dtype) const {
  Memory& memory = this->memory();
  const std::lock_guard lock(memory.mutex);
  if (const Memory::Entry* known = memory.find(name)) {
    const TensorSpec& spec = known->tensor.spec();
    if (spec.shape != shape || spec.dtype != dtype) {
      throw_error(spec.shape == shape ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
                  "The param '", known->name, "' is ", to_string(spec),
                  ", but was declared again as (", to_string(TensorSpec(shape, dtype)), ").");
    }
    return known->tensor;
  }
  memory.entries.push_back(
      {std::string(name), memory.device.empty(shape, dtype, std::string(name))});
  memory.unset.fetch_add(1, std::memory_order_relaxed);
  return memory.entries.back().tensor;
}

void ParamStore::adopt(std::string_view name, const Tensor& tensor) const {
  const TensorRef ref(tensor);
  if (!ref || ref->buffer == nullptr) {
    throw_invalid_argument("The param '", name, "' is to be a persistent tensor, but is ",
                           (ref ? "a session's transient." : "empty."));
  }
  Memory& memory = this->memory();
  const std::lock_guard lock(memory.mutex);
  if (memory.find(name) != nullptr) {
    throw_invalid_argument("There is a param '", name, "' already.");
  }
  memory.entries.push_back({std::string(name), tensor, true});
}

void ParamStore::set(std::string_view name, std::span<const float> values) const {
  set(name, std::as_bytes(values), DType::f32);
}

void ParamStore::set(std::string_view name, std::span<const std::byte> bytes, DType dtype) const {
  Memory& memory = this->memory();
  const std::lock_guard lock(memory.mutex);
  Memory::Entry& entry = memory.require(name);
  const TensorRef tensor(entry.tensor);
  const std::string is = "The param '" + entry.name + "' is " + to_string(tensor.spec());
  if (tensor.dtype() != dtype) {
    throw_error(ErrorCode::dtype_mismatch, is, ", but was set to (", name_of(dtype), ") values.");
  }
  if (bytes.size() != tensor.spec().bytes()) {
    throw_error(ErrorCode::size_mismatch, is, " (", tensor.spec().bytes(),
                " bytes), but was set to (", bytes.size(), ") bytes.");
  }
  memory.device.write(tensor->buffer, tensor->offset, bytes);
  if (!entry.set) {
    entry.set = true;
    memory.unset.fetch_sub(1, std::memory_order_release);
  }
}

Tensor ParamStore::find(std::string_view name) const {
  Memory& memory = this->memory();
  const std::lock_guard lock(memory.mutex);
  return memory.require(name).tensor;
}

std::vector<ParamStore::Param> ParamStore::params() const {
  Memory& memory = this->memory();
  const std::lock_guard lock(memory.mutex);
  std::vector<Param> list;
  for (const Memory::Entry& entry : memory.entries) {
    list.push_back({entry.name, entry.tensor.spec(), entry.set});
  }
  return list;
}

std::uint64_t ParamStore::bytes() const {
  Memory& memory = this->memory();
  const std::lock_guard lock(memory.mutex);
  std::uint64_t sum = 0;
  for (const Memory::Entry& entry : memory.entries) {
    sum += entry.tensor.spec().bytes();
  }
  return sum;
}

std::size_t ParamStore::unset() const { return memory().unset.load(std::memory_order_acquire); }

}  // namespace reprise
