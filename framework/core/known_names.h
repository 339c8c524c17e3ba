// The names there are, for errors about one that is unknown.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "reprise/core/error.h"

namespace reprise {

/// "x, pos"; "none" if there are none.
template <class Items, class NameOf = std::identity>
std::string names_of(const Items& items, NameOf name_of = {}) {
  std::string names;
  for (const auto& item : items) {
    names += names.empty() ? "" : ", ";
    names += std::invoke(name_of, item);
  }
  return names.empty() ? "none" : names;
}

/// The place of the item with a name; 0xFFFFFFFF, kNoIndex of graphs, if there is none.
template <class Items, class NameOf>
std::uint32_t index_named(const Items& items, std::string_view name, NameOf name_of) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (std::invoke(name_of, items[i]) == name) {
      return static_cast<std::uint32_t>(i);
    }
  }
  return 0xFFFFFFFF;
}

/// "The graph 'decode' has no input (y); its inputs are: x, pos."
[[noreturn]] inline void throw_unknown_name(std::string_view owner, std::string_view kind,
                                            std::string_view name, std::string_view known) {
  throw_error(ErrorCode::unknown_name, owner, " has no ", kind, " (", name, "); its ", kind,
              "s are: ", known, ".");
}

/// The item with a name.
/// Errors: unknown_name.
template <class Items, class NameOf>
auto& require_named(Items& items, std::string_view owner, std::string_view kind,
                    std::string_view name, NameOf name_of) {
  const std::uint32_t index = index_named(items, name, name_of);
  if (index == 0xFFFFFFFF) {
    throw_unknown_name(owner, kind, name, names_of(items, name_of));
  }
  return items[index];
}

}  // namespace reprise
