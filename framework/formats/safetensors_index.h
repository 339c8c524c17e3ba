// The index of a sharded safetensors model: which file holds which tensor.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace reprise {

struct SafetensorsIndex {
  struct Row {
    std::string tensor;
    std::size_t shard;  // in shards
  };
  std::vector<std::string> shards;  // plain file names, in the order they are named first
  std::vector<Row> rows;            // names unique
};

/// Errors: invalid_argument, also for a shard outside the folder of the index.
SafetensorsIndex read_safetensors_index(std::span<const std::byte> bytes, const std::string& path);

}  // namespace reprise
