#include "framework/programs/text_file.h"

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "reprise/core/error.h"

namespace reprise::programs {

std::string read_text(const std::filesystem::path& path, std::size_t max_bytes) {
  const std::string name = "The file '" + path.string() + "' ";
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw_error(ErrorCode::io, name, "is a directory, not a text.");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw_error(ErrorCode::io, name, "cannot be read: ", std::generic_category().message(errno),
                ".");
  }
  std::string text;
  std::array<char, 65536> part;
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > max_bytes) {
      throw_error(ErrorCode::io, name, "has more than (", max_bytes,
                  ") bytes, the most that are read.");
    }
  }
  if (file.bad()) {
    throw_error(ErrorCode::io, name, "cannot be read to its end.");
  }
  return text;
}

}  // namespace reprise::programs
