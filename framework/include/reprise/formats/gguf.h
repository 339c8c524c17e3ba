// A GGUF model file, mapped read-only: metadata and tensors as views into the mapping.
// Versions 2 and 3, little-endian. Every count, length and offset is checked when the file is
// opened, nothing is converted or copied. Does not know what a model's tensors mean.
// Format: docs/gguf.md of the ggml project.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/core/dtype.h"
#include "reprise/core/shape.h"
#include "reprise/formats/gguf_value.h"

namespace reprise {

struct GgufContents;

/// Valid as long as its GgufFile or that file's storage().
struct GgufTensor {
  std::string_view name;  // verbatim, 1 to 63 bytes
  std::uint32_t type_id;  // as in the file
  std::string_view type_name;
  Shape shape;  // row-major: the dimensions of the file reversed
  std::span<const std::byte> data;
  std::string_view file;  // path of the file

  /// Empty for types this library cannot compute with.
  std::optional<DType> dtype() const;
  /// Errors: unsupported for those types, naming the tensor and the type.
  DType require_dtype() const;
};

/// A cheap handle. Const members may be called concurrently. The file must not be shortened or
/// rewritten while any handle lives.
class GgufFile {
 public:
  /// Errors: io if the file cannot be read, unsupported for another version or byte order,
  /// invalid_argument with the reason if it is malformed.
  static GgufFile open(const std::filesystem::path& path);
  /// The bytes of a file, which stay as they are as long as any handle lives. `name` stands for the
  /// path. Errors: as open.
  static GgufFile over(std::span<const std::byte> bytes, std::string name);

  /// As given to open().
  const std::string& path() const;

  std::uint32_t version() const;
  std::uint32_t alignment() const;

  /// In the order of the file, keys unique.
  const std::vector<GgufValue>& metadata() const;
  /// nullptr if absent.
  const GgufValue* find_value(std::string_view key) const;
  /// Errors: invalid_argument if absent, naming the key.
  const GgufValue& value(std::string_view key) const;

  /// In the order of the file, names unique.
  const std::vector<GgufTensor>& tensors() const;
  /// nullptr if absent.
  const GgufTensor* find(std::string_view name) const;
  /// Errors: invalid_argument if absent, naming the tensor.
  const GgufTensor& tensor(std::string_view name) const;

  /// Errors: io if the file on disk no longer has the size it was opened with.
  void require_unchanged() const;
  /// Keeps the bytes of all tensors alive without the handle.
  std::shared_ptr<const void> storage() const { return contents_; }

 private:
  explicit GgufFile(std::shared_ptr<const GgufContents> contents)
      : contents_(std::move(contents)) {}

  std::shared_ptr<const GgufContents> contents_;
};

}  // namespace reprise
