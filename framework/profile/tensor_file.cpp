#include "framework/profile/tensor_file.h"

#include <bit>

#include <nlohmann/json.hpp>

#include "framework/core/new_file.h"
#include "reprise/core/error.h"
#include "reprise/formats/safetensors.h"

namespace reprise::profile {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Null: the format has no name for it.
const char* dtype_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "F32";
    case DType::f16:
      return "F16";
    case DType::bf16:
      return "BF16";
    case DType::i32:
      return "I32";
    case DType::i64:
      return "I64";
    default:
      return nullptr;
  }
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw_error(ErrorCode::io, "The tensor file (", path.string(), ") ", what);
}

SafetensorsFile opened(const std::filesystem::path& path) try {
  return SafetensorsFile::open(path);
} catch (const Error& error) {
  fail(path, std::string("cannot be read: ") + error.what());
}

}  // namespace

void write_tensor_file(const std::filesystem::path& path, std::string_view name,
                       const TensorSpec& spec, std::span<const std::byte> bytes) {
  const char* dtype = dtype_of(spec.dtype);
  nlohmann::json shape = nlohmann::json::array();
  for (std::size_t d = 0; d < spec.shape.rank() && dtype != nullptr; ++d) {
    shape.push_back(spec.shape.dim(d));
  }
  if (dtype == nullptr) {
    shape.push_back(bytes.size());
  }
  const nlohmann::json header{{name,
                               {{"dtype", dtype == nullptr ? "U8" : dtype},
                                {"shape", shape},
                                {"data_offsets", {0, bytes.size()}}}}};
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the bytes are aligned
  const std::uint64_t length = text.size();
  NewFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(text)));
  file.write(bytes);
  file.publish();
}

std::vector<std::byte> read_tensor_file(const std::filesystem::path& path) {
  const SafetensorsFile file = opened(path);
  if (file.tensors().size() != 1) {
    fail(path, "has (" + std::to_string(file.tensors().size()) + ") tensors, but must have one.");
  }
  const auto bytes = file.tensors().front().data;
  return {bytes.begin(), bytes.end()};
}

}  // namespace reprise::profile
