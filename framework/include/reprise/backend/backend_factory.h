// Registration of a backend: built in, or added by a program.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reprise/backend/backend.h"
#include "reprise/core/open_options.h"

namespace reprise {

/// A device that can be opened.
struct DeviceDescription {
  DeviceInfo info;
  BackendCapabilities capabilities;
};

struct BackendFactory {
  /// The first word of its devices' names: lower-case letters, digits and '_'.
  std::string name;
  std::string version;
  /// Lists devices in the order open() counts them. A machine without a driver is an empty list,
  /// not an error.
  std::function<std::vector<DeviceDescription>()> enumerate;
  std::function<std::shared_ptr<Backend>(std::size_t index, const OpenOptions& options)> open;
};

}  // namespace reprise
