// What a profiling database is after something went wrong, asked of SQLite itself.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace reprise::test {

/// What SQLite's checks find; "ok" if nothing.
std::string integrity(const std::filesystem::path& path);

/// Graphs whose rows are not those of the same graph in `sound`, or are not all there; tables and
/// content hashes, one per line. Empty if every graph of the file is as it is there.
std::string graphs_that_differ(const std::filesystem::path& path,
                               const std::filesystem::path& sound);

/// What check_profile finds, one per line: "drops: run 1 lacks ...".
std::string findings(const std::filesystem::path& path);

/// Names and bytes of all files of a folder, by name.
std::vector<std::pair<std::string, std::string>> files_of(const std::filesystem::path& folder);

std::string bytes_of_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace reprise::test
