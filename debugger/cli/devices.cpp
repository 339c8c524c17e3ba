#include <cstdio>

#include <nlohmann/json.hpp>

#include "debugger/cli/commands.h"
#include "debugger/cli/print_json.h"
#include "reprise/core/printable.h"
#include "reprise/open_device.h"

namespace reprise::cli {
namespace {

nlohmann::json to_json(const FoundDevice& device) {
  const DeviceInfo& info = device.info;
  nlohmann::json limits = nlohmann::json::object();
  for (const auto& [name, value] : info.limits) {
    limits[name] = value;
  }
  nlohmann::json features = nlohmann::json::object();
  for (const auto& [name, value] : info.features) {
    features[name] = value;
  }
  return {{"name", device.name},
          {"backend", info.backend},
          {"device", info.name},
          {"type", info.type},
          {"driver", info.driver_name},
          {"driver_info", info.driver_info},
          {"api_version", info.api_version},
          {"timestamp_valid_bits", info.timestamp_valid_bits},
          {"limits", limits},
          {"features", features},
          {"transfer_queue", false}};
}

void print(const FoundDevice& device) {
  const DeviceInfo& info = device.info;
  std::printf("%s\n  %s, type %s\n", device.name.c_str(), printable(info.name).c_str(),
              info.type.c_str());
  std::printf("  driver %s %s%s%s\n", printable(info.driver_name).c_str(),
              printable(info.driver_info).c_str(), info.api_version.empty() ? "" : ", Vulkan ",
              info.api_version.c_str());
  for (const auto& [name, value] : info.limits) {
    std::printf("  %-36s %llu\n", name.c_str(), static_cast<unsigned long long>(value));
  }
  for (const auto& [name, value] : info.features) {
    std::printf("  %-36s %s\n", name.c_str(), value ? "yes" : "no");
  }
}

}  // namespace

void print_devices(bool json) {
  const std::vector<FoundDevice> devices = enumerate();
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const FoundDevice& device : devices) {
      list.push_back(to_json(device));
    }
    print_json(list);
    return;
  }
  for (const FoundDevice& device : devices) {
    print(device);
  }
}

}  // namespace reprise::cli
