#include "reprise/core/kernel_choice.h"

#include <algorithm>
#include <span>

namespace reprise {

namespace {

constexpr std::string_view kFamilies[] = {"portable", "lanes", "gpu"};
constexpr std::string_view kPrecisions[] = {"exact", "fast"};

template <class T>
std::optional<T> value_named(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<T>(found - names.begin()));
}

}  // namespace

std::string_view name_of(KernelFamily family) {
  return kFamilies[static_cast<std::size_t>(family)];
}

std::optional<KernelFamily> kernel_family_of(std::string_view name) {
  return value_named<KernelFamily>(kFamilies, name);
}

std::string_view name_of(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}

std::optional<Precision> precision_of(std::string_view name) {
  return value_named<Precision>(kPrecisions, name);
}

}  // namespace reprise
