#include "framework/session/state/state_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "framework/core/known_names.h"
#include "reprise/backend/backend.h"
#include "reprise/backend/step.h"

namespace reprise {

void require_dtype(const StateFieldInfo& info, DType dtype) {
  if (info.dtype != dtype) {
    throw_error(ErrorCode::dtype_mismatch, "The state field '", info.name, "' is ",
                name_of(info.dtype), ", but was used as (", name_of(dtype), ").");
  }
}

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
    throw_error(ErrorCode::unsupported, "The state has (", bytes,
                ") bytes of fields, but kernels of this device read at most ",
                device.capabilities().state_bytes, " bytes of state.");
  }
}

const StateFieldInfo& field_of(const StateLayout& layout, std::string_view field) {
  const StateFieldInfo* info = layout.find(field);
  if (info == nullptr) {
    throw_unknown_name("The state block", "field", field, layout.names());
  }
  return *info;
}

}  // namespace

StateValues::StateValues(const StateLayout& layout)
    : host(layout.host_count()), patches(StateLayout::kMaxCarried), bound(layout) {}

StateMemory::StateMemory(const Device& device, StateLayout with)
    : StateValues(with), layout(std::move(with)), device_(device) {
  require_room(device, layout);
  std::vector<std::int32_t> words(StateLayout::kMaxWords);
  for (const StateFieldInfo& info : layout.fields()) {
    words[info.word] = std::bit_cast<std::int32_t>(info.initial);
    if (info.owner == StateOwner::host) {
      host[info.word] = info.initial;
    }
  }
  returned.assign(words.begin(), words.begin() + layout.words());
  allocate_arrays();
  block = state_tensor(device, {StateLayout::kMaxWords}, words, "state");
  const std::vector<std::int32_t> no_patches(StateLayout::kMaxCarried + 1);
  patch = state_tensor(device, {StateLayout::kMaxCarried + 1}, no_patches, "state patch");
  std::vector<std::int32_t> rows = table_of(layout);
  row_count = static_cast<std::int32_t>(rows.size()) / static_cast<std::int32_t>(kTableColumns);
  rows.resize(std::max<std::size_t>(rows.size(), kTableColumns));  // a buffer is never empty
  table =
      state_tensor(device, {static_cast<std::int64_t>(rows.size()) / kTableColumns, kTableColumns},
                   rows, "state expressions");
}

void StateMemory::allocate_arrays() {
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
  array_buffer = device_.backend().allocate("state arrays", bytes.size(), BufferKind::device,
                                            MemoryPurpose::state);
  device_.write(array_buffer, 0, bytes);
  for (StateArray& array : arrays) {
    array.tensor = Tensor::over(array_buffer, TensorSpec({array.info.count}, array.info.dtype),
                                array.offset, array.info.name);
  }
}

std::vector<std::shared_ptr<Buffer>> StateMemory::buffers() const {
  std::vector<std::shared_ptr<Buffer>> all{TensorRef(block)->buffer, TensorRef(patch)->buffer,
                                           TensorRef(table)->buffer};
  if (array_buffer != nullptr) {
    all.push_back(array_buffer);
  }
  return all;
}

const StateFieldInfo& StateMemory::info_of(std::string_view field, DType dtype) const {
  const StateFieldInfo& info = field_of(layout, field);
  require_dtype(info, dtype);
  return info;
}

const StateArray& StateMemory::array_of(std::string_view array) const {
  const auto it = std::ranges::find(
      arrays, array, [](const StateArray& a) { return std::string_view(a.info.name); });
  if (it == arrays.end()) {
    throw_unknown_name("The state block", "array", array, layout.array_names());
  }
  return *it;
}

void StateMemory::require(const StateValue& value) const {
  if (!value.is_array) {
    const StateFieldInfo& info = field_of(layout, value.name);
    const bool same = info.dtype == value.dtype;
    if (!same || !value.misfit.empty()) {
      throw_error(same ? ErrorCode::invalid_argument : ErrorCode::dtype_mismatch,
                  "The state field '", info.name, "' is ", name_of(info.dtype), " ",
                  values_text(info), ", but was set to ",
                  (same ? "" : "the " + std::string(name_of(value.dtype)) + " value "), "(",
                  value.text(), ").");
    }
    if (info.owner == StateOwner::derived) {
      throw_invalid_argument("The state field '", info.name, "' is derived (", info.expression,
                             ") and cannot be set.");
    }
    require_value(info, value.bits);
    return;
  }
  const StateFieldInfo& info = array_of(value.name).info;
  require_dtype(info, value.dtype);
  const std::size_t count = value.elements.size() / StateLayout::kWordBytes;
  if (count != info.count) {
    throw_error(ErrorCode::size_mismatch, "The state array '", info.name, "' has ", info.count,
                " elements, but was set to (", count, ").");
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, value.elements.data() + i * StateLayout::kWordBytes,
                StateLayout::kWordBytes);
    require_value(info, bits);
  }
}

void StateMemory::assign(const StateValue& value) {
  if (value.is_array) {
    StateArray& array = arrays[static_cast<std::size_t>(&array_of(value.name) - arrays.data())];
    std::memcpy(array.values.data(), value.elements.data(), value.elements.size());
    array.pending = array.info.owner == StateOwner::carried;
    return;
  }
  const StateFieldInfo& info = field_of(layout, value.name);
  if (info.owner == StateOwner::host) {
    host[info.word] = value.bits;
  } else {
    const std::uint32_t index = info.word - layout.host_count();
    patch_mask |= 1U << index;
    patches[index] = value.bits;
  }
}

void StateMemory::set(std::span<const StateValue> values) {
  for (const StateValue& value : values) {
    require(value);
  }
  const std::lock_guard lock(mutex);
  for (const StateValue& value : values) {
    assign(value);
  }
}

void StateMemory::read(const StateFieldInfo& info, std::span<std::byte> bytes) const {
  const std::lock_guard lock(mutex);
  std::memcpy(bytes.data(), returned.data() + info.word, bytes.size());
}

std::unique_lock<std::mutex> StateMemory::lock_to_send(std::span<const ExtentLimit> limits) {
  std::unique_lock lock(mutex);
  while (const auto violation = bound.check({host, patch_mask, patches})) {
    if (violation->wait_for == 0) {
      const StateFieldInfo info = layout.fields()[violation->word];
      throw_invalid_argument("The state field '", info.name, "' would be (", violation->low,
                             ") in the next replay, but its range is ", to_string(info.range), ".");
    }
    lock.unlock();
    settle(violation->wait_for);
    lock.lock();
  }
  require_limits(limits, layout, host);
  return lock;
}

void StateMemory::settle(std::uint64_t submission) {
  device_.backend().wait(submission);
  std::vector<std::uint32_t> words(layout.words());
  const TensorRef from(block);
  device_.read(from->buffer, from->offset, std::as_writable_bytes(std::span(words)));
  const std::lock_guard lock(mutex);
  bound.read(submission, words);
}

void StateMemory::receive(std::uint64_t submission, std::span<const std::uint32_t> words) {
  const std::lock_guard lock(mutex);
  bound.returned(submission, words);
  if (submission > returned_by) {
    returned_by = submission;
    std::ranges::copy(words, returned.begin());
  }
}

}  // namespace reprise
