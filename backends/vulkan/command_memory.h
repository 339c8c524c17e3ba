// Host memory for the commands of one pool. Drivers that keep commands as lists of small objects
// take several of them per op, and free each when the pool is reset; here they come from blocks, in
// order, and a block is free again when everything in it is.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <vulkan/vulkan.h>

namespace reprise::vulkan {

/// Not thread-safe, as command pools are not. Must outlive the pool.
class CommandMemory {
 public:
  CommandMemory();
  CommandMemory(const CommandMemory&) = delete;
  CommandMemory& operator=(const CommandMemory&) = delete;

  const VkAllocationCallbacks* callbacks() const { return &callbacks_; }
  /// What the blocks hold, used or not.
  std::size_t bytes() const;

 private:
  struct Block {
    explicit Block(std::size_t bytes);
    std::unique_ptr<std::byte[]> memory;
    std::size_t size, used = 0, live = 0;
  };
  struct Header {  // before each allocation
    Block* block;
    std::size_t bytes;
  };
  void* allocate(std::size_t bytes, std::size_t alignment);
  void* reallocate(void* memory, std::size_t bytes, std::size_t alignment);
  void release(void* memory);
  static void* take(Block& block, std::size_t bytes, std::size_t alignment);
  Block* find_block(std::size_t need);

  VkAllocationCallbacks callbacks_{};
  std::vector<std::unique_ptr<Block>> blocks_;
  Block* current_ = nullptr;
  std::size_t live_ = 0;  // pieces in all blocks
};

}  // namespace reprise::vulkan
