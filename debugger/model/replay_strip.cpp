#include "debugger/model/replay_strip.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace reprise::debugger {

ReplayKind kind_of(const ReplayRow& row, std::optional<std::uint64_t> p95_ns) {
  if (has_failed(row)) {
    return ReplayKind::failed;
  }
  if (row.status != 0) {
    return ReplayKind::skipped;
  }
  if (row.warm_up) {
    return ReplayKind::warm_up;
  }
  const bool outlier = p95_ns && static_cast<double>(replay_duration(row).value_or(0)) >
                                     1.5 * static_cast<double>(*p95_ns);
  return outlier ? ReplayKind::outlier : ReplayKind::normal;
}

const char* name_of(ReplayKind kind) {
  switch (kind) {
    case ReplayKind::warm_up:
      return "warm-up";
    case ReplayKind::outlier:
      return "outlier";
    case ReplayKind::failed:
      return "failed";
    case ReplayKind::skipped:
      return "skipped";
    case ReplayKind::not_finite:
      return "NaN or infinity";
    default:
      return "";
  }
}

ReplayStrip make_strip(std::span<const ReplayRow> rows, std::size_t columns,
                       std::span<const std::int64_t> not_finite) {
  ReplayStrip strip;
  std::vector<std::uint64_t> durations;
  durations.reserve(rows.size());
  std::uint64_t longest = 0;
  for (const ReplayRow& row : rows) {
    const std::optional<std::uint64_t> duration = replay_duration(row);
    longest = std::max(longest, duration.value_or(0));
    if (duration && !row.warm_up && row.status == 0) {
      durations.push_back(*duration);
    }
  }
  if (!durations.empty()) {
    const auto count = static_cast<double>(durations.size());
    strip.p95_ns = quantile(durations, std::min(0.95, (count - 1) / count));
  }
  // One stall would flatten everything else.
  strip.scale_ns = strip.p95_ns && *strip.p95_ns < longest / 2 ? *strip.p95_ns * 2 : longest;
  strip.columns.resize(std::min(columns, rows.size()));
  for (std::size_t c = 0; c < strip.columns.size(); ++c) {
    StripColumn& column = strip.columns[c];
    column.first = (c * rows.size() + strip.columns.size() - 1) / strip.columns.size();
    column.last = ((c + 1) * rows.size() + strip.columns.size() - 1) / strip.columns.size() - 1;
    column.tallest = column.first;
    for (std::size_t r = column.first; r <= column.last; ++r) {
      const std::uint64_t duration = replay_duration(rows[r]).value_or(0);
      if (duration > column.duration_ns) {
        column.duration_ns = duration;
        column.tallest = r;
      }
      ReplayKind kind = kind_of(rows[r], strip.p95_ns);
      if (std::ranges::binary_search(not_finite, rows[r].id)) {
        kind = std::max(kind, ReplayKind::not_finite);
      }
      ++strip.counts[static_cast<std::size_t>(kind)];
      column.kind = std::max(column.kind, kind);
    }
  }
  return strip;
}

std::size_t column_of(std::size_t row, std::size_t rows, std::size_t columns) {
  return row * std::min(columns, rows) / rows;
}

std::string state_text(const Capture& capture, const ReplayTable& table, std::size_t row) {
  std::string carried, others;
  for (const Capture::StateField& field : capture.state_fields) {
    const std::size_t word = field.offset_bytes / 4;
    if (field.count != 1 || word >= table.state_words ||
        (row + 1) * table.state_words > table.state.size()) {
      continue;
    }
    const std::uint32_t bits = table.state[row * table.state_words + word];
    const std::string value = field.type == "f32" ? fmt::format("{}", std::bit_cast<float>(bits))
                                                  : std::to_string(static_cast<std::int32_t>(bits));
    std::string& text = field.owner == "carried" ? carried : others;
    text += (text.empty() ? "" : ", ") + field.name + " " + value;
  }
  return carried + (carried.empty() || others.empty() ? "" : ", ") + others;
}

}  // namespace reprise::debugger
