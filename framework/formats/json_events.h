// A JSON text from outside, read as events: nothing is built from it, and nesting costs no stack.
// A reader overrides what it allows; everything else is an error that says where, what was found
// and what is allowed.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "framework/formats/byte_reader.h"

namespace reprise {

class JsonEvents : public nlohmann::json::json_sax_t {
 public:
  explicit JsonEvents(const ByteReader& reader) : reader_(reader) {}

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a bool"); }
  bool number_integer(number_integer_t) override { unexpected("a negative number"); }
  bool number_unsigned(number_unsigned_t) override { unexpected("a number"); }
  bool number_float(number_float_t, const string_t&) override { unexpected("a fraction"); }
  bool string(string_t&) override { unexpected("a text"); }
  bool binary(binary_t&) override { unexpected("bytes"); }
  bool start_object(std::size_t) override { unexpected("an object"); }
  bool start_array(std::size_t) override { unexpected("a list"); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    fail_at(position);
  }
  /// Bytes are counted from 1.
  [[noreturn]] void fail_at(std::size_t position) const {
    fail("its JSON text is wrong at byte (", position, "), but must be one object in UTF-8.");
  }

 protected:
  /// What has to stand here: "the shape of the tensor 'w' must hold numbers from 0".
  virtual std::string allowed() const = 0;
  [[noreturn]] void unexpected(std::string_view found) const {
    fail(allowed(), ", but there is (", found, ").");
  }
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const {
    reader_.fail(reason...);
  }

 private:
  const ByteReader& reader_;
};

/// Strict JSON: one value, UTF-8, nothing after it but spaces.
void read_json(std::span<const std::byte> text, JsonEvents& events);

}  // namespace reprise
