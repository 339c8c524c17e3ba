// `reprise model info`: what a model file holds. The tokenizer is opened too, and a fault in it is
// told, but is no failure: the file may be used without it.
#include <optional>

#include "debugger/cli/commands.h"
#include "reprise/core/error.h"
#include "reprise/formats/gguf.h"
#include "reprise/formats/safetensors.h"
#include "reprise/formats/tokenizer.h"

namespace reprise::cli {
namespace {

template <class Tensors>
std::uint64_t data_bytes(const Tensors& tensors) {
  std::uint64_t bytes = 0;
  for (const auto& tensor : tensors) {
    bytes += tensor.data.size();
  }
  return bytes;
}

Listing metadata_listing() {
  return {"metadata", {{"key", "key"}, {"type", "type"}, {"value", "value"}}};
}

Listing tensor_listing() {
  return {"tensors",
          {{"name", "tensor"},
           {"type", "type"},
           {"shape", "shape"},
           {"bytes", "bytes", Holds::numbers},
           {"computable", kNotInTables}}};
}

/// Arrays are counted: that of the tokens alone has more than a screen.
Cell cell_of(const GgufValue& value) {
  if (value.is_array()) {
    return std::to_string(value.count()) + " values";
  }
  switch (value.element_type()) {
    case GgufValueType::string:
      return std::string(value.as_string());
    case GgufValueType::boolean:
      return value.as_bool();
    case GgufValueType::f32:
    case GgufValueType::f64:
      return {value.as_real(), real(value.as_real(), 6).text};
    case GgufValueType::u64:
      break;
    default:
      return value.as_integer();
  }
  try {
    return value.as_integer();
  } catch (const Error&) {
    return "above 2^63 - 1";
  }
}

void add_tokenizer(Report& report, const GgufFile& file) {
  if (file.find_value("tokenizer.ggml.model") == nullptr) {
    report.add_fact("tokenizer", Cell::none());
    return;
  }
  try {
    const Tokenizer tokenizer(file);
    report.add_fact("tokenizer", true);
    report.add_fact("tokens", tokenizer.vocab_size());
    report.add_fact("bos", tokenizer.bos());
    report.add_fact("eos", tokenizer.eos());
    report.heading += ", a tokenizer of " + std::to_string(tokenizer.vocab_size()) + " tokens";
  } catch (const Error& error) {
    report.add_fact("tokenizer", false);
    report.add_fact("tokenizer_error", error.what());
    report.notes.push_back(std::string("The tokenizer cannot be used: ") + error.what());
  }
}

Report report_of(const GgufFile& file) {
  Report report;
  report.add_fact("format", "gguf");
  report.add_fact("version", file.version());
  report.add_fact("alignment", file.alignment());
  report.add_fact("data_bytes", data_bytes(file.tensors()));
  report.heading = "GGUF version " + std::to_string(file.version()) + ", " +
                   std::to_string(file.tensors().size()) + " tensors of " +
                   std::to_string(data_bytes(file.tensors())) + " bytes";
  add_tokenizer(report, file);
  Listing metadata = metadata_listing();
  for (const GgufValue& value : file.metadata()) {
    const std::string type(name_of(value.element_type()));
    metadata.rows.push_back(
        {std::string(value.key()), value.is_array() ? "array of " + type : type, cell_of(value)});
  }
  Listing tensors = tensor_listing();
  for (const GgufTensor& tensor : file.tensors()) {
    tensors.rows.push_back({std::string(tensor.name), std::string(tensor.type_name),
                            to_string(tensor.shape), tensor.data.size(),
                            tensor.dtype().has_value()});
  }
  report.listings = {std::move(metadata), std::move(tensors)};
  return report;
}

Report report_of(const SafetensorsFile& file) {
  Report report;
  report.add_fact("format", "safetensors");
  report.add_fact("data_bytes", data_bytes(file.tensors()));
  report.heading = "safetensors, " + std::to_string(file.shards().size()) + " files, " +
                   std::to_string(file.tensors().size()) + " tensors of " +
                   std::to_string(data_bytes(file.tensors())) + " bytes";
  Listing metadata = metadata_listing();
  Listing shards{"shards", {{"path", "file", Holds::paths}, {"bytes", "bytes", Holds::numbers}}};
  for (const SafetensorsShard& shard : file.shards()) {
    shards.rows.push_back({shard.path, shard.bytes});
    for (const auto& [key, value] : shard.metadata) {
      metadata.rows.push_back({key, "string", value});
    }
  }
  Listing tensors = tensor_listing();
  for (const SafetensorsTensor& tensor : file.tensors()) {
    std::string shape = "[";
    for (const std::int64_t dim : tensor.dims) {
      shape += (shape.size() == 1 ? "" : ", ") + std::to_string(dim);
    }
    const bool computable = tensor.dtype() && tensor.dims.size() <= Shape::kMaxRank;
    tensors.rows.push_back(
        {tensor.name, tensor.dtype_name, shape + "]", tensor.data.size(), computable});
  }
  report.listings = {std::move(metadata), std::move(shards), std::move(tensors)};
  return report;
}

}  // namespace

void print_model_info(const std::filesystem::path& path, Format format) {
  const auto extension = path.extension();
  const bool safetensors = extension == ".safetensors" || extension == ".json";
  (safetensors ? report_of(SafetensorsFile::open(path)) : report_of(GgufFile::open(path)))
      .print(format);
}

}  // namespace reprise::cli
