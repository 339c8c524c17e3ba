// For tests of what is refused.
#pragma once
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reprise/core/error.h"

namespace reprise::testing {

/// Expects `f` to throw an Error of that code whose message contains every part.
template <class F>
void expect_error(ErrorCode code, const std::vector<std::string>& parts, F&& f) {
  try {
    f();
    FAIL() << "no error was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
          << "'" << part << "' is not in: " << e.what();
    }
  }
}

}  // namespace reprise::testing
