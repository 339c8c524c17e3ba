// The runs of several profiling databases in one.
#pragma once
#include "framework/profile/profile_rewrite.h"
#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// `database` is a new one with the schema, which becomes `out`; the files are copied beside it,
/// one by one, so that none is opened for writing. Copies are named as parts of `out`, so that the
/// next command that writes it removes one that a killed process left. Throws as merge_profiles().
MergeResult merge_into(Database& database, std::span<const std::filesystem::path> paths,
                       const std::filesystem::path& out, const std::stop_token& stop);

}  // namespace reprise::profile
