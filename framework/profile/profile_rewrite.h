// Makes profiling databases smaller, safe to share, or one of several. All refuse files that a live
// process writes, and leave a file as it was, or none, if they fail or are stopped. Throw io as the
// readers do, Cancelled once `stop` asks. prune_profile() has two exceptions.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>

namespace reprise {

struct PruneOptions {
  std::optional<std::uint64_t> keep_runs{};     // the latest
  std::optional<std::uint64_t> keep_replays{};  // the latest of each graph in each run
  bool vacuum = false;                          // also give what is free back to the file system
};

struct PruneResult {
  std::uint64_t runs = 0, graphs = 0, replays = 0;  // removed
  std::uint64_t bytes_before = 0, bytes_after = 0;
};

/// Statistics of nodes stay: they are of all replays there were.
/// Once rows are removed they stay removed: where VACUUM fails or is stopped, the error says so. A
/// file of version 1 or 2 that is refused may have been brought to this version.
PruneResult prune_profile(const std::filesystem::path& path, const PruneOptions& options,
                          const std::stop_token& stop = {});

struct MergeResult {
  std::uint64_t runs = 0, graphs = 0, replays = 0;  // in the new file
  std::uint64_t shared_graphs = 0;                  // that an earlier file had too
  std::uint64_t known_runs = 0;                     // left out: an earlier file had the same run
  std::uint64_t missing_tensors = 0;                // contents that lie beside none of the files
};

/// Writes the runs of all `paths` into a new file, graphs, kernels, devices and hosts once, and the
/// contents of tensors that lie beside them beside it. Throws invalid_argument if `out` exists.
MergeResult merge_profiles(std::span<const std::filesystem::path> paths,
                           const std::filesystem::path& out, const std::stop_token& stop = {});

/// Writes a copy without what tells where it was made and of what. Numbers stay, and of texts only
/// those in a list of columns (framework/profile/scrub.cpp): names of ops, scopes, tensors, kernels
/// and devices, labels, hashes. Paths become file names; ids of hosts, UUIDs of devices, arguments,
/// environment, notes, flags of the compiler, attributes, keys of caches, sources and code of
/// kernels, texts of errors and events, state blocks and contents of tensors are gone. Throws
/// invalid_argument if `out` exists.
void scrub_profile(const std::filesystem::path& path, const std::filesystem::path& out,
                   const std::stop_token& stop = {});

}  // namespace reprise
