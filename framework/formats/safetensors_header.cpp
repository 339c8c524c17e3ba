#include "framework/formats/safetensors_header.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "framework/formats/byte_reader.h"
#include "framework/formats/json_events.h"
#include "framework/formats/name_order.h"
#include "framework/formats/text.h"

namespace reprise {
namespace {

constexpr std::size_t kMaxDims = 64;
constexpr std::string_view kMetadataKey = "__metadata__";

/// "[2, 3]", of any rank.
std::string shape_text(const std::vector<std::int64_t>& dims) {
  std::string text = "[";
  for (const std::int64_t dim : dims) {
    text += (text.size() == 1 ? "" : ", ") + std::to_string(dim);
  }
  return text + "]";
}

/// Begin and end, from the end of the header.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Takes {"name": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "__metadata__": {...}}
/// and nothing else, so that nesting is bounded by what has a meaning.
class HeaderEvents final : public JsonEvents {
 public:
  HeaderEvents(const ByteReader& reader, SafetensorsHeader& header, std::vector<Range>& ranges)
      : JsonEvents(reader), header_(header), ranges_(ranges) {}

  bool start_object(std::size_t /*count*/) override {
    if (place_ == Place::before) {
      place_ = Place::header;
    } else if (place_ == Place::header && key_ == kMetadataKey) {
      if (has_metadata_) {
        fail("the entry '__metadata__' occurs twice.");
      }
      has_metadata_ = true;
      place_ = Place::metadata;
    } else if (place_ == Place::header) {
      header_.tensors.push_back({key_, {}, {}, {}, {}});
      seen_ = {};
      offsets_.clear();
      place_ = Place::entry;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::entry) {
      end_entry();
    }
    place_ = place_ == Place::header ? Place::after : Place::header;
    return true;
  }

  bool key(string_t& key) override {
    if (place_ == Place::metadata) {
      header_.metadata.emplace_back(key, "");
    } else if (place_ == Place::entry) {
      begin_field(key);
    } else {
      key_ = key;
    }
    return true;
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata) {
      header_.metadata.back().second = text;
    } else if (place_ == Place::entry && field_ == Field::dtype) {
      header_.tensors.back().dtype_name = text;
    } else {
      unexpected("a text");
    }
    return true;
  }

  bool start_array(std::size_t /*count*/) override {
    if (place_ != Place::entry || field_ == Field::dtype) {
      unexpected("a list");
    }
    place_ = Place::list;
    return true;
  }

  bool end_array() override {
    place_ = Place::entry;
    return true;
  }

  bool number_unsigned(number_unsigned_t number) override {
    if (place_ != Place::list) {
      unexpected("a number");
    }
    if (field_ == Field::data_offsets) {
      if (offsets_.size() == 2) {
        fail("the data_offsets of the tensor ", quoted_name(key_),
             " have more than the two numbers begin and end.");
      }
      offsets_.push_back(number);
      return true;
    }
    auto& dims = header_.tensors.back().dims;
    if (number > std::uint64_t{Shape::kMaxElements}) {
      fail("the shape of the tensor ", quoted_name(key_), " has the extent (", number,
           "), but elements are at most 2^56.");
    }
    if (dims.size() == kMaxDims) {
      fail("the shape of the tensor ", quoted_name(key_), " has more than (", kMaxDims,
           ") extents, which is the most allowed.");
    }
    dims.push_back(static_cast<std::int64_t>(number));
    return true;
  }

 private:
  enum class Place : std::uint8_t { before, header, entry, list, metadata, after };
  enum class Field : std::uint8_t { dtype, shape, data_offsets };
  static constexpr std::array<std::string_view, 3> kFields{"dtype", "shape", "data_offsets"};

  void begin_field(const std::string& key) {
    const auto* const found = std::ranges::find(kFields, key);
    if (found == kFields.end()) {
      fail("the tensor ", quoted_name(key_), " has the field ", quoted_name(key),
           ", but fields are dtype, shape and data_offsets.");
    }
    field_ = static_cast<Field>(found - kFields.begin());
    bool& seen = seen_[static_cast<std::size_t>(field_)];
    if (seen) {
      fail("the field ", quoted_name(key), " of the tensor ", quoted_name(key_), " occurs twice.");
    }
    seen = true;
  }

  void end_entry() {
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      if (!seen_[i]) {
        fail("the tensor ", quoted_name(key_), " has no field ", kFields[i], ".");
      }
    }
    if (offsets_.size() != 2) {
      fail("the data_offsets of the tensor ", quoted_name(key_), " have (", offsets_.size(),
           ") numbers, but must have two, begin and end.");
    }
    ranges_.push_back({offsets_[0], offsets_[1]});
  }

  std::string allowed() const override {
    const std::string_view field = kFields[static_cast<std::size_t>(field_)];
    switch (place_) {
      case Place::before:
        return "the header must be an object";
      case Place::header:
        return "the entry " + quoted_name(key_) + " must be an object";
      case Place::metadata:
        return "the value of " + quoted_name(header_.metadata.back().first) +
               " in '__metadata__' must be a text";
      case Place::list:
        return joined_text("the ", field, " of the tensor ", quoted_name(key_),
                           " must hold whole numbers from 0");
      default:
        break;
    }
    return joined_text("the field ", field, " of the tensor ", quoted_name(key_), " must be ",
                       field_ == Field::dtype ? "a text" : "a list of numbers");
  }

  SafetensorsHeader& header_;
  std::vector<Range>& ranges_;
  Place place_ = Place::before;
  Field field_ = Field::dtype;
  std::string key_;
  bool has_metadata_ = false;
  std::array<bool, 3> seen_{};
  std::vector<std::uint64_t> offsets_;
};

class Checker {
 public:
  Checker(std::span<const std::byte> bytes, const std::string& path)
      : bytes_(bytes), path_(path), reader_(bytes, "safetensors file '" + path + "'") {}

  SafetensorsHeader run() {
    const auto length = reader_.number<std::uint64_t>("the header length");
    if (length > kMaxHeaderBytes) {
      reader_.fail("its header has (", length, ") bytes, but at most ", kMaxHeaderBytes,
                   " are allowed.");
    }
    const auto text = reader_.bytes(length, "the header");
    if (text.empty() || text[0] != std::byte{'{'}) {
      reader_.fail("its header does not begin with '{'.");
    }
    HeaderEvents events(reader_, header_, ranges_);
    read_json(text, events);
    header_.by_name =
        order_by_name(header_.tensors, &SafetensorsTensor::name, [&](std::string_view name) {
          reader_.fail("the tensor name ", quoted_name(name), " occurs twice.");
        });
    order_by_name(header_.metadata, &SafetensorsHeader::Text::first, [&](std::string_view key) {
      reader_.fail("the key ", quoted_name(key), " of '__metadata__' occurs twice.");
    });
    data_ = bytes_.subspan(static_cast<std::size_t>(reader_.offset()));
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      attach(header_.tensors[i], ranges_[i]);
    }
    require_cover();
    return std::move(header_);
  }

 private:
  void attach(SafetensorsTensor& tensor, Range range) {
    if (range.begin > range.end || range.end > data_.size()) {
      reader_.fail("the tensor ", quoted_name(tensor.name), " lies from (", range.begin, ") to (",
                   range.end, ") in the data, but the data has ", data_.size(), " bytes.");
    }
    const std::uint64_t elements = elements_of(tensor);
    const std::uint64_t bytes = range.end - range.begin;
    // The size of a type nobody knows cannot be checked: whoever asks for its dtype is told.
    if (const SafetensorsType* const type = safetensors_type(tensor.dtype_name)) {
      const std::uint64_t bits = elements * type->bits;
      if (bits % 8 != 0 || bits / 8 != bytes) {
        reader_.fail("the tensor ", quoted_name(tensor.name), " of shape ", shape_text(tensor.dims),
                     " and type ", type->name, " has (", bytes, ") bytes, but needs ",
                     (bits + 7) / 8, bits % 8 != 0 ? " and whole ones." : ".");
      }
    }
    tensor.data =
        data_.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(bytes));
    tensor.file = path_;
  }

  /// Extents of 0 count as 1 for the limit, as in Shape.
  std::uint64_t elements_of(const SafetensorsTensor& tensor) const {
    constexpr auto kMost = static_cast<std::uint64_t>(Shape::kMaxElements);
    std::uint64_t elements = 1;
    bool empty = false;
    for (const std::int64_t dim : tensor.dims) {
      const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(dim, 1));
      if (extent > kMost / elements) {
        reader_.fail("the tensor ", quoted_name(tensor.name), " has the shape (",
                     shape_text(tensor.dims), "), but elements are at most 2^56.");
      }
      elements *= extent;
      empty = empty || dim == 0;
    }
    return empty ? 0 : elements;
  }

  /// The format allows neither holes nor bytes of two tensors.
  void require_cover() const {
    std::vector<std::size_t> order(ranges_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {},
                      [&](std::size_t i) { return std::pair(ranges_[i].begin, ranges_[i].end); });
    std::uint64_t expected = 0;
    for (const std::size_t i : order) {
      if (ranges_[i].begin != expected) {
        reader_.fail("the tensor ", quoted_name(header_.tensors[i].name), " begins at offset (",
                     ranges_[i].begin, ") of the data, but the one before it ends at ", expected,
                     "; holes and overlaps are not allowed.");
      }
      expected = ranges_[i].end;
    }
    if (expected != data_.size()) {
      reader_.fail("the data has (", data_.size(), ") bytes, but its tensors end at ", expected,
                   ".");
    }
  }

  std::span<const std::byte> bytes_;
  std::string_view path_;
  ByteReader reader_;
  SafetensorsHeader header_;
  std::vector<Range> ranges_;
  std::span<const std::byte> data_;
};

}  // namespace

SafetensorsHeader read_safetensors_header(std::span<const std::byte> bytes,
                                          const std::string& path) {
  return Checker(bytes, path).run();
}

}  // namespace reprise
