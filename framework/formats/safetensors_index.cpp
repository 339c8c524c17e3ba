#include "framework/formats/safetensors_index.h"

#include <map>
#include <string_view>

#include "framework/formats/byte_reader.h"
#include "framework/formats/json_events.h"
#include "framework/formats/name_order.h"
#include "framework/formats/safetensors_header.h"
#include "framework/formats/text.h"

namespace reprise {
namespace {

constexpr std::size_t kMaxDepth = 16;
constexpr std::string_view kMapKey = "weight_map";

/// Takes {"weight_map": {"tensor": "file"}} and passes over the rest, which is "metadata".
class IndexEvents final : public JsonEvents {
 public:
  IndexEvents(const ByteReader& reader, SafetensorsIndex& index)
      : JsonEvents(reader), index_(index) {}

  bool null() override { return pass("null"); }
  bool boolean(bool) override { return pass("a bool"); }
  bool number_integer(number_integer_t) override { return pass("a number"); }
  bool number_unsigned(number_unsigned_t) override { return pass("a number"); }
  bool number_float(number_float_t, const string_t&) override { return pass("a number"); }
  bool start_array(std::size_t) override { return pass("a list") && enter(); }
  bool end_array() override { return leave(); }
  bool end_object() override { return leave(); }

  bool start_object(std::size_t) override {
    if (depth_ == 1 && key_ == kMapKey) {
      if (has_map_) {
        fail("'weight_map' occurs twice.");
      }
      has_map_ = true;
      return enter();
    }
    return (depth_ == 0 || pass("an object")) && enter();
  }

  bool key(string_t& key) override {
    (depth_ == 1 ? key_ : tensor_) = key;
    return true;
  }

  bool string(string_t& text) override {
    if (depth_ != 2 || key_ != kMapKey) {
      return pass("a text");
    }
    index_.rows.push_back({tensor_, shard(text)});
    return true;
  }

  bool has_map() const { return has_map_; }

 private:
  bool enter() {
    if (++depth_ > kMaxDepth) {
      fail("it nests deeper than (", kMaxDepth, ") levels.");
    }
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  bool pass(std::string_view found) const {
    if (depth_ == 0 || key_ == kMapKey) {
      unexpected(found);
    }
    return true;
  }

  std::size_t shard(const std::string& name) {
    if (name.empty() || name == "." || name == ".." ||
        name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
      fail("the tensor ", quoted_name(tensor_), " lies in the file (", quoted_name(name),
           "), but shards are plain file names in the folder of the index.");
    }
    const auto [found, added] = numbers_.try_emplace(name, index_.shards.size());
    if (added) {
      index_.shards.push_back(name);
    }
    return found->second;
  }

  std::string allowed() const override {
    if (depth_ == 0) {
      return "the index must be an object";
    }
    return depth_ == 1 ? "'weight_map' must be an object of tensors and file names"
                       : "the file of the tensor " + quoted_name(tensor_) + " must be a text";
  }

  SafetensorsIndex& index_;
  std::map<std::string, std::size_t> numbers_;  // by shard
  std::size_t depth_ = 0;
  bool has_map_ = false;
  std::string key_;
  std::string tensor_;
};

}  // namespace

SafetensorsIndex read_safetensors_index(std::span<const std::byte> bytes, const std::string& path) {
  const ByteReader reader(bytes, "safetensors index '" + path + "'");
  if (bytes.size() > kMaxHeaderBytes) {
    reader.fail("it has (", bytes.size(), ") bytes, but at most ", kMaxHeaderBytes,
                " are allowed.");
  }
  SafetensorsIndex index;
  IndexEvents events(reader, index);
  read_json(bytes, events);
  if (!events.has_map()) {
    reader.fail("it has no 'weight_map'.");
  }
  order_by_name(index.rows, &SafetensorsIndex::Row::tensor, [&](std::string_view name) {
    reader.fail("the tensor name ", quoted_name(name), " occurs twice.");
  });
  return index;
}

}  // namespace reprise
