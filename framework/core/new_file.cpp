#include "framework/core/new_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "reprise/core/error.h"

namespace reprise {
namespace {

constexpr std::string_view kPartSuffix = ".part";
constexpr std::size_t kPartDigits = 16;  // hexadecimal ones: 64 random bits
// What SQLite keeps beside a database that it writes itself.
constexpr std::array kCompanions{"-wal", "-shm", "-journal"};

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

std::string random_digits() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    return "";  // errno says why
  }
  std::array<char, kPartDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(bits));
  return digits.data();
}

/// Whether `name` is one that a NewFile of a file called `of` gives to its part.
bool is_part_of(std::string_view of, std::string_view name) {
  if (name.size() != of.size() + 1 + kPartDigits + kPartSuffix.size() || !name.starts_with(of) ||
      !name.ends_with(kPartSuffix) || name[of.size()] != '.') {
    return false;
  }
  return name.substr(of.size() + 1, kPartDigits).find_first_not_of("0123456789abcdef") ==
         std::string_view::npos;
}

/// Whether a lock on the file is seen by all who may write to it. File systems of a network, and
/// those of other programs (FUSE), may keep locks within this machine.
bool locks_are_shared(int file) {
  // linux/magic.h, and fs/smb/client/cifsfs.h for the SMB ones.
  constexpr std::array<std::uint32_t, 6> kElsewhere{0x6969,       // NFS
                                                    0x517B,       // SMB
                                                    0xFF534D42,   // CIFS
                                                    0xFE534D42,   // SMB 2
                                                    0x01021997,   // 9P
                                                    0x65735546};  // FUSE
  struct statfs system {};
  return fstatfs(file, &system) == 0 &&
         std::ranges::find(kElsewhere, static_cast<std::uint32_t>(system.f_type)) ==
             kElsewhere.end();
}

/// Whether `path` is the name of the open file.
bool is_name_of(const std::string& path, int file) {
  struct stat named {};
  struct stat opened {};
  return lstat(path.c_str(), &named) == 0 && fstat(file, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

void remove_part(const std::string& part) {
  unlink(part.c_str());
  for (const char* companion : kCompanions) {
    unlink((part + companion).c_str());
  }
}

/// Removes a part whose writer is dead. A live one holds its lock from before the first byte until
/// the part has another name, and nobody else removes it while this holds the lock.
void remove_dead_part(const std::string& part) {
  const int file = open(part.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    return;
  }
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && locks_are_shared(file) &&
      flock(file, LOCK_EX | LOCK_NB) == 0 && is_name_of(part, file)) {
    remove_part(part);
  }
  close(file);
}

/// Removes what writers of `path` left that were killed.
void remove_dead_parts(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (is_part_of(path.filename().native(), entry->path().filename().native())) {
      remove_dead_part(entry->path().native());
    }
  }
}

/// What lies at `path` that must not be replaced; empty if there is nothing or a regular file. A
/// link to one is replaced, others may lead to a device: /dev/stdout is a link.
std::string irreplaceable(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  const bool link = std::filesystem::is_symlink(status);
  // "/proc/self/fd/1" is whatever the process has open, also where that is a regular file.
  if (link && std::filesystem::read_symlink(path, error).native().starts_with("/proc/")) {
    return "a link to an open file of a process";
  }
  switch (link ? std::filesystem::status(path, error).type() : status.type()) {
    case std::filesystem::file_type::block:
    case std::filesystem::file_type::character:
      return link ? "a link to a device" : "a device";
    case std::filesystem::file_type::fifo:
      return link ? "a link to a pipe" : "a pipe";
    case std::filesystem::file_type::socket:
      return link ? "a link to a socket" : "a socket";
    case std::filesystem::file_type::directory:
      return link ? "a link to a folder" : "a folder";
    default:
      return "";
  }
}

}  // namespace

/// Writes into a descriptor and remembers the first error.
class NewFile::Stream final : public std::streambuf {
 public:
  Stream(int file, std::stop_token stop) : file_(file), stop_(std::move(stop)) {
    setp(bytes_.data(), bytes_.data() + bytes_.size());
  }
  std::ostream& out() { return out_; }
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
  std::ostream out_{this};
};

NewFile::NewFile(std::filesystem::path path, Existing existing, std::stop_token stop)
    : path_(std::move(path)), existing_(existing), stop_(std::move(stop)) {
  require_replaceable();
  remove_dead_parts(path_);
  int tries = 16;  // whoever looks for dead parts may take a new one for one before it is locked
  while (!make_part()) {
    if (--tries == 0) {
      fail(errno);
    }
  }
}

bool NewFile::make_part() {
  const std::string digits = random_digits();
  if (digits.empty()) {
    fail(errno);
  }
  part_ = path_.string() + "." + digits + std::string(kPartSuffix);
  // Read too: file systems that make range locks of these locks ask for it.
  file_ = open(part_.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0666);
  if (file_ < 0) {
    if (errno == EEXIST) {
      return false;
    }
    fail(errno);
  }
  if (!locks_are_shared(file_)) {
    return true;  // nobody removes it
  }
  // Where there are no such locks at all, nobody gets one on a part, so none is taken for a dead
  // one.
  const bool busy = flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!busy && is_name_of(part_, file_)) {
    return true;
  }
  close(std::exchange(file_, -1));
  errno = EEXIST;
  return false;
}

NewFile::~NewFile() {
  if (file_ >= 0) {
    remove_part(part_);  // before the lock goes
    close(file_);
  }
}

void NewFile::fail(int error) const {
  throw_error(ErrorCode::io, "The file (", path_.string(),
              ") cannot be written: ", std::generic_category().message(error), ".");
}

void NewFile::require_replaceable() const {
  std::error_code error;
  if (existing_ == Existing::refuse &&
      std::filesystem::exists(std::filesystem::symlink_status(path_, error))) {
    throw_invalid_argument("The file (", path_.string(),
                           ") exists already; it is not overwritten.");
  }
  if (const std::string kind = irreplaceable(path_); !kind.empty()) {
    throw_invalid_argument("The path (", path_.string(), ") is ", kind,
                           ", which no file replaces; name a regular file or a new one.");
  }
}

std::ostream& NewFile::stream() {
  if (stream_ == nullptr) {
    stream_ = std::make_unique<Stream>(file_, stop_);
  }
  return stream_->out();
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
  if (!refuse) {
    require_replaceable();  // again: it may have come since
  }
  const int renamed = refuse ? rename_to_new(part_.c_str(), path_.c_str())
                             : std::rename(part_.c_str(), path_.c_str());
  if (renamed != 0) {
    const int error = errno;
    require_replaceable();
    fail(error);
  }
  close(file_);
  file_ = -1;
  sync_folder(path_);
}

}  // namespace reprise
