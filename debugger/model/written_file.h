// Files that hold all that was to be written, or are not there.
#pragma once
#include <filesystem>
#include <functional>
#include <iosfwd>

namespace reprise::debugger {

/// Calls `write` with the file, which is replaced. Nothing half-written stays.
/// Errors: io if any of it cannot be written.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

}  // namespace reprise::debugger
