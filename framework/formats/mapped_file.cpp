#include "framework/formats/mapped_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "reprise/core/error.h"

namespace reprise {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path.string()) {
  // O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor_ < 0) {
    fail("open");
  }
  try {
    const std::size_t size = size_now();
    if (size == 0) {  // mmap refuses an empty range
      return;
    }
    void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (start == MAP_FAILED) {
      fail("map");
    }
    bytes_ = {static_cast<const std::byte*>(start), size};
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

MappedFile::~MappedFile() {
  if (descriptor_ < 0) {
    return;
  }
  if (!bytes_.empty()) {
    // munmap takes a pointer to mutable although the range is read-only.
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  ::close(descriptor_);
}

void MappedFile::require_unchanged() const {
  if (descriptor_ < 0) {
    return;
  }
  const std::size_t now = size_now();
  if (now != bytes_.size()) {
    throw_error(ErrorCode::io, "The file '", path_, "' changes while it is read: its size is (",
                now, ") bytes, but was ", bytes_.size(), ".");
  }
}

std::size_t MappedFile::size_now() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) {
    fail("inspect");
  }
  if (!S_ISREG(status.st_mode)) {
    throw_invalid_argument("The path '", path_, "' is not a regular file.");
  }
  return static_cast<std::size_t>(status.st_size);
}

void MappedFile::fail(const char* action) const {
  const int reason = errno;
  throw_error(ErrorCode::io, "Cannot ", action, " the file '", path_,
              "': ", std::generic_category().message(reason), ".");
}

}  // namespace reprise
