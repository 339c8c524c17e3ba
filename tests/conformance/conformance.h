// What every backend has to do, case by case, through the Backend interface and through sessions.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "tests/testing.h"

namespace reprise::testing {

/// How a case runs: encoded for one submission, or encoded once and submitted again and again; a
/// session as it is called, or recorded and replayed.
enum class Way : std::uint8_t { direct, recorded };

struct ConformanceCase {
  const char* name;
  /// Throws Nonconforming, or any Error that the case does not expect.
  void (*run)(const Device& device, Way way);
};
std::span<const ConformanceCase> backend_cases();
std::span<const ConformanceCase> session_cases();

class Nonconforming : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Nonconforming.
void require(bool holds, const std::string& what);
void require_error(ErrorCode code, const std::function<void()>& f);

}  // namespace reprise::testing
