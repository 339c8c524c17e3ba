// A folder of golden cases as tests/golden/README.md describes it: cases.tsv and golden.bin. Reads
// and checks; runs nothing. The folder is hostile until checked: every tensor of a loaded set lies
// inside the blob, has the bytes its extents ask for and fits a Shape.
#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reprise/core/dtype.h"
#include "reprise/core/shape.h"

namespace golden {

struct GoldenTensor {
  std::string name;
  reprise::DType dtype = reprise::DType::f32;
  std::array<std::int64_t, 4> ne{};  // fastest dimension first, all at least 1
  std::span<const std::byte> bytes;  // of the set's blob

  std::int64_t elements() const { return ne[0] * ne[1] * ne[2] * ne[3]; }
  /// Slowest dimension first, leading ones dropped while the rank stays at least `min_rank`.
  reprise::Shape shape(std::size_t min_rank = 1) const;
};

// NOLINTNEXTLINE(bugprone-exception-escape): nlohmann::json checks itself when moved
struct GoldenCase {
  std::string name, op, tier, compare;
  double tol = 0;
  std::optional<double> tol_vs_exact;
  nlohmann::json params;
  std::vector<GoldenTensor> inputs, outputs;
  std::optional<GoldenTensor> exact;  // of the first output; present if tol_vs_exact is

  /// Throws invalid_argument if the case has no such input.
  const GoldenTensor& input(const std::string& name) const;
  const GoldenTensor* find_input(const std::string& name) const;
  const GoldenTensor& output(const std::string& name) const;
  /// Parameters, checked. Errors: invalid_argument if absent, of another type or out of range.
  float real(const std::string& key) const;
  std::int64_t integer(const std::string& key, std::int64_t low, std::int64_t high) const;
  std::string text(const std::string& key) const;
  std::array<std::int64_t, 4> extents(const std::string& key, std::int64_t low,
                                      std::int64_t high) const;
};

struct GoldenSet {
  std::vector<std::byte> blob;
  std::vector<GoldenCase> cases;
};

/// Throws io if a file cannot be read, invalid_argument naming the line if one is malformed.
GoldenSet load_set(const std::filesystem::path& folder);

}  // namespace golden
