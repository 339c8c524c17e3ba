#include "reprise/formats/gguf.h"

#include "framework/formats/gguf_parser.h"
#include "framework/formats/gguf_types.h"
#include "framework/formats/name_order.h"
#include "framework/formats/text.h"
#include "reprise/core/error.h"

namespace reprise {
namespace {

std::shared_ptr<const GgufContents> parsed(std::shared_ptr<GgufContents> contents) {
  contents->file.require_unchanged();
  parse_gguf(*contents);
  contents->file.require_unchanged();
  return contents;
}

}  // namespace

std::optional<DType> GgufTensor::dtype() const {
  const GgufTensorType* const type = gguf_tensor_type(type_id);
  return type == nullptr ? std::nullopt : type->dtype;
}

DType GgufTensor::require_dtype() const {
  const auto type = dtype();
  if (!type) {
    throw_error(ErrorCode::unsupported, "The tensor ", quoted_name(name), " of the GGUF file '",
                file, "' has type (", type_name,
                "), which can be loaded but not computed with; allowed are ",
                computable_gguf_types(), ".");
  }
  return *type;
}

GgufFile GgufFile::open(const std::filesystem::path& path) {
  return GgufFile(parsed(std::make_shared<GgufContents>(path)));
}

GgufFile GgufFile::over(std::span<const std::byte> bytes, std::string name) {
  return GgufFile(parsed(std::make_shared<GgufContents>(bytes, std::move(name))));
}

const std::string& GgufFile::path() const { return contents_->file.path(); }

std::uint32_t GgufFile::version() const { return contents_->version; }

std::uint32_t GgufFile::alignment() const { return contents_->alignment; }

const std::vector<GgufValue>& GgufFile::metadata() const { return contents_->metadata; }

const GgufValue* GgufFile::find_value(std::string_view key) const {
  return find_named(contents_->metadata, contents_->metadata_by_key, key, &GgufValue::key);
}

const GgufValue& GgufFile::value(std::string_view key) const {
  const GgufValue* const found = find_value(key);
  if (found == nullptr) {
    throw_invalid_argument("The GGUF file '", contents_->file.path(), "' has no metadata value ",
                           quoted_name(key), " among its (", contents_->metadata.size(), ").");
  }
  return *found;
}

const std::vector<GgufTensor>& GgufFile::tensors() const { return contents_->tensors; }

const GgufTensor* GgufFile::find(std::string_view name) const {
  return find_named(contents_->tensors, contents_->tensors_by_name, name, &GgufTensor::name);
}

const GgufTensor& GgufFile::tensor(std::string_view name) const {
  const GgufTensor* const found = find(name);
  if (found == nullptr) {
    throw_invalid_argument("The GGUF file '", contents_->file.path(), "' has no tensor ",
                           quoted_name(name), " among its (", contents_->tensors.size(), ").");
  }
  return *found;
}

void GgufFile::require_unchanged() const { contents_->file.require_unchanged(); }

}  // namespace reprise
