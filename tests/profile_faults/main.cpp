#include <gtest/gtest.h>

#include "tests/profile_faults/injector.h"

int main(int argc, char** argv) {
  reprise::test::install_failing_memory();
  reprise::test::install_failing_files();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
