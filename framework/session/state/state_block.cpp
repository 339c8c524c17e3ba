#include "reprise/session/state_block.h"

#include <bit>
#include <cmath>
#include <limits>

#include "framework/core/known_names.h"
#include "framework/session/device/value_text.h"
#include "framework/session/state/state_memory.h"
#include "reprise/core/recorder.h"

namespace reprise {

void StateValue::set_real(double value) {
  dtype = DType::f32;
  const double largest = std::numeric_limits<float>::max();
  if (std::isfinite(value) && std::abs(value) > largest) {
    misfit = decimal(value);
    return;
  }
  bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

std::string StateValue::text() const {
  return !misfit.empty()       ? misfit
         : dtype == DType::f32 ? decimal(std::bit_cast<float>(bits))
                               : std::to_string(std::bit_cast<std::int32_t>(bits));
}

StateBlock::StateBlock(const Device& device, StateLayout layout)
    : memory_(std::make_shared<StateMemory>(device, std::move(layout))) {}

std::vector<std::shared_ptr<Buffer>> StateBlock::buffers() const {
  return memory_ == nullptr ? std::vector<std::shared_ptr<Buffer>>() : memory_->buffers();
}

const StateLayout& StateBlock::layout() const {
  if (memory_ == nullptr) {
    throw_invalid_argument("The state block is empty: make it with a device and a layout.");
  }
  return memory_->layout;
}

StateField StateBlock::field(Recorder& session, std::string_view field) const {
  const Tensor block = session.state_block();
  if (memory_ == nullptr || TensorRef(block)->buffer != TensorRef(memory_->block)->buffer) {
    throw_invalid_argument(
        "The state field '", field,
        "' lies in another state block than that of the session; begin the session with it.");
  }
  return session.state(field);
}

StateMemory& StateBlock::require(std::string_view kind, std::string_view name) const {
  if (memory_ == nullptr) {
    throw_unknown_name("The state block", kind, name, "none");
  }
  return *memory_;
}

void StateBlock::set(std::initializer_list<StateValue> values) const {
  if (values.size() != 0) {
    require(values.begin()->is_array ? "array" : "field", values.begin()->name).set(values);
  }
}

template <StateElement T>
T StateBlock::get(std::string_view field) const {
  const StateMemory& from = require("field", field);
  T value{};
  from.read(from.info_of(field, kDTypeOf<T>), std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

template <StateElement T>
std::vector<T> StateBlock::values(std::string_view array) const {
  const StateMemory& from = require("array", array);
  const StateFieldInfo& info = from.array_of(array).info;
  require_dtype(info, kDTypeOf<T>);
  std::vector<T> values(info.count);
  from.read(info, std::as_writable_bytes(std::span(values)));
  return values;
}

template std::int32_t StateBlock::get(std::string_view) const;
template float StateBlock::get(std::string_view) const;
template std::vector<std::int32_t> StateBlock::values(std::string_view) const;
template std::vector<float> StateBlock::values(std::string_view) const;

}  // namespace reprise
