// A profiling database that is being made: it has a name of its own until it is whole.
#pragma once
#include <filesystem>
#include <functional>
#include <stop_token>

#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Makes `out` of what `fill` writes into a database that has only the schema. Nothing is left if
/// `fill` throws.
/// Errors: as NewFile's, and `out` is never replaced; Cancelled once `stop` asks.
void make_database(const std::filesystem::path& out, const std::stop_token& stop,
                   const std::function<void(Database&)>& fill);

/// Throws io if a live process writes the file. One that begins to in this moment is not seen.
void require_not_written(const std::filesystem::path& path);

/// One moment of a profiling database that nobody writes, as a file without free pages or a log.
/// `to` is empty. Throws as read_snapshot() and require_not_written().
void copy_profile(const std::filesystem::path& path, const std::filesystem::path& to,
                  const std::stop_token& stop);

}  // namespace reprise::profile
