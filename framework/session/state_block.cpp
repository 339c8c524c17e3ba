#include "reprise/session/state_block.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "framework/session/state_bound.h"
#include "framework/session/value_text.h"
#include "reprise/core/known_names.h"
#include "reprise/core/recorder.h"
#include "reprise/core/step.h"

namespace reprise {
namespace {

constexpr std::int64_t kTableColumns = 12;  // see ops/plan.h

/// A row per derived field, and one that changes nothing per carried field whose range is checked.
std::vector<std::int32_t> table_of(const StateLayout& layout) {
  std::vector<std::int32_t> rows;
  const std::vector<StateFieldInfo> fields = layout.fields();
  const auto add = [&](std::uint32_t target, const StateExpression& e) {
    const StateRange& range = fields[target].range;
    const std::int32_t row[kTableColumns] = {static_cast<std::int32_t>(target),
                                             e.x,
                                             e.y,
                                             e.a,
                                             e.b,
                                             e.c,
                                             e.div,
                                             e.lo,
                                             e.hi,
                                             range.low,
                                             range.high,
                                             0};
    rows.insert(rows.end(), std::begin(row), std::end(row));
  };
  for (const auto& [target, expression] : layout.derivations()) {
    add(target, expression);
  }
  for (const StateFieldInfo& info : fields) {
    if (info.owner == StateOwner::carried && info.range.limits()) {
      add(info.word, {.x = static_cast<std::int32_t>(info.word), .a = 1});
    }
  }
  return rows;
}

void require_dtype(const StateFieldInfo& info, DType dtype) {
  if (info.dtype != dtype) {
    throw Error(ErrorCode::dtype_mismatch,
                "The state field '" + info.name + "' is " + std::string(name_of(info.dtype)) +
                    ", but was used as (" + std::string(name_of(dtype)) + ").");
  }
}

/// "with values from 0 to 31"
std::string values_text(const StateFieldInfo& info) {
  return info.dtype == DType::f32 ? "with finite values"
                                  : "with values from " + to_string(info.range);
}

Tensor state_tensor(const Device& device, const Shape& shape, std::span<const std::int32_t> words,
                    const char* name) {
  auto buffer =
      device.backend().allocate(name, words.size_bytes(), BufferKind::device, MemoryPurpose::state);
  device.write(buffer, 0, std::as_bytes(words));
  return Tensor::over(std::move(buffer), TensorSpec(shape, DType::i32), 0, name);
}

void require_room(const Device& device, const StateLayout& layout) {
  const std::uint64_t bytes = std::uint64_t{layout.words()} * StateLayout::kWordBytes;
  if (bytes > device.capabilities().state_bytes) {
    throw Error(ErrorCode::unsupported,
                "The state has (" + std::to_string(bytes) +
                    ") bytes of fields, but kernels of this device read at most " +
                    std::to_string(device.capabilities().state_bytes) + " bytes of state.");
  }
}

}  // namespace

StateBlock::Memory::Memory(const Device& device, StateLayout with)
    : layout(std::move(with)), host(layout.host_count()), patches(StateLayout::kMaxCarried) {
  require_room(device, layout);
  std::vector<std::int32_t> words(StateLayout::kMaxWords);
  for (const StateFieldInfo& info : layout.fields()) {
    words[info.word] = std::bit_cast<std::int32_t>(info.initial);
    if (info.owner == StateOwner::host) {
      host[info.word] = info.initial;
    }
  }
  returned.assign(words.begin(), words.begin() + layout.words());
  allocate_arrays(device);
  block = state_tensor(device, {StateLayout::kMaxWords}, words, "state");
  const std::vector<std::int32_t> no_patches(StateLayout::kMaxCarried + 1);
  patch = state_tensor(device, {StateLayout::kMaxCarried + 1}, no_patches, "state patch");
  bound = std::make_unique<StateBound>(layout);
  std::vector<std::int32_t> rows = table_of(layout);
  row_count = static_cast<std::int32_t>(rows.size()) / static_cast<std::int32_t>(kTableColumns);
  rows.resize(std::max<std::size_t>(rows.size(), kTableColumns));  // a buffer is never empty
  table =
      state_tensor(device, {static_cast<std::int64_t>(rows.size()) / kTableColumns, kTableColumns},
                   rows, "state expressions");
}

void StateBlock::Memory::allocate_arrays(const Device& device) {
  std::vector<std::uint32_t> content;
  for (const StateFieldInfo& info : layout.arrays()) {
    constexpr std::size_t kAlignment = kStorageAlignment / StateLayout::kWordBytes;
    content.resize((content.size() + kAlignment - 1) / kAlignment * kAlignment);
    const std::uint64_t offset = content.size() * StateLayout::kWordBytes;
    arrays.push_back({info, {}, offset, std::vector(info.count, info.initial)});
    content.insert(content.end(), info.count, info.initial);
    returned.insert(returned.end(), info.count, info.initial);
  }
  if (content.empty()) {
    return;
  }
  const auto bytes = std::as_bytes(std::span(content));
  array_buffer = device.backend().allocate("state arrays", bytes.size(), BufferKind::device,
                                           MemoryPurpose::state);
  device.write(array_buffer, 0, bytes);
  for (StateArray& array : arrays) {
    array.tensor = Tensor::over(array_buffer, TensorSpec({array.info.count}, array.info.dtype),
                                array.offset, array.info.name);
  }
}

StateBlock::StateBlock(const Device& device, StateLayout layout)
    : memory_(std::make_shared<Memory>(device, std::move(layout))) {}

std::vector<std::shared_ptr<Buffer>> StateBlock::buffers() const {
  if (memory_ == nullptr) {
    return {};
  }
  std::vector<std::shared_ptr<Buffer>> all{TensorRef(memory_->block)->buffer,
                                           TensorRef(memory_->patch)->buffer,
                                           TensorRef(memory_->table)->buffer};
  if (memory_->array_buffer != nullptr) {
    all.push_back(memory_->array_buffer);
  }
  return all;
}

const StateLayout& StateBlock::layout() const { return memory_->layout; }

StateField StateBlock::field(Recorder& session, std::string_view field) const {
  const Tensor block = session.state_block();
  if (memory_ == nullptr || TensorRef(block)->buffer != TensorRef(memory_->block)->buffer) {
    throw_invalid_argument(
        "The state field '" + std::string(field) +
        "' lies in another state block than that of the session; begin the session with it.");
  }
  return session.state(field);
}

const StateFieldInfo& StateBlock::info_of(std::string_view field) const {
  const StateFieldInfo* info = memory_ == nullptr ? nullptr : memory_->layout.find(field);
  if (info == nullptr) {
    throw_unknown_name("The state block", "field", field,
                       memory_ == nullptr ? "none" : memory_->layout.names());
  }
  return *info;
}

const StateFieldInfo& StateBlock::info_of(std::string_view field, DType dtype) const {
  const StateFieldInfo& info = info_of(field);
  require_dtype(info, dtype);
  return info;
}

StateArray& StateBlock::array_of(std::string_view array) const {
  if (memory_ != nullptr) {
    const auto it = std::ranges::find(
        memory_->arrays, array, [](const StateArray& a) { return std::string_view(a.info.name); });
    if (it != memory_->arrays.end()) {
      return *it;
    }
  }
  throw_unknown_name("The state block", "array", array,
                     memory_ == nullptr ? "none" : memory_->layout.array_names());
}

void StateValue::set_real(double value) {
  dtype_ = DType::f32;
  const double largest = std::numeric_limits<float>::max();
  if (std::isfinite(value) && std::abs(value) > largest) {
    misfit_ = decimal(value);
    return;
  }
  bits_ = std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

std::string StateValue::text() const {
  return !misfit_.empty()       ? misfit_
         : dtype_ == DType::f32 ? decimal(std::bit_cast<float>(bits_))
                                : std::to_string(std::bit_cast<std::int32_t>(bits_));
}

void StateBlock::require(const StateValue& value) const {
  if (!value.array_) {
    const StateFieldInfo& info = info_of(value.name_);
    const bool same = info.dtype == value.dtype_;
    if (!same || !value.misfit_.empty()) {
      throw Error(same ? ErrorCode::invalid_argument : ErrorCode::dtype_mismatch,
                  "The state field '" + info.name + "' is " + std::string(name_of(info.dtype)) +
                      " " + values_text(info) + ", but was set to " +
                      (same ? "" : "the " + std::string(name_of(value.dtype_)) + " value ") + "(" +
                      value.text() + ").");
    }
    if (info.owner == StateOwner::derived) {
      throw_invalid_argument("The state field '" + info.name + "' is derived (" + info.expression +
                             ") and cannot be set.");
    }
    require_value(info, value.bits_);
    return;
  }
  const StateFieldInfo& info = array_of(value.name_).info;
  require_dtype(info, value.dtype_);
  const std::size_t count = value.elements_.size() / StateLayout::kWordBytes;
  if (count != info.count) {
    throw Error(ErrorCode::size_mismatch,
                "The state array '" + info.name + "' has " + std::to_string(info.count) +
                    " elements, but was set to (" + std::to_string(count) + ").");
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, value.elements_.data() + i * StateLayout::kWordBytes,
                StateLayout::kWordBytes);
    require_value(info, bits);
  }
}

void StateBlock::assign(const StateValue& value) const {
  if (value.array_) {
    StateArray& array = array_of(value.name_);
    std::memcpy(array.values.data(), value.elements_.data(), value.elements_.size());
    array.pending = array.info.owner == StateOwner::carried;
    return;
  }
  const StateFieldInfo& info = info_of(value.name_);
  if (info.owner == StateOwner::host) {
    memory_->host[info.word] = value.bits_;
  } else {
    const std::uint32_t index = info.word - memory_->layout.host_count();
    memory_->patch_mask |= 1U << index;
    memory_->patches[index] = value.bits_;
  }
}

void StateBlock::set(std::initializer_list<StateValue> values) const {
  for (const StateValue& value : values) {
    require(value);
  }
  if (memory_ != nullptr) {
    const std::lock_guard lock(memory_->mutex);
    for (const StateValue& value : values) {
      assign(value);
    }
  }
}

template <StateElement T>
T StateBlock::get(std::string_view field) const {
  const StateFieldInfo& info = info_of(field, kDTypeOf<T>);
  const std::lock_guard lock(memory_->mutex);
  return std::bit_cast<T>(memory_->returned[info.word]);
}

template <StateElement T>
std::vector<T> StateBlock::values(std::string_view array) const {
  const StateFieldInfo& info = array_of(array).info;
  require_dtype(info, kDTypeOf<T>);
  std::vector<T> values(info.count);
  const std::lock_guard lock(memory_->mutex);
  std::memcpy(values.data(), memory_->returned.data() + info.word,
              info.count * StateLayout::kWordBytes);
  return values;
}

template std::int32_t StateBlock::get(std::string_view) const;
template float StateBlock::get(std::string_view) const;
template std::vector<std::int32_t> StateBlock::values(std::string_view) const;
template std::vector<float> StateBlock::values(std::string_view) const;

}  // namespace reprise
