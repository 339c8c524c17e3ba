// Where random tests begin.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

namespace reprise::test {

/// The same in every run, so that a result depends on nothing but the code. REPRISE_TEST_SEED takes
/// its place: a number, or "fresh" for another one at each call (./check --long).
inline std::uint64_t test_seed() {
  constexpr std::uint64_t kWrittenDown = 20261124;
  const char* const given = std::getenv("REPRISE_TEST_SEED");
  if (given == nullptr) {
    return kWrittenDown;
  }
  return std::string_view(given) == "fresh" ? std::random_device{}()
                                            : std::strtoull(given, nullptr, 10);
}

/// For SCOPED_TRACE: what repeats the failure.
inline std::string seed_note(std::uint64_t seed) {
  return "REPRISE_TEST_SEED=" + std::to_string(seed);
}

}  // namespace reprise::test
