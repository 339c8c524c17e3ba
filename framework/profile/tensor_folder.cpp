#include "framework/profile/tensor_folder.h"

#include "framework/profile/tensor_place.h"

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

struct OutsideRow {
  std::string hash, place;
};

std::vector<OutsideRow> rows_outside(Database& database) {
  std::vector<OutsideRow> rows;
  Statement query(database,
                  "SELECT DISTINCT content_hash, external_path FROM snapshots WHERE data IS NULL");
  while (query.step()) {
    rows.push_back({query.text(0), query.text(1)});
  }
  return rows;
}

}  // namespace

std::uint64_t copy_tensors(Database& database, std::span<const std::filesystem::path> from,
                           const std::filesystem::path& to) {
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
      if (found || !is_tensor_place(place, hash) || !std::filesystem::is_regular_file(source)) {
        continue;
      }
      found = true;
      std::filesystem::create_directory(target.parent_path());
      if (!std::filesystem::exists(target)) {
        made.add(target);
        std::filesystem::copy_file(source, target);
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
}

void remove_unneeded_tensors(Database& database, const std::filesystem::path& path) {
  const std::filesystem::path folder =
      path.parent_path() / std::filesystem::path(tensor_place(path, "")).parent_path();
  Statement needed(database, "SELECT 1 FROM snapshots WHERE content_hash=? AND data IS NULL");
  std::vector<std::filesystem::path> files;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
    if (entry.path().extension() == ".safetensors") {
      files.push_back(entry.path());
    }
  }
  for (const std::filesystem::path& file : files) {
    if (!needed.find(std::string_view(file.stem().string()))) {
      std::filesystem::remove(file);
    }
  }
  if (!files.empty() && std::filesystem::is_empty(folder)) {
    std::filesystem::remove(folder);
  }
}

}  // namespace reprise::profile
