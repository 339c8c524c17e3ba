// Finding entries of a file by name without a copy of the names: indices in the order of the names.
#pragma once
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

namespace reprise {

template <class T, class Name>
std::vector<std::size_t> order_by_name(const std::vector<T>& items, Name name) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) -> std::string_view { return name(items[i]); });
  return order;
}

/// An item whose name another one has too, or nullptr.
template <class T, class Name>
const T* find_repeated(const std::vector<T>& items, const std::vector<std::size_t>& order,
                       Name name) {
  const auto twice = std::ranges::adjacent_find(
      order, {}, [&](std::size_t i) -> std::string_view { return name(items[i]); });
  return twice == order.end() ? nullptr : &items[*twice];
}

template <class T, class Name>
const T* find_named(const std::vector<T>& items, const std::vector<std::size_t>& order,
                    std::string_view wanted, Name name) {
  const auto name_at = [&](std::size_t i) -> std::string_view { return name(items[i]); };
  const auto found = std::ranges::lower_bound(order, wanted, {}, name_at);
  return found == order.end() || name_at(*found) != wanted ? nullptr : &items[*found];
}

}  // namespace reprise
