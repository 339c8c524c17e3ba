// Finds and keeps the source files that nodes name. Names come from a database, perhaps written on
// another machine: a name that does not exist here is looked for under the roots, by ever shorter
// ends of it. Only regular files of at most 4 MiB are read.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace reprise::debugger {

struct SourceFile {
  std::filesystem::path path;      // empty: not found
  std::vector<std::string> lines;  // printable, tabs expanded
  std::string problem;             // a sentence if there are no lines
};

/// Lines of a text, printable and with tabs expanded.
std::vector<std::string> printable_lines(const std::string& text);

class SourceFiles {
 public:
  explicit SourceFiles(std::vector<std::filesystem::path> roots) : roots_(std::move(roots)) {}
  /// Looked for at the first call, kept afterwards.
  const SourceFile& find(const std::string& name);
  const std::vector<std::filesystem::path>& roots() const { return roots_; }

 private:
  std::vector<std::filesystem::path> roots_;
  std::map<std::string, SourceFile> files_;
};

}  // namespace reprise::debugger
