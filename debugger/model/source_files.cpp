#include "debugger/model/source_files.h"

#include <fstream>
#include <sstream>

#include "debugger/model/printable.h"

namespace reprise::debugger {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{4} << 20U;
constexpr std::size_t kTab = 4;

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// An absolute name as it is, or the longest end of it that is a file under one of the roots; empty
/// if there is none.
std::filesystem::path locate(const std::filesystem::path& name,
                             const std::vector<std::filesystem::path>& roots) {
  if (name.is_absolute() && is_file(name)) {
    return name;
  }
  std::vector<std::filesystem::path> parts;
  for (const std::filesystem::path& part : name.relative_path().lexically_normal()) {
    if (part != ".." && part != ".") {  // nothing outside of the roots
      parts.push_back(part);
    }
  }
  for (std::size_t first = 0; first < parts.size(); ++first) {
    std::filesystem::path end;
    for (std::size_t p = first; p < parts.size(); ++p) {
      end /= parts[p];
    }
    for (const std::filesystem::path& root : roots) {
      if (is_file(root / end)) {
        return root / end;
      }
    }
  }
  return {};
}

std::string with_spaces(const std::string& line) {
  std::string text;
  for (const char c : line) {
    if (c == '\t') {
      text.append(kTab - text.size() % kTab, ' ');
    } else if (c != '\r') {
      text += c;
    }
  }
  return text;
}

SourceFile read(const std::string& name, const std::vector<std::filesystem::path>& roots) {
  SourceFile file;
  constexpr std::size_t kLongestName = 4096;  // of a path
  const bool possible =
      !name.empty() && name.size() < kLongestName && name.find('\0') == std::string::npos;
  file.path = possible ? locate(name, roots) : std::filesystem::path();
  if (file.path.empty()) {
    file.problem = "The file is neither where the recording found it nor under a source folder.";
    return file;
  }
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file.path, error);
  if (error || bytes > kMostBytes) {
    file.problem = error ? "The file cannot be read: " + error.message() + "."
                         : "The file has (" + std::to_string(bytes) + ") bytes, more than 4 MiB.";
    return file;
  }
  std::ifstream stream(file.path, std::ios::binary);
  for (std::string line; std::getline(stream, line);) {
    file.lines.push_back(printable(with_spaces(line)));
  }
  if (file.lines.empty()) {
    file.problem = stream.is_open() ? "The file is empty." : "The file cannot be opened.";
  }
  return file;
}

}  // namespace

std::vector<std::string> printable_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(printable(with_spaces(line)));
  }
  return lines;
}

const SourceFile& SourceFiles::find(const std::string& name) {
  const auto known = files_.find(name);
  return known != files_.end() ? known->second
                               : files_.emplace(name, read(name, roots_)).first->second;
}

}  // namespace reprise::debugger
