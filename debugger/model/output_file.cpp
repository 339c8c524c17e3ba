#include "debugger/model/output_file.h"

#include <fstream>

#include "framework/core/new_file.h"
#include "reprise/core/error.h"

namespace reprise::debugger {

void write_output(const std::filesystem::path& path,
                  const std::function<void(std::ostream&)>& write, const std::stop_token& stop) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (file) {
      write(file);
    }
    file.close();
    if (!file) {
      throw_error(ErrorCode::io, "The file (", path.string(), ") cannot be written.");
    }
    return;
  }
  NewFile file(path, NewFile::Existing::replace, stop);
  write(file.stream());
  file.publish();
}

}  // namespace reprise::debugger
