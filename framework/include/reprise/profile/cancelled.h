// What a reader throws when it was asked to stop.
#pragma once
#include <exception>

namespace reprise {

class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "The reading was cancelled."; }
};

}  // namespace reprise
