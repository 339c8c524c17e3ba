// The folder of tensor files beside a profiling database.
#pragma once
#include <set>
#include <stop_token>

#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Copies the files that snapshots name from beside the databases they came from to beside `to`,
/// and says so in the rows. Returns how many snapshots have none; a link is none. If it throws
/// nothing is left there. Throws Cancelled once `stop` asks.
std::uint64_t copy_tensors(Database& database, std::span<const std::filesystem::path> from,
                           const std::filesystem::path& to, const std::stop_token& stop);

/// The tensor files that a database names in the folder of its own. Files of others may lie there
/// too: only what was named before and is no longer is ever removed.
class NamedTensors {
 public:
  /// `path` is that of the database. Throws io if it names files and the folder is a link, which
  /// may lead to anything.
  NamedTensors(Database& database, const std::filesystem::path& path);
  /// Removes the regular files that the database has stopped to name, and the folder if it is empty
  /// then.
  void remove_unneeded(Database& database) const;

 private:
  static std::set<std::string> hashes(Database& database, const std::filesystem::path& path);
  std::filesystem::path path_, folder_;
  std::set<std::string> named_;
};

}  // namespace reprise::profile
