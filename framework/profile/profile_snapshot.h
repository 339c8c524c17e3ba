// Opens a profiling database to read one moment of it. The file may be written at the same time, be
// damaged, or be hostile.
#pragma once
#include <functional>
#include <limits>
#include <stop_token>

#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Calls `read` inside a read transaction, a second time if a writer came in between; nothing stays
/// open. Throws io if the file cannot be read, is not a profiling database, is damaged, has a newer
/// schema, or one of `tables` is none: a hostile file may have views that never end in their place.
/// Throws Cancelled once `stop` asks, also in the middle of a statement.
void read_snapshot(const std::filesystem::path& path, std::span<const char* const> tables,
                   const std::function<void(Database&)>& read, const std::stop_token& stop = {});

/// A count in a file is what somebody wrote there.
std::uint64_t count(const Statement& row, int column);
std::optional<std::uint64_t> optional_count(const Statement& row, int column);
/// Anything but NULL and whole numbers from 0 to `most`.
bool is_odd(const Statement& row, int column,
            std::int64_t max = std::numeric_limits<std::int64_t>::max());

}  // namespace reprise::profile
