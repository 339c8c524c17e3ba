// A tensor as a file of its own, in the safetensors format
// (https://huggingface.co/docs/safetensors): 8 bytes of header length, a JSON header, the bytes.
#pragma once
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "reprise/core/tensor.h"

namespace reprise::profile {

/// Contiguous values; block formats are stored as bytes. The file is there as a whole or not at
/// all. Throws io.
void write_tensor_file(const std::filesystem::path& path, std::string_view name,
                       const TensorSpec& spec, std::span<const std::byte> bytes);
/// The bytes of the only tensor of a file that write_tensor_file() made. Throws io.
std::vector<std::byte> read_tensor_file(const std::filesystem::path& path);

}  // namespace reprise::profile
