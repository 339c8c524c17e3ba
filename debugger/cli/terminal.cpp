#include "debugger/cli/terminal.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <limits>
#include <mutex>
#include <sys/ioctl.h>

namespace reprise::cli {
namespace {

// A signal handler can do little more than set a flag; a thread looks at it.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);
constexpr std::chrono::milliseconds kLook{20};
constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  const bool terminal = ioctl(fileno(stdout), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return terminal ? size.ws_col : std::numeric_limits<std::size_t>::max();
}

Interrupt::Interrupt() {
  interrupted = false;
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t s = 0; s < kSignals.size(); ++s) {
    sigaction(kSignals[s], nullptr, &before_[s]);
    if (before_[s].sa_handler != SIG_IGN) {  // nohup
      sigaction(kSignals[s], &action, nullptr);
    }
  }
  watch_ = std::jthread([this](const std::stop_token& end) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    while (!end.stop_requested()) {
      if (interrupted) {
        source_.request_stop();
        return;
      }
      ended.wait_for(lock, end, kLook, [] { return false; });
    }
  });
}

Interrupt::~Interrupt() {
  for (std::size_t s = 0; s < kSignals.size(); ++s) {
    sigaction(kSignals[s], &before_[s], nullptr);
  }
}

}  // namespace reprise::cli
