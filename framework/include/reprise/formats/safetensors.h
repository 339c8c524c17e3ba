// A safetensors model, mapped read-only: one file, or the shards that an index names. Tensors are
// views into the mappings. Every count, length and offset is checked when the model is opened;
// nothing is converted or copied. The meaning of a model's tensors is not its concern.
// Source: https://huggingface.co/docs/safetensors
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reprise/core/dtype.h"
#include "reprise/core/shape.h"

namespace reprise {

struct SafetensorsContents;

/// A tensor of the model.
/// Lifetime: valid as long as its SafetensorsFile or that file's storage().
struct SafetensorsTensor {
  std::string name;                 // verbatim, UTF-8
  std::string dtype_name;           // as in the file: "BF16"
  std::vector<std::int64_t> dims;   // row-major, of any rank up to 64
  std::span<const std::byte> data;  // aligned to nothing
  std::string_view file;            // path of the file that holds it

  /// Returns the dtype; empty for types this library cannot compute with.
  std::optional<DType> dtype() const;
  /// Returns the dtype.
  /// Errors: unsupported for those types, naming the tensor and the type.
  DType require_dtype() const;
  /// Returns the shape; a scalar has shape [1].
  /// Errors: unsupported above rank 4.
  Shape require_shape() const;
};

struct SafetensorsShard {
  std::string path;
  std::uint64_t bytes;
  /// "__metadata__" in the order of the file, keys unique.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// A cheap handle of an open model.
/// Lifetime: the files must not be shortened or rewritten while any handle lives.
/// Threads: const members may be called concurrently.
class SafetensorsFile {
 public:
  /// Opens and checks a model. A path that ends in ".json" is an index
  /// (model.safetensors.index.json): its shards lie in its folder. Tensors of a shard that the
  /// index does not name are left out.
  /// Errors: io if a file cannot be read; invalid_argument with the reason if one is malformed.
  static SafetensorsFile open(const std::filesystem::path& path);
  /// Reads the bytes of one file. `name` stands for the path.
  /// Errors: as open.
  /// Lifetime: the bytes must stay unchanged as long as any handle lives.
  static SafetensorsFile over(std::span<const std::byte> bytes, std::string name);

  /// Returns the shards: one if the model is a single file, else in the order in which the index
  /// names them first.
  const std::vector<SafetensorsShard>& shards() const;

  /// Returns all tensors in the order of the header, or of the index; names unique.
  const std::vector<SafetensorsTensor>& tensors() const;
  /// Finds a tensor; nullptr if absent.
  const SafetensorsTensor* find(std::string_view name) const;
  /// Returns a tensor.
  /// Errors: invalid_argument if absent, naming the tensor.
  const SafetensorsTensor& tensor(std::string_view name) const;

  /// Checks that no file was resized.
  /// Errors: io if a file on disk no longer has the size it was opened with.
  void require_unchanged() const;
  /// Returns an owner that keeps the bytes of all tensors alive without the handle.
  std::shared_ptr<const void> storage() const { return contents_; }

 private:
  explicit SafetensorsFile(std::shared_ptr<const SafetensorsContents> contents)
      : contents_(std::move(contents)) {}

  std::shared_ptr<const SafetensorsContents> contents_;
};

}  // namespace reprise
