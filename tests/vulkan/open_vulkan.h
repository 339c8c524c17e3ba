// The fixture of tests on a Vulkan device: opens one under validation, a software one if there is
// any, and fails the test if validation has said anything that was not expected.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backends/vulkan/vulkan_backend.h"

namespace reprise::vulkan {

/// The first software device, so results do not depend on the machine; else the first.
inline std::size_t test_device(const std::vector<DeviceDescription>& devices) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].info.type == "cpu") {
      return i;
    }
  }
  return 0;
}

class VulkanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Hazards between command buffers: the layer has no other switch for it.
    setenv("VK_LAYER_ENABLES", "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT",
           0);
    const std::vector<DeviceDescription> devices = enumerate();
    if (devices.empty()) {
      GTEST_SKIP() << "This machine has no usable Vulkan device.";
    }
    index_ = test_device(devices);
    backend_ = open_with({});
  }

  void TearDown() override {
    if (backend_ == nullptr) {
      return;
    }
    EXPECT_EQ(validation_message_count(*backend_), expected_messages_) << messages();
  }

  /// Another backend on the same device, with its messages collected here too.
  std::shared_ptr<Backend> open_with(std::chrono::milliseconds hang_timeout,
                                     const std::filesystem::path& pipeline_cache = {}) {
    return open(index_, {.validation = true,
                         .log =
                             [log = log_](LogLevel level, std::string_view text) {
                               const std::lock_guard lock(log->mutex);
                               if (level >= LogLevel::warning) {
                                 log->text.append(text).append("\n");
                               }
                             },
                         .hang_timeout = hang_timeout,
                         .pipeline_cache = pipeline_cache});
  }

  std::string messages() const {
    const std::lock_guard lock(log_->mutex);
    return log_->text;
  }
  void expect_messages(std::uint64_t count) { expected_messages_ = count; }
  Backend& device() { return *backend_; }

  std::shared_ptr<Backend> backend_;

 private:
  struct Log {
    std::mutex mutex;
    std::string text;
  };
  std::shared_ptr<Log> log_ = std::make_shared<Log>();
  std::size_t index_ = 0;
  std::uint64_t expected_messages_ = 0;
};

}  // namespace reprise::vulkan
