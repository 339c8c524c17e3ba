// A GGUF file of any bytes opens, with every view inside it, or is an Error.
#include <cstddef>
#include <cstdint>

#include "reprise/core/error.h"
#include "reprise/formats/gguf.h"
#include "tests/fuzz/require.h"

namespace {

using reprise::GgufValue;
using reprise::GgufValueType;
using reprise::fuzz::require;

std::uint64_t read(const GgufValue& value) {
  const GgufValueType type = value.element_type();
  const bool real = type == GgufValueType::f32 || type == GgufValueType::f64;
  if (type == GgufValueType::string) {
    const auto texts = value.is_array() ? value.as_strings() : std::vector{value.as_string()};
    for (const std::string_view text : texts) {
      reprise::fuzz::require_readable(std::as_bytes(std::span(text)));
    }
    return texts.size();
  }
  if (value.is_array()) {
    return real ? value.as_floats().size() : value.as_integers().size();
  }
  if (type == GgufValueType::boolean) {
    return value.as_bool() ? 1 : 0;
  }
  return real ? (value.as_real() > 0 ? 1U : 0U) : static_cast<std::uint64_t>(value.as_integer());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  volatile std::uint64_t sum = 0;
  try {
    const reprise::GgufFile file = reprise::GgufFile::over(bytes, "fuzz");
    for (const GgufValue& value : file.metadata()) {
      require(file.find_value(value.key()) == &value, "a value is found by its key");
      try {
        sum = sum + read(value);
      } catch (const reprise::Error&) {  // above 2^63 - 1, or an array of bool or f64
      }
    }
    for (const reprise::GgufTensor& tensor : file.tensors()) {
      require(file.find(tensor.name) == &tensor, "a tensor is found by its name");
      if (const auto dtype = tensor.dtype()) {
        const auto elements = static_cast<std::uint64_t>(tensor.shape.elements());
        require(tensor.data.size() == bytes_of(*dtype, elements), "a tensor has its bytes");
      }
      reprise::fuzz::require_readable(tensor.data);
    }
  } catch (const reprise::Error&) {
  }
  return 0;
}
