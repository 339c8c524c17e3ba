// Tests under the fault layer. The loader reads the folder of the layer from the environment when
// the first Vulkan call is made, so it is set before.
#include <cstdlib>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  setenv("XDG_DATA_HOME", REPRISE_FAULT_LAYER_DATA_HOME, 1);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
