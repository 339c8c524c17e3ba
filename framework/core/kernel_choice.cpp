#include "reprise/core/kernel_choice.h"

namespace reprise {

std::string_view name_of(KernelFamily family) {
  constexpr std::string_view kNames[] = {"portable", "lanes", "gpu"};
  return kNames[static_cast<std::size_t>(family)];
}

std::optional<KernelFamily> kernel_family_of(std::string_view name) {
  for (const KernelFamily family :
       {KernelFamily::portable, KernelFamily::lanes, KernelFamily::gpu}) {
    if (name == name_of(family)) {
      return family;
    }
  }
  return std::nullopt;
}

std::string_view name_of(Precision precision) {
  return precision == Precision::exact ? "exact" : "fast";
}

std::optional<Precision> precision_of(std::string_view name) {
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    if (name == name_of(precision)) {
      return precision;
    }
  }
  return std::nullopt;
}

}  // namespace reprise
