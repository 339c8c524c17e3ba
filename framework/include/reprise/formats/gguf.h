// A GGUF model file, mapped read-only: metadata and tensors as views into the mapping. Versions 2
// and 3, little-endian. Every count, length and offset is checked when the file is opened; nothing
// is converted or copied. The meaning of a model's tensors is not its concern.
// Source: docs/gguf.md of the ggml project.
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

/// A tensor of the file.
/// Lifetime: valid as long as its GgufFile or that file's storage().
struct GgufTensor {
  std::string_view name;  // verbatim, 1 to 63 bytes
  std::uint32_t type_id;  // as in the file
  std::string_view type_name;
  Shape shape;  // row-major: the dimensions of the file reversed
  std::span<const std::byte> data;
  std::string_view file;  // path of the file

  /// Returns the dtype; empty for types this library cannot compute with.
  std::optional<DType> dtype() const;
  /// Returns the dtype.
  /// Errors: unsupported for those types, naming the tensor and the type.
  DType require_dtype() const;
};

/// A cheap handle of an open file.
/// Lifetime: the file must not be shortened or rewritten while any handle lives.
/// Threads: const members may be called concurrently.
class GgufFile {
 public:
  /// Opens and checks a file.
  /// Errors: io if the file cannot be read; unsupported for a different version or byte order;
  /// invalid_argument with the reason if it is malformed.
  static GgufFile open(const std::filesystem::path& path);
  /// Reads the bytes of a file. `name` stands for the path.
  /// Errors: as open.
  /// Lifetime: the bytes must stay unchanged as long as any handle lives.
  static GgufFile over(std::span<const std::byte> bytes, std::string name);

  /// Returns the path as given to open().
  const std::string& path() const;

  std::uint32_t version() const;
  std::uint32_t alignment() const;

  /// Returns all values in the order of the file, keys unique.
  const std::vector<GgufValue>& metadata() const;
  /// Finds a value; nullptr if absent.
  const GgufValue* find_value(std::string_view key) const;
  /// Returns a value.
  /// Errors: invalid_argument if absent, naming the key.
  const GgufValue& value(std::string_view key) const;

  /// Returns all tensors in the order of the file, names unique.
  const std::vector<GgufTensor>& tensors() const;
  /// Finds a tensor; nullptr if absent.
  const GgufTensor* find(std::string_view name) const;
  /// Returns a tensor.
  /// Errors: invalid_argument if absent, naming the tensor.
  const GgufTensor& tensor(std::string_view name) const;

  /// Checks that the file was not resized.
  /// Errors: io if the file on disk no longer has the size it was opened with.
  void require_unchanged() const;
  /// Returns an owner that keeps the bytes of all tensors alive without the handle.
  std::shared_ptr<const void> storage() const { return contents_; }

 private:
  explicit GgufFile(std::shared_ptr<const GgufContents> contents)
      : contents_(std::move(contents)) {}

  std::shared_ptr<const GgufContents> contents_;
};

}  // namespace reprise
