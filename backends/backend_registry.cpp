#include "backends/backend_registry.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "backends/cpu/cpu_backend.h"
#include "backends/vulkan/vulkan_backend.h"
#include "reprise/open_device.h"

namespace reprise {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<BackendFactory> factories{
#ifdef REPRISE_VULKAN
      {"vulkan", REPRISE_VERSION, vulkan::enumerate, vulkan::open},
#endif
      {"cpu", REPRISE_VERSION, cpu::enumerate, cpu::open}};
  std::size_t built_in = factories.size();
};

Registry& registry() {
  static Registry all;
  return all;
}

bool is_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

bool is_device_type(std::string_view word) {
  constexpr std::array<std::string_view, 3> kTypes{"discrete", "integrated", "virtual"};
  return std::ranges::count(kTypes, word) != 0;
}

std::vector<BackendFactory> all_backends() {
  const std::lock_guard lock(registry().mutex);
  return registry().factories;
}

std::vector<BackendName> backends() {
  std::vector<BackendName> names;
  for (const BackendFactory& factory : all_backends()) {
    names.push_back({factory.name, factory.version});
  }
  return names;
}

void register_backend(BackendFactory factory) {
  const auto named = [&](const BackendFactory& known) { return known.name == factory.name; };
  if (!is_name(factory.name) || factory.name == "auto" || is_device_type(factory.name)) {
    throw_invalid_argument(
        "A backend cannot be named (", factory.name,
        "): a name has lower-case letters, digits and '_', and is not auto, discrete, "
        "integrated or virtual.");
  }
  if (!factory.enumerate || !factory.open) {
    throw_invalid_argument("The backend (", factory.name,
                           ") needs functions to enumerate and to open devices.");
  }
  const std::lock_guard lock(registry().mutex);
  if (std::ranges::any_of(registry().factories, named)) {
    throw_invalid_argument("There is a backend named (", factory.name, ") already.");
  }
  registry().factories.push_back(std::move(factory));
}

bool unregister_backend(std::string_view name) {
  const std::lock_guard lock(registry().mutex);
  auto& factories = registry().factories;
  const auto first = factories.begin() + static_cast<std::ptrdiff_t>(registry().built_in);
  const auto it =
      std::find_if(first, factories.end(), [&](const BackendFactory& f) { return f.name == name; });
  if (it == factories.end()) {
    return false;
  }
  factories.erase(it);
  return true;
}

}  // namespace reprise
