// What a device lacks of what a program asks.
#include "tests/testing.h"

namespace reprise::testing {
namespace {

DeviceInfo some_device() {
  DeviceInfo info;
  info.backend = "vulkan";
  info.name = "Acme GPU 3000";
  info.type = "discrete";
  return info;
}

BackendCapabilities some_capabilities() {
  BackendCapabilities has;
  has.replays = false;
  has.float16 = has.int64 = false;
  has.max_workgroup_invocations = 256;
  has.shared_bytes = 16384;
  has.storage_buffers = 8;
  has.binding_bytes = 1000;
  has.buffer_bytes = 2000;
  has.heaps = {{.bytes = 500}, {.bytes = 9000, .device_local = false}};
  return has;
}

std::vector<std::string> lacks(const DeviceRequirements& wanted) {
  return unmet(wanted, some_device(), some_capabilities());
}

TEST(DeviceRequirements, NothingIsAskedByDefault) {
  EXPECT_EQ(lacks({}), std::vector<std::string>());
  EXPECT_EQ(unmet({}, {}, {}), std::vector<std::string>());
}

TEST(DeviceRequirements, WhatADeviceHasIsMetExactly) {
  EXPECT_EQ(lacks({.backend = "vulkan",
                   .type = "discrete",
                   .name = "gpu 3",
                   .memory_bytes = 500,
                   .binding_bytes = 1000,
                   .buffer_bytes = 2000,
                   .shared_bytes = 16384,
                   .storage_buffers = 8,
                   .workgroup_invocations = 256}),
            std::vector<std::string>());
}

TEST(DeviceRequirements, EverythingUnmetIsListedWithWhatThereIs) {
  const auto lines = lacks({.backend = "cpu",
                            .type = "integrated",
                            .name = "radeon",
                            .memory_bytes = 501,
                            .binding_bytes = 1001,
                            .buffer_bytes = 2001,
                            .shared_bytes = 16385,
                            .storage_buffers = 9,
                            .workgroup_invocations = 257,
                            .timestamps = true,
                            .replays = true,
                            .imports_host_memory = true,
                            .maps_device_memory = true,
                            .subgroup_arithmetic = true,
                            .float16 = true,
                            .int64 = true});
  const std::vector<std::string> expected{
      "backend: wanted (cpu), has (vulkan)",
      "type: wanted (integrated), has (discrete)",
      "name: wanted (radeon), has (Acme GPU 3000)",
      "bytes of memory: wanted at least (501), has (500)",
      "bytes of a tensor that a kernel binds: wanted at least (1001), has (1000)",
      "bytes of a buffer: wanted at least (2001), has (2000)",
      "bytes of shared memory: wanted at least (16385), has (16384)",
      "storage buffers of a kernel: wanted at least (9), has (8)",
      "invocations of a workgroup: wanted at least (257), has (256)",
      "timestamps: wanted, not there",
      "replays: wanted, not there",
      "imported host memory: wanted, not there",
      "mapped device memory: wanted, not there",
      "subgroup arithmetic: wanted, not there",
      "16-bit float arithmetic: wanted, not there",
      "64-bit integer arithmetic: wanted, not there"};
  EXPECT_EQ(lines, expected);
}

}  // namespace
}  // namespace reprise::testing
