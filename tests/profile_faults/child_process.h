// Part of a test in a process of its own, for what cannot be undone: users, mounts.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace reprise::test {

constexpr int kSkipped = 77;

/// Runs `body` in a child; its failures are printed there and fail the test here. Skips the test if
/// `body` returns a reason for that.
template <class Body>
void in_child(const Body& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string reason = body();
    if (!reason.empty()) {
      std::printf("skipped: %s\n", reason.c_str());
    }
    std::fflush(stdout);
    _exit(::testing::Test::HasFailure() ? 1 : reason.empty() ? 0 : kSkipped);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) {
    GTEST_SKIP();
  }
  EXPECT_EQ(status, 0);
}

}  // namespace reprise::test
