#include "debugger/model/source_files.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>

#include <fmt/chrono.h>

#include "debugger/model/printable.h"
#include "framework/graph/hasher.h"

namespace reprise::debugger {
namespace {

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{4} << 20U;
constexpr std::size_t kTab = 4;

/// The regular file that a path leads to, links resolved; empty if there is none.
std::filesystem::path file_at(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path file = std::filesystem::canonical(path, error);
  return !error && std::filesystem::is_regular_file(file, error) ? file : std::filesystem::path();
}

bool lies_below(const std::filesystem::path& file, const std::filesystem::path& root) {
  return std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end();
}

std::string moment_text(std::chrono::sys_seconds moment) {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC",
                     fmt::gmtime(static_cast<std::time_t>(moment.time_since_epoch().count())));
}

std::optional<std::chrono::sys_seconds> moment_of(std::string_view utc) {
  std::tm parts{};
  std::istringstream in{std::string(utc)};
  in >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%SZ");
  return in.fail()
             ? std::nullopt
             : std::optional(std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts))));
}

/// Returns why there is no text: a sentence, or nothing.
std::string read_text(const std::filesystem::path& path, std::string& text) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) {
    return "The file cannot be read: " + error.message() + ".";
  }
  if (bytes > kMaxBytes) {
    return "The file has (" + std::to_string(bytes) + ") bytes, more than 4 MiB.";
  }
  std::ifstream stream(path, std::ios::binary);
  text.resize(bytes);
  stream.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return !stream.is_open() ? "The file cannot be opened."
         : text.empty()    ? "The file is empty."
                           : "";
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

}  // namespace

std::vector<std::string> printable_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(printable(with_spaces(line)));
  }
  return lines;
}

std::string edited_since(const SourceFile& file, std::string_view start_utc) {
  const auto start = moment_of(start_utc);
  if (file.lines.empty() || !start || file.written <= *start) {
    return "";
  }
  return "The file was written at " + moment_text(file.written) + ", after this run began (" +
         moment_text(*start) + "): its lines may be others than those recorded.";
}

SourceFiles::SourceFiles(std::vector<std::filesystem::path> roots) : roots_(std::move(roots)) {
  for (const std::filesystem::path& root : roots_) {
    std::error_code error;
    // One that is not there yet may be later.
    if (std::filesystem::path resolved = std::filesystem::weakly_canonical(root, error); !error) {
      // Without the empty part behind a slash, which no file below has.
      resolved_roots_.push_back(resolved.has_filename() ? resolved : resolved.parent_path());
    }
  }
}

bool SourceFiles::below_a_root(const std::filesystem::path& file) const {
  return std::ranges::any_of(resolved_roots_,
                             [&](const auto& root) { return lies_below(file, root); });
}

bool SourceFiles::permits(const std::filesystem::path& file) const {
  return allowed_.contains(file.parent_path()) || below_a_root(file);
}

/// A file of that very name is what the database means, wherever it lies; otherwise the longest end
/// of the name that is a file under a root.
std::filesystem::path SourceFiles::locate(const std::filesystem::path& name) const {
  if (name.is_absolute()) {
    if (std::filesystem::path file = file_at(name); !file.empty()) {
      return file;
    }
  }
  std::vector<std::filesystem::path> parts;
  for (const std::filesystem::path& part : name.relative_path().lexically_normal()) {
    if (part != ".." && part != ".") {
      parts.push_back(part);
    }
  }
  std::filesystem::path outside;
  for (std::size_t first = 0; first < parts.size(); ++first) {
    std::filesystem::path end;
    for (std::size_t p = first; p < parts.size(); ++p) {
      end /= parts[p];
    }
    for (const std::filesystem::path& root : resolved_roots_) {
      std::filesystem::path file = file_at(root / end);
      if (!file.empty() && permits(file)) {
        return file;
      }
      outside = outside.empty() ? std::move(file) : std::move(outside);
    }
  }
  return outside;
}

SourceFile SourceFiles::read(const std::string& name) {
  SourceFile file;
  constexpr std::size_t kLongestName = 4096;  // of a path
  const bool possible =
      !name.empty() && name.size() < kLongestName && name.find('\0') == std::string::npos;
  file.path = possible ? locate(name) : std::filesystem::path();
  if (file.path.empty()) {
    file.problem = "The file is neither where the recording found it nor under a source folder.";
    return file;
  }
  std::string text;
  file.problem = read_text(file.path, text);
  file.outside = !permits(file.path);
  if (file.problem.empty() && !below_a_root(file.path)) {
    const std::string hash = Hasher().text(text).hex();
    if (!file.outside) {
      agreed_.insert(hash);
    }
    file.outside = !agreed_.contains(hash);
  }
  if (file.outside) {
    file.problem = "The file (" + file.path.string() +
                   ") lies below no source folder, and the database alone says that it is one.";
    return file;
  }
  if (!file.problem.empty()) {
    return file;
  }
  std::error_code error;
  if (const auto written = std::filesystem::last_write_time(file.path, error); !error) {
    file.written =
        std::chrono::floor<std::chrono::seconds>(std::chrono::file_clock::to_sys(written));
  }
  file.lines = printable_lines(text);
  return file;
}

const SourceFile& SourceFiles::find(const std::string& name) {
  const auto known = files_.find(name);
  return known != files_.end() ? known->second : files_.emplace(name, read(name)).first->second;
}

void SourceFiles::agree(const std::set<std::string>& hashes) {
  agreed_.insert(hashes.begin(), hashes.end());
}

void SourceFiles::allow(const std::string& name) {
  allowed_.insert(find(name).path.parent_path());
  std::erase_if(files_, [](const auto& file) { return file.second.outside; });
}

}  // namespace reprise::debugger
