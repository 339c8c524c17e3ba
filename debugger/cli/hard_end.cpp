#include "debugger/cli/hard_end.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace reprise::cli {

HardEnd::HardEnd(std::chrono::milliseconds time, std::stop_token stop)
    : watch_([time, stop = std::move(stop)](const std::stop_token& done) {
        using Clock = std::chrono::steady_clock;
        constexpr std::chrono::milliseconds kLook{20}, kGrace{1000};
        std::mutex mutex;
        std::condition_variable_any changed;
        std::unique_lock lock(mutex);
        Clock::time_point end = Clock::now() + time + kGrace;
        bool asked = false;
        while (!done.stop_requested()) {
          const Clock::time_point now = Clock::now();
          if (stop.stop_requested() && !asked) {
            asked = true;
            end = now + kGrace;
          }
          if (now >= end) {
            std::fputs(
                "error: The query does not stop in the middle of one function of SQLite; the "
                "program ends without its answer.\n",
                stderr);
            std::_Exit(1);
          }
          changed.wait_for(lock, done, kLook, [] { return false; });
        }
      }) {}

}  // namespace reprise::cli
