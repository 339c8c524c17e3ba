// SPIR-V as text, for people. Code comes from a file: what is no SPIR-V gives a sentence, and
// neither time nor memory grow faster than its size - names are put in here, since those that
// SPIRV-Tools can make up for arrays of arrays double with every word.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace reprise::debugger {

/// Of code; more is not shown.
inline constexpr std::size_t kMaxSpirvBytes = std::size_t{1} << 20U;

/// A specialisation constant, as the code declares it.
struct SpirvConstant {
  std::uint32_t number = 0;  // that specialises it
  std::string name;          // empty if the code has none
  bool operator==(const SpirvConstant&) const = default;
};

struct SpirvText {
  std::vector<std::string> lines;  // printable
  std::vector<SpirvConstant> constants;
  std::string problem;  // a sentence if there are no lines
};

/// `code` as it lies in memory, of either byte order.
SpirvText spirv_text(std::span<const std::byte> code);

}  // namespace reprise::debugger
