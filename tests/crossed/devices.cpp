#include "tests/crossed/devices.h"

#include <map>
#include <tuple>

#include "tests/testing.h"

namespace reprise::crossed {
namespace {

using Key = std::tuple<Where, bool, bool, int, bool>;

std::map<Key, Device>& devices() {
  static std::map<Key, Device> all;
  return all;
}

/// Closes devices while main() runs: afterwards the validation layer has destroyed its tables.
class CloseDevices : public ::testing::Environment {
 public:
  void TearDown() override { devices().clear(); }
};
const auto* const kCloseDevices = ::testing::AddGlobalTestEnvironment(new CloseDevices);

}  // namespace

Device device_for(const Setup& setup, bool validated) {
  const bool cpu = setup.where == Where::cpu;
  const Key key{setup.where, setup.mapped, setup.replays, setup.threads, validated && !cpu};
  const auto known = devices().find(key);
  if (known != devices().end()) {
    return known->second;
  }
  const std::string name = cpu ? "cpu" : "vulkan";
  OpenOptions options = testing::test_options(name);
  options.map_device_memory = setup.mapped;
  options.replays = setup.replays;
  options.validation = validated && !cpu;
  if (cpu) {
    options.threads = static_cast<unsigned>(setup.threads);
  } else {
    constexpr std::array kOfPlaces{KernelFamily::portable, KernelFamily::lanes, KernelFamily::gpu};
    options.kernels = kOfPlaces[static_cast<std::size_t>(setup.where) - 1];
  }
  return devices().emplace(key, open_device(name, options)).first->second;
}

}  // namespace reprise::crossed
