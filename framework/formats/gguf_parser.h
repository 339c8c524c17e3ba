// Turns the bytes of a GGUF file into views of its entries, or says what is wrong with them.
// Memory used is proportional to entries actually present, never to a count the file claims.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/formats/mapped_file.h"
#include "reprise/formats/gguf.h"

namespace reprise {

struct GgufContents {
  explicit GgufContents(const std::filesystem::path& path) : file(path) {}
  GgufContents(std::span<const std::byte> bytes, std::string name) : file(bytes, std::move(name)) {}

  MappedFile file;
  std::uint32_t version = 0;
  std::uint32_t alignment = 0;
  std::vector<GgufValue> metadata;
  std::vector<GgufTensor> tensors;
  std::vector<std::size_t> metadata_by_key;  // indices, sorted
  std::vector<std::size_t> tensors_by_name;
};

/// Fills everything but `file` from it. Errors: unsupported, invalid_argument.
void parse_gguf(GgufContents& contents);

}  // namespace reprise
