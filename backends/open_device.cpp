#include "reprise/open_device.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "backends/backend_registry.h"
#include "backends/vulkan/vulkan_backend.h"

namespace reprise {
namespace {

/// A device and how it is opened.
struct Candidate {
  FoundDevice found;
  BackendFactory factory;
  std::size_t index = 0;
  Device open(const OpenOptions& options) const { return Device(factory.open(index, options)); }
};

/// Of one backend, or of all: asking a driver takes a while.
std::vector<Candidate> candidates(std::string_view backend = {}) {
  std::vector<Candidate> all;
  for (const BackendFactory& factory : all_backends()) {
    if (!backend.empty() && factory.name != backend) {
      continue;
    }
    std::size_t index = 0;
    for (DeviceDescription& device : factory.enumerate()) {
      device.info.backend_version = factory.version;
      const std::string name = factory.name + ":" + std::to_string(index);
      all.push_back(
          {{name, std::move(device.info), std::move(device.capabilities)}, factory, index++});
    }
  }
  return all;
}

std::string list_devices() {
  std::string list;
  for (const Candidate& c : candidates()) {
    list += (list.empty() ? "" : ", ") + c.found.name + " (" + c.found.info.name + ")";
  }
  return "the devices are: " + list + ".";
}

[[noreturn]] void none(std::string_view name, const std::string& why) {
  throw_error(ErrorCode::unsupported, "There is no device (", name, "): ", why, "; ",
              list_devices());
}

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same_letter) != text.end();
}

std::optional<std::size_t> number(std::string_view digits) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size() && !digits.empty()
             ? std::optional(value)
             : std::nullopt;
}

/// A GPU, then the CPU.
Candidate best() {
  for (const Candidate& c : candidates()) {
    if (c.found.info.type != "cpu") {
      return c;
    }
  }
  return candidates("cpu").front();
}

Candidate of_type(std::string_view type) {
  for (const Candidate& c : candidates()) {
    if (c.found.info.type == type) {
      return c;
    }
  }
  none(type, "no device is of this type");
}

/// `which`: what follows the colon.
Candidate of_backend(std::string_view name, std::string_view backend, std::string_view which) {
  std::vector<Candidate> own = candidates(backend);
  const std::string count = std::to_string(own.size()) + " " + std::string(backend) +
                            (own.size() == 1 ? " device was found" : " devices were found");
  if (const auto index = number(which)) {
    if (*index >= own.size()) {
      none(name, count);
    }
    return own[*index];
  }
  std::erase_if(own, [&](const Candidate& c) { return !contains(c.found.info.name, which); });
  if (own.empty()) {
    none(name, count + ", none with (" + std::string(which) + ") in its name");
  }
  if (own.size() > 1) {
    throw_invalid_argument("(", which, ") is in the names of ", own.size(), " devices; ",
                           list_devices());
  }
  return own[0];
}

Candidate named(std::string_view name) {
  if (name == "auto") {
    return best();
  }
  if (is_device_type(name)) {
    return of_type(name);
  }
  const std::size_t colon = name.find(':');
  const std::string_view word = name.substr(0, colon);
  const std::string_view which = colon == std::string_view::npos ? "0" : name.substr(colon + 1);
  const auto known = backends();
  if (std::ranges::find(known, word, &BackendName::name) == known.end() || which.empty()) {
    throw_invalid_argument(
        "A device is named auto, discrete, integrated, virtual, a backend (cpu, vulkan) or "
        "<backend>:<number or part of its name>, not (",
        name, "); ", list_devices());
  }
  return of_backend(name, word, which);
}

}  // namespace

std::vector<FoundDevice> enumerate() {
  std::vector<FoundDevice> devices;
  for (Candidate& c : candidates()) {
    devices.push_back(std::move(c.found));
  }
  return devices;
}

Device open_device(std::string_view name, const OpenOptions& options) {
  return named(name).open(options);
}

Device open_device(const DeviceRequirements& wanted, const OpenOptions& options) {
  std::vector<Candidate> all = candidates();
  std::ranges::stable_sort(all, {}, [](const Candidate& c) {
    const bool gpu = c.found.info.type != "cpu";
    return gpu ? 0 : c.factory.name == "cpu" ? 1 : 2;
  });
  std::string lacks;
  for (const Candidate& c : all) {
    const auto lines = unmet(wanted, c.found.info, c.found.capabilities);
    if (lines.empty()) {
      return c.open(options);
    }
    lacks += "\n" + c.found.name + " (" + c.found.info.name + ")";
    for (const std::string& line : lines) {
      lacks += "\n  " + line;
    }
  }
  throw_error(ErrorCode::unsupported, "No device has all that is wanted:", lacks);
}

std::future<Device> open_device_async(std::string name, OpenOptions options) {
  return std::async(std::launch::async, [name = std::move(name), options = std::move(options)] {
    return open_device(name, options);
  });
}

std::uint64_t validation_message_count([[maybe_unused]] const Device& device) {
#ifdef REPRISE_VULKAN
  if (device.info().backend == "vulkan") {
    return vulkan::validation_message_count(device.backend());
  }
#endif
  return 0;
}

}  // namespace reprise
