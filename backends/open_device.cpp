#include "reprise/open_device.h"

#include <charconv>

#include "backends/cpu/cpu_backend.h"
#include "backends/vulkan/vulkan_backend.h"

namespace reprise {
namespace {

struct BackendEntry {
  std::string_view name;
  std::vector<DeviceInfo> (*enumerate)();
  std::shared_ptr<Backend> (*open)(std::size_t index, const OpenOptions& options);
};

constexpr BackendEntry kBackends[] = {{"vulkan", vulkan::enumerate, vulkan::open},
                                      {"cpu", cpu::enumerate, cpu::open}};

std::string list_devices() {
  std::string list;
  for (const FoundDevice& device : find_devices()) {
    list += (list.empty() ? "" : ", ") + device.name + " (" + device.info.name + ")";
  }
  return list;
}

Device open_auto(const OpenOptions& options) {
  for (const BackendEntry& backend : kBackends) {
    const std::vector<DeviceInfo> found = backend.enumerate();
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].type != "cpu") {
        return Device(backend.open(i, options));
      }
    }
  }
  return Device(cpu::open(0, options));
}

}  // namespace

std::vector<FoundDevice> find_devices() {
  std::vector<FoundDevice> devices;
  for (const BackendEntry& backend : kBackends) {
    std::size_t index = 0;
    for (DeviceInfo& info : backend.enumerate()) {
      devices.push_back(
          {std::string(backend.name) + ":" + std::to_string(index++), std::move(info)});
    }
  }
  return devices;
}

Device open_device(std::string_view name, const OpenOptions& options) {
  if (name == "auto") {
    return open_auto(options);
  }
  const std::size_t colon = name.find(':');
  const std::string_view word = name.substr(0, colon);
  std::size_t index = 0;
  bool number = true;
  if (colon != std::string_view::npos) {
    const std::string_view digits = name.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    number = error == std::errc() && end == digits.data() + digits.size();
  }
  for (const BackendEntry& backend : kBackends) {
    if (backend.name != word || !number) {
      continue;
    }
    const std::size_t count = backend.enumerate().size();
    if (index >= count) {
      throw Error(ErrorCode::unsupported,
                  "There is no device (" + std::string(name) + "): " + std::to_string(count) + " " +
                      std::string(word) +
                      " devices were found; the devices are: " + list_devices() + ".");
    }
    return Device(backend.open(index, options));
  }
  invalid("A device is named auto, cpu, vulkan or vulkan:<number>, not (" + std::string(name) +
          "); the devices are: " + list_devices() + ".");
}

std::uint64_t validation_message_count(const Device& device) {
  return device.info().backend == "vulkan" ? vulkan::validation_message_count(device.backend()) : 0;
}

}  // namespace reprise
