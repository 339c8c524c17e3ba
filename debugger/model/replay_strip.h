// All replays of a capture in as many columns as there are pixels.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "debugger/model/statistics.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

/// Later ones are told about first.
enum class ReplayKind : std::uint8_t { normal, warm_up, outlier, skipped, not_finite, failed };
inline constexpr std::size_t kReplayKinds = 6;
ReplayKind kind_of(const ReplayRow& row, std::optional<std::uint64_t> p95_ns);
const char* name_of(ReplayKind kind);

struct StripColumn {
  std::size_t first = 0, last = 0;  // rows, both included
  std::size_t tallest = 0;          // the row shown
  std::uint64_t duration_ns = 0;    // of it
  ReplayKind kind = ReplayKind::normal;
};

struct ReplayStrip {
  std::vector<StripColumn> columns;
  std::array<std::size_t, kReplayKinds> counts{};  // of replays, by kind
  std::uint64_t scale_ns = 0;                      // of a full column: taller ones are cut
  /// Without warm-ups, failures, and at least the longest, which would be it among few.
  std::optional<std::uint64_t> p95_ns;
};

/// At most `columns` of them, each as many rows wide as any other, give or take one.
/// `not_finite`: ids, ascending, of those in which a NaN or infinity was seen.
ReplayStrip make_strip(std::span<const ReplayRow> rows, std::size_t columns,
                       std::span<const std::int64_t> not_finite = {});
/// The column that holds a row.
std::size_t column_of(std::size_t row, std::size_t rows, std::size_t columns);

/// "token 17, pos 3": the state block of a row by the graph's fields, what changes from replay to
/// replay first.
std::string state_text(const Capture& capture, const ReplayTable& table, std::size_t row);

}  // namespace reprise::debugger
