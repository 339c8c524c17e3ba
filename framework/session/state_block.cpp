#include "reprise/session/state_block.h"

#include <bit>

namespace reprise {
namespace {

constexpr std::int64_t kTableColumns = 12;  // see ops/plan.h

std::vector<std::int32_t> table_of(const StateLayout& layout) {
  std::vector<std::int32_t> rows;
  for (const auto& [target, e] : layout.derivations()) {
    const std::int32_t row[kTableColumns] = {
        static_cast<std::int32_t>(target), e.x, e.y, e.a, e.b, e.c, e.div, e.lo, e.hi, 0, 0, 0};
    rows.insert(rows.end(), std::begin(row), std::end(row));
  }
  return rows;
}

}  // namespace

StateBlock::Memory::Memory(const Device& device, StateLayout with)
    : layout(std::move(with)), host(layout.host_count()), patches(StateLayout::kMaxCarried) {
  std::vector<std::int32_t> words(StateLayout::kMaxWords);
  for (const StateFieldInfo& info : layout.fields()) {
    words[info.word] = std::bit_cast<std::int32_t>(info.initial);
    if (info.owner == StateOwner::host) {
      host[info.word] = info.initial;
    }
  }
  returned.assign(words.begin(), words.begin() + layout.words());
  block = device.from_host({StateLayout::kMaxWords}, words, "state");
  patch = device.zeros({StateLayout::kMaxCarried + 1}, DType::i32, "state patch");
  std::vector<std::int32_t> rows = table_of(layout);
  rows.resize(std::max<std::size_t>(rows.size(), kTableColumns));  // a buffer is never empty
  table = device.from_host({static_cast<std::int64_t>(rows.size()) / kTableColumns, kTableColumns},
                           rows, "state expressions");
}

StateBlock::StateBlock(const Device& device, StateLayout layout)
    : memory_(std::make_shared<Memory>(device, std::move(layout))) {}

const StateLayout& StateBlock::layout() const { return memory_->layout; }

const StateFieldInfo& StateBlock::info_of(std::string_view field, DType dtype) const {
  const StateFieldInfo* info = memory_ == nullptr ? nullptr : memory_->layout.find(field);
  if (info == nullptr) {
    invalid("The state block has no field (" + std::string(field) +
            "); its fields are: " + (memory_ == nullptr ? "none" : memory_->layout.names()) + ".");
  }
  if (info->dtype != dtype) {
    invalid("The state field '" + info->name + "' is " + std::string(name_of(info->dtype)) +
            ", but was used as (" + std::string(name_of(dtype)) + ").");
  }
  return *info;
}

void StateBlock::set_bits(const StateFieldInfo& info, std::uint32_t bits) const {
  if (info.owner == StateOwner::derived) {
    invalid("The state field '" + info.name + "' is derived (" + info.expression +
            ") and cannot be set.");
  }
  const std::lock_guard lock(memory_->mutex);
  if (info.owner == StateOwner::host) {
    memory_->host[info.word] = bits;
  } else {
    const std::uint32_t index = info.word - memory_->layout.host_count();
    memory_->patch_mask |= 1U << index;
    memory_->patches[index] = bits;
  }
}

void StateBlock::set(std::string_view field, std::int32_t value) const {
  set_bits(info_of(field, DType::i32), std::bit_cast<std::uint32_t>(value));
}

void StateBlock::set(std::string_view field, float value) const {
  set_bits(info_of(field, DType::f32), std::bit_cast<std::uint32_t>(value));
}

std::int32_t StateBlock::get(std::string_view field) const {
  const StateFieldInfo& info = info_of(field, DType::i32);
  const std::lock_guard lock(memory_->mutex);
  return std::bit_cast<std::int32_t>(memory_->returned[info.word]);
}

}  // namespace reprise
