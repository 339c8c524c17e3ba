#include "framework/profile/tensor_folder.h"

#include "framework/profile/tensor_place.h"

namespace reprise::profile {

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
