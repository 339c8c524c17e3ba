// A regular file mapped read-only, or bytes of the caller's that stand for one. Closes and unmaps
// itself. POSIX.
// A file that another process shortens while it is mapped cannot be read safely (the kernel raises
// SIGBUS); require_unchanged() reports that case before a long read, it cannot prevent it.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace reprise {

/// Const members may be called concurrently.
class MappedFile {
 public:
  /// Errors: io if the file cannot be opened or mapped, invalid_argument if it is not a regular
  /// one.
  explicit MappedFile(const std::filesystem::path& path);
  /// `bytes` stay as they are as long as this does; `name` stands for the path.
  MappedFile(std::span<const std::byte> bytes, std::string name)
      : path_(std::move(name)), bytes_(bytes) {}
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  /// Errors: io if the file no longer has the size that was mapped.
  void require_unchanged() const;

 private:
  std::size_t size_now() const;
  [[noreturn]] void fail(const char* action) const;

  std::string path_;
  int descriptor_ = -1;  // -1: bytes of the caller's
  std::span<const std::byte> bytes_;
};

}  // namespace reprise
