#include "debugger/model/memory_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "debugger/model/node_details.h"
#include "reprise/backend/step.h"

namespace reprise::debugger {
namespace {

std::uint64_t end_of(const MemoryStorage& storage) { return storage.offset + storage.bytes; }

/// What the planner takes for that many bytes. Numbers near 2^64 are of files nobody wrote.
std::uint64_t planned(std::uint64_t bytes) {
  const std::uint64_t rest = bytes % kStorageAlignment;
  return rest == 0 ? bytes : bytes + (kStorageAlignment - rest);
}

bool makes_sense(const Capture::Tensor& tensor, std::uint64_t arena_bytes) {
  return tensor.first_step && tensor.last_step && *tensor.first_step <= *tensor.last_step &&
         tensor.offset_bytes <= arena_bytes && tensor.bytes <= arena_bytes - tensor.offset_bytes;
}

void add(MemoryStorage& storage, const MemoryStorage& other) {
  const std::uint64_t end = std::max(end_of(storage), end_of(other));
  storage.offset = std::min(storage.offset, other.offset);
  storage.bytes = end - storage.offset;
  storage.first_step = std::min(storage.first_step, other.first_step);
  storage.last_step = std::max(storage.last_step, other.last_step);
  storage.tensors.insert(storage.tensors.end(), other.tensors.begin(), other.tensors.end());
}

/// A storage for each tensor that is no view, its views with it.
std::vector<MemoryStorage> views_as_one(const Capture& capture, MemoryMap& map) {
  std::vector<MemoryStorage> storages;
  std::vector<std::uint32_t> roots(capture.tensors.size());
  std::map<std::uint32_t, std::size_t> by_root;
  for (std::uint32_t t = 0; t < capture.tensors.size(); ++t) {
    const Capture::Tensor& tensor = capture.tensors[t];
    roots[t] = tensor.alias_of ? roots[*tensor.alias_of] : t;
    if (tensor.pool != map.pool) {
      continue;
    }
    if (!makes_sense(tensor, map.bytes)) {
      ++map.left_out;
      continue;
    }
    const MemoryStorage own{
        tensor.offset_bytes, tensor.bytes, *tensor.first_step, *tensor.last_step, {t}};
    const auto [found, fresh] = by_root.try_emplace(roots[t], storages.size());
    if (fresh) {
      storages.push_back(own);
    } else {
      add(storages[found->second], own);
    }
  }
  return storages;
}

/// Two places of a plan that live as long as each other and share bytes are one: a result that was
/// put over its operand is no view of it.
void join_shared(std::vector<MemoryStorage>& storages) {
  std::sort(storages.begin(), storages.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first_step, a.last_step, a.offset, a.tensors) <
           std::tie(b.first_step, b.last_step, b.offset, b.tensors);
  });
  std::vector<MemoryStorage> joined;
  for (MemoryStorage& storage : storages) {
    MemoryStorage* const last = joined.empty() ? nullptr : &joined.back();
    if (last != nullptr && last->first_step == storage.first_step &&
        last->last_step == storage.last_step && storage.offset < end_of(*last)) {
      add(*last, storage);
    } else {
      joined.push_back(std::move(storage));
    }
  }
  storages = std::move(joined);
}

void count_live(MemoryMap& map) {
  // Unsigned sums: what a damaged file adds up to may wrap, and comes back down.
  for (const MemoryStorage& storage : map.storages) {
    map.live[storage.first_step] += planned(storage.bytes);
    if (storage.last_step + 1 < map.live.size()) {
      map.live[storage.last_step + 1] -= planned(storage.bytes);
    }
    map.greatest_bytes = std::max(map.greatest_bytes, storage.bytes);
  }
  std::uint64_t sum = 0;
  for (std::uint32_t step = 0; step < map.live.size(); ++step) {
    sum += map.live[step];
    map.live[step] = sum;
    if (sum > map.peak_bytes) {
      map.peak_bytes = sum;
      map.peak_step = step;
    }
  }
}

/// A position in pixels of a view that is `size` long, on it or one beside it.
std::int32_t pixel(double at, float size) {
  return static_cast<std::int32_t>(std::clamp(std::round(at), -1.0, static_cast<double>(size) + 1));
}

}  // namespace

MemoryMap make_memory_map(const Capture& capture) {
  MemoryMap map;
  map.storage_of.resize(capture.tensors.size());
  const auto arena = std::find_if(capture.pools.begin(), capture.pools.end(),
                                  [](const Capture::Pool& pool) { return pool.kind == "arena"; });
  if (arena == capture.pools.end()) {
    return map;
  }
  map.pool = static_cast<std::uint32_t>(arena - capture.pools.begin());
  map.bytes = arena->bytes;
  map.live.resize(capture.steps.size());
  map.storages = views_as_one(capture, map);
  join_shared(map.storages);
  std::sort(map.storages.begin(), map.storages.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first_step, a.offset, a.tensors) <
           std::tie(b.first_step, b.offset, b.tensors);
  });
  for (std::uint32_t s = 0; s < map.storages.size(); ++s) {
    std::sort(map.storages[s].tensors.begin(), map.storages[s].tensors.end());
    for (const std::uint32_t tensor : map.storages[s].tensors) {
      map.storage_of[tensor] = s;
    }
  }
  count_live(map);
  return map;
}

std::vector<LiveTensor> live_tensors(const Capture& capture, const MemoryMap& map,
                                     std::uint32_t step) {
  std::vector<LiveTensor> live;
  for (std::uint32_t s = 0; s < map.storages.size(); ++s) {
    const MemoryStorage& storage = map.storages[s];
    if (storage.first_step <= step && step <= storage.last_step) {
      live.push_back(
          {storage.tensors.front(), storage.bytes, std::string(role_of(capture, storage)), s});
    }
  }
  for (std::uint32_t t = 0; t < capture.tensors.size(); ++t) {
    const Capture::Tensor& tensor = capture.tensors[t];
    if (tensor.pool && tensor.pool != map.pool && !tensor.alias_of) {
      live.push_back({t, tensor.bytes, tensor.role, {}});
    }
  }
  std::ranges::stable_sort(live, std::greater(), &LiveTensor::bytes);
  return live;
}

std::vector<std::uint32_t> nodes_of(const Capture& capture, const MemoryMap& map,
                                    std::span<const LiveTensor> live) {
  std::vector<bool> wanted(capture.tensors.size(), false), written(capture.tensors.size(), false);
  const auto root = [&](std::uint32_t tensor) {
    const auto storage = map.storage_of[tensor];
    return storage ? map.storages[*storage].tensors.front() : aliased(capture, tensor);
  };
  for (const LiveTensor& of : live) {
    wanted[root(of.tensor)] = true;
  }
  for (const Capture::Operand& operand : capture.operands) {
    if (operand.writes) {
      written[root(operand.tensor)] = true;
    }
  }
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t n = 0; n < capture.nodes.size(); ++n) {
    const Capture::Range& range = capture.nodes[n].operands;
    const auto operands = std::span(capture.operands).subspan(range.first, range.count);
    if (std::ranges::any_of(operands, [&](const Capture::Operand& operand) {
          const std::uint32_t of = root(operand.tensor);
          return wanted[of] && (operand.writes || !written[of]);
        })) {
      nodes.push_back(n);
    }
  }
  return nodes;
}

std::vector<std::uint32_t> storages_of_node(const Capture& capture, const MemoryMap& map,
                                            std::uint32_t node) {
  std::vector<std::uint32_t> found;
  const Capture::Range& operands = capture.nodes[node].operands;
  for (std::uint32_t o = 0; o < operands.count; ++o) {
    if (const auto storage = map.storage_of[capture.operands[operands.first + o].tensor]) {
      found.push_back(*storage);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string_view role_of(const Capture& capture, const MemoryStorage& storage) {
  for (const std::uint32_t tensor : storage.tensors) {
    if (capture.tensors[tensor].role != "activation") {
      return capture.tensors[tensor].role;
    }
  }
  return "activation";
}

std::optional<MemoryBox> memory_box(const MemoryMap& map, const MemoryView& view,
                                    std::uint32_t index) {
  const auto x_of = [&](double step) {
    return pixel((step - view.first_step) / view.steps_per_pixel, view.width);
  };
  const auto y_of = [&](double byte) {
    const auto pixels = static_cast<double>(view.height);
    return pixel(pixels - (byte - view.first_byte) / view.bytes_per_pixel, view.height);
  };
  const MemoryStorage& storage = map.storages[index];
  MemoryBox box{x_of(storage.first_step), y_of(static_cast<double>(end_of(storage))),
                x_of(storage.last_step + 1.0), y_of(static_cast<double>(storage.offset)), index};
  box.right = std::max(box.right, box.left + 1);
  box.top = std::min(box.top, box.bottom - 1);
  const auto width = static_cast<std::int32_t>(view.width);
  const auto height = static_cast<std::int32_t>(view.height);
  if (box.right <= 0 || box.left >= width || box.bottom <= 0 || box.top >= height) {
    return std::nullopt;
  }
  box.left = std::max(box.left, 0);
  box.top = std::max(box.top, 0);
  box.right = std::min(box.right, width);
  box.bottom = std::min(box.bottom, height);
  return box;
}

std::vector<MemoryBox> memory_boxes(const MemoryMap& map, const MemoryView& view) {
  std::vector<MemoryBox> boxes;
  std::map<std::array<std::int32_t, 4>, std::size_t> thin;  // positions in boxes
  for (std::uint32_t s = 0; s < map.storages.size(); ++s) {
    const std::optional<MemoryBox> box = memory_box(map, view, s);
    if (!box) {
      continue;
    }
    if (box->right == box->left + 1 || box->bottom == box->top + 1) {
      const auto [found, fresh] =
          thin.try_emplace({box->left, box->top, box->right, box->bottom}, boxes.size());
      if (!fresh) {
        MemoryBox& same = boxes[found->second];
        ++same.count;
        same.storage = map.storages[s].bytes > map.storages[same.storage].bytes ? s : same.storage;
        continue;
      }
    }
    boxes.push_back(*box);
  }
  return boxes;
}

std::vector<std::uint64_t> live_columns(const MemoryMap& map, double first_step,
                                        double steps_per_pixel, std::size_t columns) {
  std::vector<std::uint64_t> max(columns, 0);
  const auto steps = static_cast<double>(map.live.size());
  for (std::size_t c = 0; c < columns; ++c) {
    const double from = std::floor(first_step + static_cast<double>(c) * steps_per_pixel);
    const double to = std::ceil(first_step + static_cast<double>(c + 1) * steps_per_pixel);
    const auto first = static_cast<std::size_t>(std::clamp(from, 0.0, steps));
    const auto end = static_cast<std::size_t>(std::clamp(to, 0.0, steps));
    for (std::size_t step = first; step < end; ++step) {
      max[c] = std::max(max[c], map.live[step]);
    }
  }
  return max;
}

}  // namespace reprise::debugger
