// A safetensors file of any bytes opens, with every view inside it, or is an Error; and so does an
// index of any bytes: its shards lie in no folder that exists.
#include <cstddef>
#include <cstdint>

#include "framework/formats/safetensors_index.h"
#include "reprise/core/error.h"
#include "reprise/formats/safetensors.h"
#include "tests/fuzz/require.h"

namespace {

using reprise::fuzz::require;

void read_file(std::span<const std::byte> bytes) {
  const auto file = reprise::SafetensorsFile::over(bytes, "fuzz");
  std::uint64_t total = 0;
  for (const reprise::SafetensorsTensor& tensor : file.tensors()) {
    require(file.find(tensor.name) == &tensor, "a tensor is found by its name");
    total += tensor.data.size();
    reprise::fuzz::require_readable(tensor.data);
    const auto dtype = tensor.dtype();
    if (dtype && tensor.dims.size() <= reprise::Shape::kMaxRank) {
      const auto elements = static_cast<std::uint64_t>(tensor.require_shape().elements());
      require(tensor.data.size() == bytes_of(*dtype, elements), "a tensor has its bytes");
    }
  }
  require(total <= bytes.size(), "no byte belongs to two tensors");
}

void read_index(std::span<const std::byte> bytes) {
  const auto index = reprise::read_safetensors_index(bytes, "fuzz");
  for (const auto& row : index.rows) {
    const std::string& shard = index.shards.at(row.shard);
    require(shard.find('/') == std::string::npos && shard != "..", "a shard stays in the folder");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const auto read : {read_file, read_index}) {
    try {
      read(bytes);
    } catch (const reprise::Error&) {
    }
  }
  return 0;
}
