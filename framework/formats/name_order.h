// Finding entries of a file by name without a copy of the names: indices in the order of the names.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string_view>
#include <vector>

namespace reprise {

/// Names are projections: &GgufTensor::name. Calls refuse(name) for a name that two items have.
template <class T, class Name>
std::vector<std::size_t> order_by_name(const std::vector<T>& items, Name name,
                                       const std::function<void(std::string_view)>& refuse = {}) {
  const auto name_at = [&](std::size_t i) -> std::string_view {
    return std::invoke(name, items[i]);
  };
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, name_at);
  const auto twice = std::ranges::adjacent_find(order, {}, name_at);
  if (refuse && twice != order.end()) {
    refuse(name_at(*twice));
  }
  return order;
}

template <class T, class Name>
const T* find_named(const std::vector<T>& items, const std::vector<std::size_t>& order,
                    std::string_view wanted, Name name) {
  const auto name_at = [&](std::size_t i) -> std::string_view {
    return std::invoke(name, items[i]);
  };
  const auto found = std::ranges::lower_bound(order, wanted, {}, name_at);
  return found == order.end() || name_at(*found) != wanted ? nullptr : &items[*found];
}

}  // namespace reprise
