#include "framework/session/device/value_text.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "framework/core/float16.h"
#include "framework/core/op.h"

namespace reprise {
namespace {

template <class T>
T load(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof(T), bytes.size()));
  return value;
}

}  // namespace

std::string decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

std::size_t element_bytes(DType dtype) {
  return info_of(dtype).block_elements == 1 ? info_of(dtype).block_bytes : 1;
}

double value_of_element(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::f32:
      return static_cast<double>(load<float>(bytes));
    case DType::f16:
      return static_cast<double>(f16_to_f32(load<std::uint16_t>(bytes)));
    case DType::bf16:
      return static_cast<double>(bf16_to_f32(load<std::uint16_t>(bytes)));
    case DType::i32:
      return load<std::int32_t>(bytes);
    case DType::i64:
      return static_cast<double>(load<std::int64_t>(bytes));
    default:
      return load<std::uint8_t>(bytes);
  }
}

std::string text_of_element(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::i32:
      return std::to_string(load<std::int32_t>(bytes));
    case DType::i64:
      return std::to_string(load<std::int64_t>(bytes));
    default:
      return decimal(value_of_element(dtype, bytes));
  }
}

std::string text_of(const Grid& grid) {
  return "[" + std::to_string(grid[0]) + ", " + std::to_string(grid[1]) + ", " +
         std::to_string(grid[2]) + "]";
}

std::string text_of(const Step& step) {
  if (step.kind != StepKind::dispatch) {
    return step.op == nullptr ? "copy" : std::string(step.op->name) + " on the host";
  }
  return to_string(step.kernel);
}

std::pair<std::string, std::string> first_words(std::span<const std::byte> a,
                                                std::span<const std::byte> b) {
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  std::size_t at = 0;
  while (at + kWord <= std::min(a.size(), b.size()) &&
         load<std::uint32_t>(a.subspan(at, kWord)) == load<std::uint32_t>(b.subspan(at, kWord))) {
    at += kWord;
  }
  const auto text = [at](std::span<const std::byte> bytes) {
    return at < bytes.size() ? "word " + std::to_string(at / kWord) + ": " +
                                   std::to_string(load<std::uint32_t>(bytes.subspan(at)))
                             : std::to_string(bytes.size()) + " bytes";
  };
  return {text(a), text(b)};
}

}  // namespace reprise
