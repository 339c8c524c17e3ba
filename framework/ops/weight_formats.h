// The dtypes that weights may have, and the shaders that read them.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "framework/core/op.h"

namespace reprise::ops {

inline constexpr std::array kWeightFormats{DType::f32,  DType::f16,    DType::bf16,  DType::q8_0,
                                           DType::q4_0, DType::q4_1,   DType::q5_0,  DType::q5_1,
                                           DType::q4_k, DType::q5_k,   DType::q6_k,  DType::q2_k,
                                           DType::q3_k, DType::iq4_nl, DType::iq4_xs};

inline constexpr DTypeSet kWeightTypes = [] {
  DTypeSet set = 0;
  for (const DType type : kWeightFormats) {
    set |= accepts({type});
  }
  return set;
}();

/// A string as a template argument.
template <std::size_t N>
struct Prefix {
  consteval Prefix(const char (&from)[N]) { std::copy_n(from, N, text); }  // NOLINT
  char text[N]{};
};

template <Prefix kPrefix, DType kType>
inline constexpr auto kFormatShader = [] {
  constexpr std::string_view kName = info_of(kType).name;
  std::array<char, sizeof(kPrefix.text) - 1 + kName.size()> text{};
  std::copy_n(kPrefix.text, sizeof(kPrefix.text) - 1, text.begin());
  std::copy(kName.begin(), kName.end(), text.end() - kName.size());
  return text;
}();

template <Prefix kPrefix, auto kFormats, std::size_t... kI>
constexpr auto format_shaders(std::index_sequence<kI...> /*formats*/) {
  return std::array{std::string_view(kFormatShader<kPrefix, kFormats[kI]>.data(),
                                     kFormatShader<kPrefix, kFormats[kI]>.size())...};
}
/// The shaders "<prefix><dtype>" of those formats.
template <Prefix kPrefix, auto kFormats = kWeightFormats>
inline constexpr auto kFormatShaders =
    format_shaders<kPrefix, kFormats>(std::make_index_sequence<kFormats.size()>());

/// Lists of shaders one after another.
template <std::size_t... kSizes>
constexpr auto joined(const std::array<std::string_view, kSizes>&... lists) {
  std::array<std::string_view, (kSizes + ...)> all;
  auto to = all.begin();
  ((to = std::copy(lists.begin(), lists.end(), to)), ...);
  return all;
}

}  // namespace reprise::ops
