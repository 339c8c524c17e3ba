// Profiling databases as nobody writes them: bytes changed anywhere, or rows and tables that SQLite
// takes but no writer makes.
#pragma once
#include <filesystem>
#include <random>
#include <string>

namespace reprise::test {

/// Flips bits, swaps, copies, zeroes or fills pages, cuts or appends, or changes numbers of the
/// header or of a page. `what` becomes what was done.
std::string with_changed_bytes(std::string bytes, std::mt19937_64& random, std::string& what);

/// Runs one to four statements out of a list of hostile ones on the file; those that SQLite does
/// not take change nothing.
void make_hostile(const std::filesystem::path& path, std::mt19937_64& random, std::string& what);

}  // namespace reprise::test
