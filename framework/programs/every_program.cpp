// Part of every program (reprise_program of cmake/RepriseModule.cmake): nobody has to call it, so
// nobody can forget it.
// - A program whose standard output was lost does not end with status 0 (as closeout of gnulib).
// - A file that is shortened while it is mapped raises SIGBUS where it is read: the program says
//   which file and ends with status 1, whichever thread reads it, also one of a Vulkan driver.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

void write_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// std::cout has no buffer of its own: what it failed to write is an error of stdout.
void check_output() {
  const bool lost_before = std::ferror(stdout) != 0;
  const bool lost_now = std::fflush(stdout) != 0;
  if (lost_before || lost_now) {
    const char* const why = lost_now ? std::strerror(errno) : "an earlier write failed";
    write_error("error: The standard output cannot be written: ");
    write_error(why);
    write_error(".\n");
    std::_Exit(1);
  }
}

/// The lines of /proc/self/maps, without memory of the heap: the program may hold its lock.
class Mappings {
 public:
  Mappings() : descriptor_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;
  ~Mappings() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }

  /// False behind the last one. What does not fit is left out.
  bool next() {
    size_ = 0;
    for (char c = 0; ::read(descriptor_, &c, 1) == 1;) {
      if (c == '\n') {
        return true;
      }
      if (size_ < line_.size()) {
        line_[size_++] = c;
      }
    }
    return false;
  }
  bool holds(std::uintptr_t address) const {
    std::uintptr_t begin = 0, end = 0;
    const char* const last = line_.data() + size_;
    const auto first = std::from_chars(line_.data(), last, begin, 16);
    return first.ptr != last && std::from_chars(first.ptr + 1, last, end, 16).ec == std::errc() &&
           begin <= address && address < end;
  }
  /// Empty for memory of no file. Bytes that could control a terminal become '?'.
  std::string_view path() {
    char* const last = line_.data() + size_;
    char* const path = std::find(line_.data(), last, '/');
    std::replace_if(
        path, last, [](char c) { return c < ' ' || c > '~'; }, '?');
    return {path, static_cast<std::size_t>(last - path)};
  }

 private:
  int descriptor_;
  std::array<char, 4096> line_;
  std::size_t size_ = 0;
};

std::atomic_flag reporting;  // several threads may read the file at once; one says so

extern "C" void on_bus_error(int /*signal*/, siginfo_t* info, void* /*context*/) {
  while (reporting.test_and_set()) {
    ::pause();
  }
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Mappings mappings; mappings.next();) {
    if (mappings.holds(address) && !mappings.path().empty()) {
      write_error("error: The file '");
      write_error(mappings.path());
      write_error("' was shortened while it was read, or its disk failed.\n");
      std::_Exit(1);
    }
  }
  // No file's: the instruction is repeated and ends the program as it does without a handler.
  std::signal(SIGBUS, SIG_DFL);
}

const int registered = [] {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGBUS, &action, nullptr);
  return std::atexit(check_output);
}();

}  // namespace

/// In the place of the C library's, in every library of the process. Mesa's drivers block all
/// signals in their threads (u_thread_create), and a thread that blocks SIGBUS ends the process
/// without a call of its handler. This one blocks the others alone.
extern "C" int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  using KernelSet = std::uint64_t;  // a bit per signal, from 1 on
  const auto bit = [](int signal) { return KernelSet{1} << static_cast<unsigned>(signal - 1); };
  KernelSet wanted = 0;
  if (set != nullptr) {
    std::memcpy(&wanted, set, sizeof wanted);
    // The C library ends threads and changes users by the first two; it lets nobody block them.
    wanted &= ~(bit(32) | bit(33));
    wanted &= how == SIG_UNBLOCK ? ~KernelSet{0} : ~bit(SIGBUS);
  }
  if (before != nullptr) {
    sigemptyset(before);
  }
  const int saved = errno;
  const bool done = ::syscall(SYS_rt_sigprocmask, how, set == nullptr ? nullptr : &wanted, before,
                              sizeof wanted) == 0;
  const int error = done ? 0 : errno;
  errno = saved;
  return error;
}
