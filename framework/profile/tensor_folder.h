// The folder of tensor files beside a profiling database.
#pragma once
#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Copies the files that snapshots name from beside the databases they came from to beside `to`, and
/// says so in the rows. Returns how many snapshots have none. If it throws nothing is left there.
std::uint64_t copy_tensors(Database& database, std::span<const std::filesystem::path> from,
                           const std::filesystem::path& to);

/// Removes the files that no snapshot names any more, and the folder if it is empty then.
void remove_unneeded_tensors(Database& database, const std::filesystem::path& path);

}  // namespace reprise::profile
