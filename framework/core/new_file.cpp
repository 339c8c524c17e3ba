#include "reprise/core/new_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <streambuf>
#include <system_error>
#include <unistd.h>

#include "reprise/core/error.h"

namespace reprise {
namespace {

std::atomic<unsigned> parts = 0;  // of this process; each has a name of its own

/// Writes into a descriptor and remembers the first error.
class FileBuffer : public std::streambuf {
 public:
  FileBuffer(int file, std::stop_token stop) : file_(file), stop_(std::move(stop)) {
    setp(bytes_.data(), bytes_.data() + bytes_.size());
  }
  int error() const { return error_; }

 protected:
  int sync() override {
    for (const char* from = pbase(); from != pptr() && error_ == 0;) {
      const ssize_t written = stop_.stop_requested()
                                  ? -1
                                  : ::write(file_, from, static_cast<std::size_t>(pptr() - from));
      if (written >= 0) {
        from += written;
      } else if (stop_.stop_requested()) {
        error_ = ECANCELED;
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    setp(bytes_.data(), bytes_.data() + bytes_.size());
    return error_ == 0 ? 0 : -1;
  }
  int_type overflow(int_type next) override {
    if (sync() != 0) {
      return traits_type::eof();
    }
    return traits_type::eq_int_type(next, traits_type::eof())
               ? traits_type::not_eof(next)
               : sputc(traits_type::to_char_type(next));
  }

 private:
  std::array<char, 1 << 16> bytes_{};
  const int file_;
  const std::stop_token stop_;
  int error_ = 0;
};

/// rename() that fails with EEXIST where the name is taken.
int rename_to_new(const char* from, const char* to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
    return 0;
  }
  const bool unknown = errno == EINVAL || errno == ENOSYS;  // to this file system
  if (!unknown || link(from, to) != 0) {
    return -1;
  }
  unlink(from);
  return 0;
}

/// A name lasts once its folder is on the disk; file systems that cannot do that are left as they
/// are.
void sync_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file >= 0) {
    fsync(file);
    close(file);
  }
}

}  // namespace

class NewFile::Stream : private FileBuffer, public std::ostream {
 public:
  Stream(int file, std::stop_token stop)
      : FileBuffer(file, std::move(stop)), std::ostream(static_cast<FileBuffer*>(this)) {}
  using FileBuffer::error;
};

NewFile::NewFile(std::filesystem::path path, Existing existing, std::stop_token stop)
    : path_(std::move(path)), existing_(existing), stop_(std::move(stop)) {
  if (existing_ == Existing::refuse) {
    require_absent();
  }
  part_ = path_.string() + "." + std::to_string(getpid()) + "-" + std::to_string(++parts) + ".part";
  file_ = open(part_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0666);
  if (file_ < 0) {
    fail(errno);
  }
}

NewFile::~NewFile() {
  if (file_ >= 0) {
    close(file_);
    unlink(part_.c_str());
  }
}

void NewFile::fail(int error) const {
  throw Error(ErrorCode::io, "The file (" + path_.string() + ") cannot be written: " +
                                 std::generic_category().message(error) + ".");
}

void NewFile::require_absent() const {
  if (std::filesystem::exists(std::filesystem::symlink_status(path_))) {
    invalid("The file (" + path_.string() + ") exists already; it is not overwritten.");
  }
}

std::ostream& NewFile::stream() {
  if (stream_ == nullptr) {
    stream_ = std::make_unique<Stream>(file_, stop_);
  }
  return *stream_;
}

void NewFile::write(std::span<const std::byte> bytes) {
  stream().write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
}

void NewFile::publish() {
  if (!stream().flush()) {
    fail(stream_->error() == 0 ? EIO : stream_->error());
  }
  if (stop_.stop_requested()) {
    fail(ECANCELED);
  }
  if (fsync(file_) != 0) {
    fail(errno);
  }
  const bool refuse = existing_ == Existing::refuse;
  const int renamed = refuse ? rename_to_new(part_.c_str(), path_.c_str())
                             : std::rename(part_.c_str(), path_.c_str());
  if (renamed != 0) {
    const int error = errno;
    if (refuse) {
      require_absent();
    }
    fail(error);
  }
  close(file_);
  file_ = -1;
  sync_folder(path_);
}

}  // namespace reprise
