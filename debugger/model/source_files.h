// Finds and keeps the source files that nodes and kernels name. Names come from a database, perhaps
// written on another machine or by somebody hostile, so files are read below the roots only, after
// `..` and symbolic links were resolved; any other needs the user's consent, once for what it
// contains. A name that does not
// exist here is looked for under the roots, by ever shorter ends of it. Only regular files of at
// most 4 MiB are read.
#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::debugger {

struct SourceFile {
  std::filesystem::path path;          // links resolved; empty: not found
  std::vector<std::string> lines;      // printable, tabs expanded
  std::string problem;                 // a sentence if there are no lines
  bool outside = false;                // `path` lies below no root: read after allow() only
  std::chrono::sys_seconds written{};  // the file's modification time
};

/// Lines of a text, printable and with tabs expanded.
std::vector<std::string> printable_lines(const std::string& text);

/// The sentence that warns of a file that was written after the run that is shown began; empty if
/// it was not, and if the database does not say when that was. `start_utc` is as runs.start_utc.
std::string edited_since(const SourceFile& file, std::string_view start_utc);

class SourceFiles {
 public:
  explicit SourceFiles(std::vector<std::filesystem::path> roots);
  /// Looked for at the first call, kept until allow() is called.
  const SourceFile& find(const std::string& name);
  /// The user wants to see the file that find() found outside; those beside it are not asked about
  /// again.
  void allow(const std::string& name);
  /// Hashes of the contents of files outside that the user agreed to see, in this session or in
  /// those before: they are not asked about again.
  const std::set<std::string>& agreed() const { return agreed_; }
  void agree(const std::set<std::string>& hashes);
  const std::vector<std::filesystem::path>& roots() const { return roots_; }

 private:
  SourceFile read(const std::string& name);
  bool below_a_root(const std::filesystem::path& file) const;
  /// Returns whether it may be read: `file` has its links resolved.
  bool permits(const std::filesystem::path& file) const;
  /// The file meant by a name, links resolved; empty if there is none.
  std::filesystem::path locate(const std::filesystem::path& name) const;

  std::vector<std::filesystem::path> roots_;
  std::vector<std::filesystem::path> resolved_roots_;  // links resolved
  std::set<std::filesystem::path> allowed_;            // folders
  std::set<std::string> agreed_;
  std::map<std::string, SourceFile> files_;
};

}  // namespace reprise::debugger
