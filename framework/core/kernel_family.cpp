#include "reprise/core/kernel_family.h"

namespace reprise {

std::string_view name_of(KernelFamily family) {
  constexpr std::string_view kNames[] = {"portable", "lanes", "gpu"};
  return kNames[static_cast<std::size_t>(family)];
}

}  // namespace reprise
