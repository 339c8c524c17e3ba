#include "reprise/formats/safetensors.h"

#include <deque>

#include "framework/formats/byte_reader.h"
#include "framework/formats/mapped_file.h"
#include "framework/formats/name_order.h"
#include "framework/formats/safetensors_header.h"
#include "framework/formats/safetensors_index.h"
#include "framework/formats/text.h"
#include "reprise/core/error.h"

namespace reprise {

struct SafetensorsContents {
  std::string path;              // as given to open()
  std::deque<MappedFile> files;  // as shards
  std::vector<SafetensorsShard> shards;
  std::vector<SafetensorsTensor> tensors;
  std::vector<std::size_t> by_name;

  /// What the file says of its tensors; they are views into it.
  SafetensorsHeader add(const MappedFile& file) {
    SafetensorsHeader header = read_safetensors_header(file.bytes(), file.path());
    shards.push_back({file.path(), file.bytes().size(), std::move(header.metadata)});
    file.require_unchanged();
    return header;
  }
};

namespace {

void add_single(SafetensorsContents& contents) {
  SafetensorsHeader header = contents.add(contents.files.back());
  contents.tensors = std::move(header.tensors);
  contents.by_name = std::move(header.by_name);
}

void add_sharded(SafetensorsContents& contents, const std::filesystem::path& path) {
  const MappedFile file(path);
  SafetensorsIndex index = read_safetensors_index(file.bytes(), file.path());
  file.require_unchanged();
  std::vector<SafetensorsHeader> headers;
  for (const std::string& shard : index.shards) {
    headers.push_back(contents.add(contents.files.emplace_back(path.parent_path() / shard)));
  }
  for (const auto& [name, shard] : index.rows) {
    const auto& [tensors, by_name, metadata] = headers[shard];
    const SafetensorsTensor* const found =
        find_named(tensors, by_name, name, &SafetensorsTensor::name);
    if (found == nullptr) {
      ByteReader(file.bytes(), "safetensors index '" + file.path() + "'")
          .fail("the tensor ", quoted_name(name), " is said to lie in the file ",
                quoted_name(index.shards[shard]), ", which holds (", tensors.size(), ") others.");
    }
    contents.tensors.push_back(*found);
  }
  contents.by_name = order_by_name(contents.tensors, &SafetensorsTensor::name);
}

}  // namespace

std::optional<DType> SafetensorsTensor::dtype() const {
  const SafetensorsType* const type = safetensors_type(dtype_name);
  return type == nullptr ? std::nullopt : type->dtype;
}

DType SafetensorsTensor::require_dtype() const {
  const auto type = dtype();
  if (!type) {
    throw_error(ErrorCode::unsupported, "The tensor ", quoted_name(name),
                " of the safetensors file '", file, "' has type (", quoted_name(dtype_name),
                "), which can be loaded but not computed with; allowed are ",
                computable_safetensors_types(), ".");
  }
  return *type;
}

Shape SafetensorsTensor::require_shape() const {
  if (dims.empty()) {
    return {1};
  }
  if (dims.size() > Shape::kMaxRank) {
    throw_error(ErrorCode::unsupported, "The tensor ", quoted_name(name),
                " of the safetensors file '", file, "' has rank (", dims.size(), "), but at most ",
                Shape::kMaxRank, " can be computed with.");
  }
  return Shape(dims);
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  auto contents = std::make_shared<SafetensorsContents>();
  contents->path = path.string();
  if (path.extension() == ".json") {
    add_sharded(*contents, path);
  } else {
    contents->files.emplace_back(path);
    add_single(*contents);
  }
  return SafetensorsFile(std::move(contents));
}

SafetensorsFile SafetensorsFile::over(std::span<const std::byte> bytes, std::string name) {
  auto contents = std::make_shared<SafetensorsContents>();
  contents->path = name;
  contents->files.emplace_back(bytes, std::move(name));
  add_single(*contents);
  return SafetensorsFile(std::move(contents));
}

const std::vector<SafetensorsShard>& SafetensorsFile::shards() const { return contents_->shards; }

const std::vector<SafetensorsTensor>& SafetensorsFile::tensors() const {
  return contents_->tensors;
}

const SafetensorsTensor* SafetensorsFile::find(std::string_view name) const {
  return find_named(contents_->tensors, contents_->by_name, name, &SafetensorsTensor::name);
}

const SafetensorsTensor& SafetensorsFile::tensor(std::string_view name) const {
  const SafetensorsTensor* const found = find(name);
  if (found == nullptr) {
    throw_invalid_argument("The safetensors file '", contents_->path, "' has no tensor ",
                           quoted_name(name), " among its (", contents_->tensors.size(), ").");
  }
  return *found;
}

void SafetensorsFile::require_unchanged() const {
  for (const MappedFile& file : contents_->files) {
    file.require_unchanged();
  }
}

}  // namespace reprise
