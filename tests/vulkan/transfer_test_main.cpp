// Tests under the transfer layer and the fault layer. From the program down: faults, validation,
// the second queue, the driver. The loader reads the environment when the first Vulkan call is
// made, so it is set before.
#include <cstdlib>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/vulkan/transfer_layer/transfer_layer.h"

int main(int argc, char** argv) {
  setenv("XDG_DATA_HOME", REPRISE_FAULT_LAYER_DATA_HOME, 1);
  const char* dirs = std::getenv("XDG_DATA_DIRS");
  setenv("XDG_DATA_DIRS",
         (std::string(dirs == nullptr || *dirs == 0 ? "/usr/local/share:/usr/share" : dirs) + ":" +
          REPRISE_TRANSFER_LAYER_DATA_DIR)
             .c_str(),
         1);
  setenv("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation:VK_LAYER_REPRISE_transfer_queue", 1);
  // Not its validation of hazards between submissions: it does not know timeline semaphores, and
  // takes what one queue does after another for a race.
  setenv("VK_LAYER_ENABLES", "", 1);
  setenv("REPRISE_TEST_COPIED_MEMORY", "1", 1);  // mapped memory needs no uploads
  const char* late = std::getenv("REPRISE_TEST_LATE");
  if (late != nullptr && late == std::string_view("compute")) {
    reprise::transfer_layer::run_late(reprise::transfer_layer::Late::compute);
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
