#include "backends/vulkan/command_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace reprise::vulkan {
namespace {

constexpr std::size_t kFirstBlock = std::size_t{4} << 10U;
constexpr std::size_t kLargestBlock = std::size_t{256} << 10U;

}  // namespace

// Not make_unique: zeroing the block would touch all of it.
CommandMemory::Block::Block(std::size_t bytes) : memory(new std::byte[bytes]), size(bytes) {}

CommandMemory::CommandMemory() {
  // A driver is C: no exception may pass through it, null means out of memory.
  callbacks_.pUserData = this;
  callbacks_.pfnAllocation = [](void* self, std::size_t bytes, std::size_t alignment,
                                VkSystemAllocationScope /*scope*/) -> void* {
    return static_cast<CommandMemory*>(self)->allocate(bytes, alignment);
  };
  callbacks_.pfnReallocation = [](void* self, void* memory, std::size_t bytes,
                                  std::size_t alignment,
                                  VkSystemAllocationScope /*scope*/) -> void* {
    return static_cast<CommandMemory*>(self)->reallocate(memory, bytes, alignment);
  };
  callbacks_.pfnFree = [](void* self, void* memory) {
    static_cast<CommandMemory*>(self)->release(memory);
  };
}

std::size_t CommandMemory::bytes() const {
  std::size_t sum = 0;
  for (const auto& block : blocks_) {
    sum += block->size;
  }
  return sum;
}

void* CommandMemory::take(Block& block, std::size_t bytes, std::size_t alignment) {
  const auto base = reinterpret_cast<std::uintptr_t>(block.memory.get());
  const std::size_t first = base + block.used + sizeof(Header);
  const std::size_t begin = (first + alignment - 1) / alignment * alignment - base;
  if (begin + bytes > block.size) {
    return nullptr;
  }
  std::byte* memory = block.memory.get() + begin;
  new (memory - sizeof(Header)) Header{&block, bytes};
  block.used = (begin + bytes + alignof(Header) - 1) / alignof(Header) * alignof(Header);
  ++block.live;
  return memory;
}

CommandMemory::Block* CommandMemory::find_block(std::size_t need) {
  for (const auto& block : blocks_) {
    if (block->live == 0 && block->size >= need) {
      return block.get();
    }
  }
  const std::size_t next =
      blocks_.empty() ? kFirstBlock : std::min(blocks_.back()->size * 2, kLargestBlock);
  try {
    blocks_.push_back(std::make_unique<Block>(std::max(need, next)));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return blocks_.back().get();
}

void* CommandMemory::allocate(std::size_t bytes, std::size_t alignment) {
  alignment = std::max(alignment, alignof(Header));
  void* memory = current_ == nullptr ? nullptr : take(*current_, bytes, alignment);
  if (memory == nullptr) {
    current_ = find_block(bytes + alignment + sizeof(Header));
    memory = current_ == nullptr ? nullptr : take(*current_, bytes, alignment);
  }
  live_ += memory == nullptr ? 0 : 1;
  return memory;
}

void* CommandMemory::reallocate(void* memory, std::size_t bytes, std::size_t alignment) {
  if (memory == nullptr) {
    return allocate(bytes, alignment);
  }
  if (bytes == 0) {
    release(memory);
    return nullptr;
  }
  void* moved = allocate(bytes, alignment);
  if (moved != nullptr) {
    const Header* header = static_cast<Header*>(memory) - 1;
    std::memcpy(moved, memory, std::min(bytes, header->bytes));
    release(memory);
  }
  return moved;
}

void CommandMemory::release(void* memory) {
  if (memory == nullptr) {
    return;
  }
  Block& block = *(static_cast<Header*>(memory) - 1)->block;
  if (--block.live == 0) {
    block.used = 0;
  }
  if (--live_ == 0) {
    current_ = nullptr;  // what comes next fits as it did the first time
  }
}

}  // namespace reprise::vulkan
