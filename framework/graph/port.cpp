#include "reprise/graph/port.h"

#include <algorithm>

#include "framework/core/known_names.h"

namespace reprise {

std::uint32_t index_of(std::span<const Port> ports, std::string_view owner, std::string_view kind,
                       std::string_view name) {
  const auto port = std::ranges::find(ports, name, &Port::name);
  if (port == ports.end()) {
    throw_unknown_name(owner, kind, name, names_of(ports, &Port::name));
  }
  return static_cast<std::uint32_t>(port - ports.begin());
}

}  // namespace reprise
