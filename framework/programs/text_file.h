// Texts that a user names on the command line.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

namespace reprise::programs {

/// The whole file; pipes are read to their end.
/// Errors: io if it is a directory, cannot be read or is larger than `max_bytes`.
std::string read_text(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace reprise::programs
