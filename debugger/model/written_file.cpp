#include "debugger/model/written_file.h"

#include <fstream>
#include <string>

#include "reprise/core/error.h"

namespace reprise::debugger {

void write_file(const std::filesystem::path& path,
                const std::function<void(std::ostream&)>& write) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const bool opened = file.is_open();
  try {
    if (opened) {
      write(file);
      file.close();
    }
    if (!file) {
      throw Error(ErrorCode::io, "The file (" + path.string() + ") cannot be written.");
    }
  } catch (...) {
    std::error_code ignored;
    if (opened && std::filesystem::is_regular_file(path, ignored)) {
      std::filesystem::remove(path, ignored);
    }
    throw;
  }
}

}  // namespace reprise::debugger
