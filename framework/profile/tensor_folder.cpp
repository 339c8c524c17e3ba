#include "framework/profile/tensor_folder.h"

#include <fstream>

#include "framework/core/new_file.h"
#include "framework/profile/profile_snapshot.h"
#include "framework/profile/tensor_place.h"
#include "reprise/sql_query.h"

namespace reprise::profile {
namespace {

/// Files that are removed again unless they are kept, and their folder if nothing else is in it.
class NewFiles {
 public:
  NewFiles() = default;
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    std::error_code ignored;
    for (const std::filesystem::path& path : paths_) {
      std::filesystem::remove(path, ignored);
      std::filesystem::remove(path.parent_path(), ignored);
    }
  }
  void add(const std::filesystem::path& path) { paths_.push_back(path); }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::filesystem::path> paths_;
};

/// A regular file, not a link to one.
bool is_plain_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error));
}

void copy_plain_file(const std::filesystem::path& from, const std::filesystem::path& to,
                     const std::stop_token& stop) {
  std::ifstream in(from, std::ios::binary);
  NewFile out(to, NewFile::Existing::refuse, stop);
  if (!in || !(out.stream() << in.rdbuf()) || in.bad()) {
    throw_error(ErrorCode::io, "The tensor file (", from.string(), ") cannot be copied.");
  }
  out.publish();
}

struct OutsideRow {
  std::string hash, place;
};

std::vector<OutsideRow> rows_outside(Database& database) {
  return read_rows<OutsideRow>(
      database, "SELECT DISTINCT content_hash, external_path FROM snapshots WHERE data IS NULL",
      [](const Statement& row, OutsideRow& outside) {
        read_columns(row, 0, outside.hash, outside.place);
      });
}

}  // namespace

std::uint64_t copy_tensors(Database& database, std::span<const std::filesystem::path> from,
                           const std::filesystem::path& to, const std::stop_token& stop) try {
  NewFiles made;
  std::uint64_t missing = 0;
  Statement move(database,
                 "UPDATE snapshots SET external_path=? WHERE content_hash=? AND external_path=?");
  Statement count(database,
                  "SELECT count(*) FROM snapshots WHERE content_hash=? AND external_path=?");
  for (const auto& [hash, place] : rows_outside(database)) {
    const std::string new_place = tensor_place(to, hash);
    const std::filesystem::path target = to.parent_path() / new_place;
    bool found = false;
    for (const std::filesystem::path& path : from) {
      const std::filesystem::path source = path.parent_path() / place;
      if (found || !is_tensor_place(place, hash) || !is_plain_file(source)) {
        continue;
      }
      found = true;
      std::filesystem::create_directory(target.parent_path());
      if (!std::filesystem::exists(target)) {
        made.add(target);
        copy_plain_file(source, target, stop);
      }
    }
    if (found) {
      move.run(std::string_view(new_place), std::string_view(hash), std::string_view(place));
    } else {
      missing += static_cast<std::uint64_t>(
          count.find(std::string_view(hash), std::string_view(place)).value_or(0));
    }
  }
  made.keep();
  return missing;
} catch (const Error&) {
  if (stop.stop_requested()) {
    throw Cancelled();
  }
  throw;
}

NamedTensors::NamedTensors(Database& database, const std::filesystem::path& path)
    : path_(path),
      folder_(path.parent_path() / std::filesystem::path(tensor_place(path, "")).parent_path()),
      named_(hashes(database, path)) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(folder_, error);
  if (!named_.empty() && std::filesystem::is_symlink(status)) {
    throw_error(ErrorCode::io, "The folder (", folder_.string(),
                ") is a link, and files are only removed from a real folder; "
                "put the folder itself there.");
  }
}

std::set<std::string> NamedTensors::hashes(Database& database, const std::filesystem::path& path) {
  std::set<std::string> hashes;
  for (const auto& [hash, place] : rows_outside(database)) {
    if (is_tensor_place(place, hash) && place == tensor_place(path, hash)) {
      hashes.insert(hash);
    }
  }
  return hashes;
}

void NamedTensors::remove_unneeded(Database& database) const {
  const std::set<std::string> needed = hashes(database, path_);
  bool removed = false;
  for (const std::string& hash : named_) {
    const std::filesystem::path file = path_.parent_path() / tensor_place(path_, hash);
    if (!needed.contains(hash) && is_plain_file(file)) {
      removed = std::filesystem::remove(file) || removed;
    }
  }
  if (removed && std::filesystem::is_empty(folder_)) {
    std::filesystem::remove(folder_);
  }
}

}  // namespace reprise::profile
