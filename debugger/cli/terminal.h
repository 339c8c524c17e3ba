// The terminal that a command runs on: how wide it is, and how it ends commands.
#pragma once
#include <array>
#include <csignal>
#include <cstddef>
#include <stop_token>
#include <thread>

namespace reprise::cli {

/// Characters in a line of standard output; as many as there can be if it is no terminal.
std::size_t terminal_width();

/// While it lives, the first Ctrl-C, SIGTERM or SIGHUP asks its token to stop, so that what was
/// begun is taken away; the second of its kind ends the program as always. One at a time.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::array<struct sigaction, 3> before_{};
  std::stop_source source_;
  std::jthread watch_;
};

}  // namespace reprise::cli
