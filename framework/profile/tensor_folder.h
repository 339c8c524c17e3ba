// The folder of tensor files beside a profiling database.
#pragma once
#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Removes the files that no snapshot names any more, and the folder if it is empty then.
void remove_unneeded_tensors(Database& database, const std::filesystem::path& path);

}  // namespace reprise::profile
