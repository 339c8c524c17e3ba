// NewFile: the way in which everything here writes a file that others may read. The file has a
// unique name until it is whole, so nobody reads half of it, and concurrent writers of one path
// publish one whole file or the other.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <span>
#include <stop_token>

namespace reprise {

/// A file beside `path`, called "<path>.<16 random hexadecimal digits>.part". It is removed unless
/// publish() succeeds. Links are never followed: one to a regular file, or to nothing, is replaced,
/// not written through. What is neither (a device, a pipe, a socket, a folder, or a link to one) is
/// never replaced.
/// The part is locked (flock) while it is written. Parts of the same `path` that nobody has locked
/// are of writers that were killed: the constructor removes them, but on network and FUSE file
/// systems, where a lock may not be seen by all.
/// Threads: one at a time per object.
class NewFile {
 public:
  enum class Existing : std::uint8_t { replace, refuse };

  /// Once `stop` asks, writing fails, and so does publish().
  /// Errors: io with the path and the reason; invalid_argument if `path` exists and is refused, or
  /// is no regular file.
  explicit NewFile(std::filesystem::path path, Existing existing = Existing::replace,
                   std::stop_token stop = {});
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// The unique name, for whoever opens files by themselves.
  const std::filesystem::path& path() const { return part_; }
  /// Buffered; errors are kept until publish().
  std::ostream& stream();
  void write(std::span<const std::byte> bytes);
  /// Waits until the bytes are on the disk, then gives the file its name. Errors as the
  /// constructor's.
  void publish();

 private:
  class Stream;
  [[noreturn]] void fail(int error) const;
  void require_replaceable() const;
  /// False, with an errno, if another name is to be tried.
  bool make_part();
  std::filesystem::path path_, part_;
  Existing existing_;
  std::stop_token stop_;
  int file_ = -1;
  std::unique_ptr<Stream> stream_;
};

}  // namespace reprise
