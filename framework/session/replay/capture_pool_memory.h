// CapturePool::Memory: what a pool keeps, and how recordings take from it.
#pragma once
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "reprise/session/capture_pool.h"

namespace reprise {

/// Thread-safe. Throws invalid_argument, and changes nothing, where a sealed pool would grow.
class CapturePool::Memory {
 public:
  explicit Memory(Device device) : device_(std::move(device)) {}

  /// For a new graph: keeps its persistent buffers (null ones are skipped) and returns an arena of
  /// at least `arena_bytes`, null for 0. Throws invalid_argument for a graph of another device.
  std::shared_ptr<Buffer> admit(const Device& device, std::string_view graph,
                                std::uint64_t arena_bytes,
                                std::span<const std::shared_ptr<Buffer>> persistent);
  /// A graph uses `to` where it used `from`, which goes unless another graph captured it.
  void replace(std::string_view graph, const Buffer& from, const std::shared_ptr<Buffer>& to);

  std::size_t buffer_count();
  std::uint64_t bytes();
  void seal(bool sealed);
  bool sealed();

 private:
  struct Entry {
    std::shared_ptr<Buffer> buffer;
    bool arena = false;
    std::size_t captured = 0;  // how many graphs did
  };
  Entry* find(const Buffer& buffer);
  Entry* smallest_arena(std::uint64_t bytes);
  void keep(const std::shared_ptr<Buffer>& buffer);
  void require_unsealed(std::string_view graph, const std::string& wants) const;
  /// Also drops what is freed.
  void require_room_for(std::string_view graph, std::uint64_t arena_bytes,
                        std::span<const std::shared_ptr<Buffer>> persistent);
  void drop_freed();

  const Device device_;
  std::mutex mutex_;  // guards what follows
  std::vector<Entry> entries_;
  bool sealed_ = false;
};

}  // namespace reprise
