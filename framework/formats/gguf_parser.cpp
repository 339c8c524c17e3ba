#include "framework/formats/gguf_parser.h"

#include <algorithm>
#include <array>
#include <bit>

#include "framework/formats/byte_reader.h"
#include "framework/formats/gguf_types.h"
#include "framework/formats/name_order.h"
#include "framework/formats/text.h"
#include "reprise/core/error.h"

namespace reprise {
namespace {

constexpr std::uint32_t kDefaultAlignment = 32;
constexpr std::size_t kMaxKeyBytes = 65535;
constexpr std::size_t kMaxTensorNameBytes = 63;
constexpr std::uint32_t kValueTypeCount = 13;
// The smallest entry: a length, one byte of key, a type and a value of one byte.
constexpr std::uint64_t kMinValueBytes = 8 + 1 + 4 + 1;
// A length, one byte of name, the rank, one dimension, the type and the offset.
constexpr std::uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;
constexpr auto kMaxElements = static_cast<std::uint64_t>(Shape::kMaxElements);

/// 0 for strings and arrays.
std::uint64_t fixed_bytes(GgufValueType type) {
  constexpr std::array<std::uint8_t, kValueTypeCount> kBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kBytes[static_cast<std::size_t>(type)];
}

class Parser {
 public:
  explicit Parser(GgufContents& contents)
      : contents_(contents),
        reader_(contents.file.bytes(), "GGUF file '" + contents.file.path() + "'") {}

  void run() {
    read_header();
    for (std::uint64_t i = 0; i < value_count_; ++i) {
      contents_.metadata.push_back(read_value());
    }
    contents_.metadata_by_key =
        order_by_name(contents_.metadata, &GgufValue::key, [&](std::string_view key) {
          reader_.fail("the key ", quoted_name(key), " occurs twice.");
        });
    contents_.alignment = read_alignment();
    reader_.require_items(tensor_count_, kMinTensorBytes, "the tensor count");
    for (std::uint64_t i = 0; i < tensor_count_; ++i) {
      read_tensor();
    }
    contents_.tensors_by_name =
        order_by_name(contents_.tensors, &GgufTensor::name, [&](std::string_view name) {
          reader_.fail("the tensor name ", quoted_name(name), " occurs twice.");
        });
    attach_data();
  }

 private:
  void read_header() {
    const auto magic = reader_.bytes(4, "the magic");
    if (std::string_view(reinterpret_cast<const char*>(magic.data()), 4) != "GGUF") {
      reader_.fail("its first four bytes are not 'GGUF'.");
    }
    contents_.version = reader_.number<std::uint32_t>("the version");
    if (contents_.version != 2 && contents_.version != 3) {
      const bool swapped = contents_.version != 0 && (contents_.version & 0xFFFFU) == 0;
      throw_error(ErrorCode::unsupported, "The GGUF file '", contents_.file.path(),
                  "' has version (", contents_.version, ")",
                  swapped ? " and seems to be big-endian" : "",
                  ", but must have version 2 or 3, little-endian.");
    }
    tensor_count_ = reader_.number<std::uint64_t>("the tensor count");
    value_count_ = reader_.number<std::uint64_t>("the metadata count");
    reader_.require_items(tensor_count_, kMinTensorBytes, "the tensor count");
    reader_.require_items(value_count_, kMinValueBytes, "the metadata count");
  }

  GgufValue read_value() {
    const std::string_view key = reader_.text("a metadata key");
    if (key.empty() || key.size() > kMaxKeyBytes) {
      reader_.fail("a metadata key has (", key.size(), ") bytes, but must have 1 to ", kMaxKeyBytes,
                   ".");
    }
    if (key.find('\0') != std::string_view::npos || !is_utf8(key)) {
      reader_.fail("the metadata key ", quoted_name(key), " must be UTF-8 without NUL.");
    }
    auto type = read_value_type(key);
    const bool is_array = type == GgufValueType::array;
    std::uint64_t count = 1;
    if (is_array) {
      type = read_value_type(key);
      if (type == GgufValueType::array) {
        reader_.fail("the metadata value ", quoted_name(key), " is an array of (arrays).");
      }
      count = reader_.number<std::uint64_t>("an array length");
    }
    return {contents_.file.path(), key, is_array, type, count, read_elements(key, type, count)};
  }

  GgufValueType read_value_type(std::string_view key) {
    const auto id = reader_.number<std::uint32_t>("a metadata type");
    if (id >= kValueTypeCount) {
      reader_.fail("the metadata value ", quoted_name(key), " has type (", id,
                   "), but types are 0 to ", kValueTypeCount - 1, ".");
    }
    return static_cast<GgufValueType>(id);
  }

  std::span<const std::byte> read_elements(std::string_view key, GgufValueType type,
                                           std::uint64_t count) {
    const std::uint64_t start = reader_.offset();
    if (type == GgufValueType::string) {
      reader_.require_items(count, sizeof(std::uint64_t),
                            "the string count of " + quoted_name(key));
      for (std::uint64_t i = 0; i < count; ++i) {
        reader_.text("a string");
      }
      const auto all = contents_.file.bytes();
      return all.subspan(static_cast<std::size_t>(start),
                         static_cast<std::size_t>(reader_.offset() - start));
    }
    reader_.require_items(count, fixed_bytes(type), "the element count of " + quoted_name(key));
    const auto encoded = reader_.bytes(count * fixed_bytes(type), "a metadata value");
    if (type == GgufValueType::boolean &&
        std::ranges::any_of(encoded, [](std::byte b) { return b > std::byte{1}; })) {
      reader_.fail("the bool ", quoted_name(key), " holds a byte other than 0 and 1.");
    }
    return encoded;
  }

  std::uint32_t read_alignment() const {
    const GgufValue* const found = find_named(contents_.metadata, contents_.metadata_by_key,
                                              "general.alignment", &GgufValue::key);
    if (found == nullptr) {
      return kDefaultAlignment;
    }
    if (found->is_array() || found->element_type() != GgufValueType::u32) {
      reader_.fail("'general.alignment' has type (", name_of(found->element_type()),
                   "), but must be u32.");
    }
    const auto alignment = static_cast<std::uint32_t>(found->as_integer());
    if (!std::has_single_bit(alignment)) {
      reader_.fail("'general.alignment' is (", alignment, "), but must be a power of two.");
    }
    return alignment;
  }

  void read_tensor() {
    const std::string_view name = reader_.text("a tensor name");
    if (name.empty() || name.size() > kMaxTensorNameBytes) {
      reader_.fail("the tensor name ", quoted_name(name), " has (", name.size(),
                   ") bytes, but must have 1 to ", kMaxTensorNameBytes, ".");
    }
    const auto rank = reader_.number<std::uint32_t>("a tensor rank");
    if (rank == 0 || rank > Shape::kMaxRank) {
      reader_.fail("the tensor ", quoted_name(name), " has rank (", rank, "), but must have 1 to ",
                   Shape::kMaxRank, ".");
    }
    std::array<std::int64_t, Shape::kMaxRank> dims{};
    std::uint64_t elements = 1;
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto dim = reader_.number<std::uint64_t>("a tensor dimension");
      if (dim == 0 || dim > kMaxElements / elements) {
        reader_.fail("dimension ", i, " of the tensor ", quoted_name(name), " is (", dim,
                     "), but extents are at least 1 and elements at most 2^56.");
      }
      elements *= dim;
      dims[rank - 1 - i] = static_cast<std::int64_t>(dim);
    }
    const Shape shape(std::span<const std::int64_t>(dims).first(rank));
    const auto type_id = reader_.number<std::uint32_t>("a tensor type");
    const GgufTensorType* const type = gguf_tensor_type(type_id);
    if (type == nullptr) {
      reader_.fail("the tensor ", quoted_name(name), " has type (", type_id,
                   "), which is not a known type, so its size is unknown.");
    }
    if (shape.back() % type->block_elements != 0) {
      reader_.fail("the tensor ", quoted_name(name), " of shape ", to_string(shape),
                   " has rows of (", shape.back(), ") elements, but ", type->name,
                   " needs a multiple of ", type->block_elements, ".");
    }
    const std::uint64_t blocks = elements / type->block_elements;
    if (blocks > contents_.file.bytes().size() / type->block_bytes) {
      reader_.fail("the tensor ", quoted_name(name), " of shape ", to_string(shape), " and type ",
                   type->name, " is larger than the whole file of (", contents_.file.bytes().size(),
                   ") bytes.");
    }
    const auto offset = reader_.number<std::uint64_t>("a tensor offset");
    contents_.tensors.push_back({name, type_id, type->name, shape, {}, contents_.file.path()});
    places_.push_back({offset, blocks * type->block_bytes});
  }

  /// Tensors lie one after another in the order of their entries, each padded to the alignment; the
  /// last one need not be.
  void attach_data() {
    const auto all = contents_.file.bytes();
    const std::uint64_t start = aligned(reader_.offset());
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      GgufTensor& tensor = contents_.tensors[i];
      const auto [offset, bytes] = places_[i];
      if (offset != expected) {
        reader_.fail("the tensor ", quoted_name(tensor.name), " starts at offset (", offset,
                     ") of the data, but must start at ", expected, ".");
      }
      const std::uint64_t available = all.size() > start ? all.size() - start : 0;
      if (offset > available || bytes > available - offset) {
        reader_.fail("the tensor ", quoted_name(tensor.name), " needs bytes up to (",
                     offset + bytes, ") of the data, but the file holds ", available, ".");
      }
      tensor.data =
          all.subspan(static_cast<std::size_t>(start + offset), static_cast<std::size_t>(bytes));
      expected = aligned(offset + bytes);
    }
  }

  std::uint64_t aligned(std::uint64_t offset) const {
    const std::uint64_t mask = contents_.alignment - 1U;
    return (offset + mask) & ~mask;
  }

  struct Place {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  GgufContents& contents_;
  ByteReader reader_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t value_count_ = 0;
  std::vector<Place> places_;
};

}  // namespace

void parse_gguf(GgufContents& contents) { Parser(contents).run(); }

}  // namespace reprise
