// Ends the program where a query does not end: SQLite looks for a wish to stop between its steps,
// not inside one function, and printf('%.*c', 1000000000, 'x') is one. A query has written nothing.
#pragma once
#include <chrono>
#include <stop_token>
#include <thread>

namespace reprise::cli {

class HardEnd {
 public:
  /// After that time, or once `stop` asks, what runs while this lives has a second to end. Then the
  /// program ends with a sentence and status 1.
  HardEnd(std::chrono::milliseconds time, std::stop_token stop);

 private:
  std::jthread watch_;
};

}  // namespace reprise::cli
