// Where the contents of a tensor lie beside a profiling database: in a folder named after it, in a
// file named after what it holds.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace reprise::profile {

/// From the folder of the database: what snapshots.external_path holds.
inline std::string tensor_place(const std::filesystem::path& database, std::string_view hash) {
  return database.filename().string() + ".tensors/" + std::string(hash) + ".safetensors";
}

/// Whether a file may say so: of this or another name of the database, and in no other folder.
inline bool is_tensor_place(std::string_view place, std::string_view hash) {
  const std::size_t folder = place.find(".tensors/");
  return folder != 0 && folder < place.find('/') && hash.find_first_of("/.") == hash.npos &&
         place.substr(folder + 9) == std::string(hash) + ".safetensors";
}

}  // namespace reprise::profile
