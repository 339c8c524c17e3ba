#include <algorithm>
#include <cstddef>

#include "debugger/model/layered_graph.h"

namespace reprise::debugger {
namespace {

constexpr int kSweeps = 8;
/// Wider ranks are ordered by barycenters alone: exchanging neighbours compares all their links.
constexpr std::size_t kWidestToTranspose = 64;
constexpr std::size_t kMaxLinksToTranspose = 64;  // of one vertex in one direction

void place(LayeredGraph& graph, const std::vector<std::uint32_t>& rank) {
  for (std::uint32_t i = 0; i < rank.size(); ++i) {
    graph.vertices[rank[i]].place = i;
  }
}

/// Sorts a rank by the mean place of the neighbours in one direction; those without keep theirs.
bool sort_by_barycenter(LayeredGraph& graph, std::vector<std::uint32_t>& rank,
                        const LayeredGraph::Neighbours& neighbours,
                        std::vector<std::pair<float, std::uint32_t>>& keys) {
  keys.clear();
  for (const std::uint32_t vertex : rank) {
    const auto links = neighbours.of(vertex);
    float sum = 0;
    for (const auto& link : links) {
      sum += static_cast<float>(graph.vertices[link.vertex].place);
    }
    keys.emplace_back(links.empty() ? static_cast<float>(graph.vertices[vertex].place)
                                    : sum / static_cast<float>(links.size()),
                      vertex);
  }
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (std::is_sorted(keys.begin(), keys.end(), less)) {
    return false;
  }
  std::stable_sort(keys.begin(), keys.end(), less);
  std::transform(keys.begin(), keys.end(), rank.begin(),
                 [](const auto& key) { return key.second; });
  place(graph, rank);
  return true;
}

/// Crossings of the segments of two vertices, if `left` is left of `right`.
std::size_t crossings(const LayeredGraph& graph, const LayeredGraph::Neighbours& neighbours,
                      std::uint32_t left, std::uint32_t right) {
  std::size_t crossed = 0;
  for (const auto& a : neighbours.of(left)) {
    for (const auto& b : neighbours.of(right)) {
      crossed += graph.vertices[a.vertex].place > graph.vertices[b.vertex].place ? 1U : 0U;
    }
  }
  return crossed;
}

bool has_few_links(const LayeredGraph& graph, std::uint32_t vertex) {
  return graph.up.of(vertex).size() <= kMaxLinksToTranspose &&
         graph.down.of(vertex).size() <= kMaxLinksToTranspose;
}

/// Exchanges neighbours while that removes crossings with the ranks above and below.
void transpose(LayeredGraph& graph) {
  for (auto& rank : graph.ranks) {
    if (rank.size() > kWidestToTranspose) {
      continue;
    }
    bool better = rank.size() > 1;
    for (std::size_t round = 0; better && round < rank.size(); ++round) {
      better = false;
      for (std::size_t i = 0; i + 1 < rank.size(); ++i) {
        const std::uint32_t a = rank[i], b = rank[i + 1];
        if (!has_few_links(graph, a) || !has_few_links(graph, b)) {
          continue;
        }
        const std::size_t kept =
            crossings(graph, graph.up, a, b) + crossings(graph, graph.down, a, b);
        if (kept == 0) {
          continue;
        }
        if (crossings(graph, graph.up, b, a) + crossings(graph, graph.down, b, a) < kept) {
          std::swap(rank[i], rank[i + 1]);
          std::swap(graph.vertices[a].place, graph.vertices[b].place);
          better = true;
        }
      }
    }
  }
}

/// Number of inversions of the places below, by merge sort.
std::size_t inversions(std::vector<std::uint32_t>& values, std::vector<std::uint32_t>& scratch) {
  std::size_t crossed = 0;
  scratch.resize(values.size());
  for (std::size_t width = 1; width < values.size(); width *= 2) {
    for (std::size_t low = 0; low + width < values.size(); low += 2 * width) {
      const std::size_t middle = low + width, high = std::min(middle + width, values.size());
      std::size_t left = low, right = middle;
      for (std::size_t out = low; out < high; ++out) {
        if (right == high || (left < middle && values[left] <= values[right])) {
          scratch[out] = values[left++];
        } else {
          crossed += middle - left;
          scratch[out] = values[right++];
        }
      }
      std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(low),
                scratch.begin() + static_cast<std::ptrdiff_t>(high),
                values.begin() + static_cast<std::ptrdiff_t>(low));
    }
  }
  return crossed;
}

std::size_t all_crossings(const LayeredGraph& graph) {
  std::size_t crossed = 0;
  std::vector<std::uint32_t> places, scratch;
  for (const auto& rank : graph.ranks) {
    places.clear();
    for (const std::uint32_t vertex : rank) {
      const std::size_t from = places.size();
      for (const auto& link : graph.down.of(vertex)) {
        places.push_back(graph.vertices[link.vertex].place);
      }
      std::sort(places.begin() + static_cast<std::ptrdiff_t>(from), places.end());
    }
    crossed += inversions(places, scratch);
  }
  return crossed;
}

}  // namespace

void reduce_crossings(LayeredGraph& graph) {
  for (const auto& rank : graph.ranks) {
    place(graph, rank);
  }
  std::size_t fewest = all_crossings(graph);
  std::vector<std::vector<std::uint32_t>> best = graph.ranks;
  std::vector<std::pair<float, std::uint32_t>> keys;
  for (int sweep = 0; sweep < kSweeps && fewest > 0; ++sweep) {
    const bool downwards = sweep % 2 == 0;
    bool moved = false;
    for (std::size_t i = 1; i < graph.ranks.size(); ++i) {
      auto& rank = graph.ranks[downwards ? i : graph.ranks.size() - 1 - i];
      moved |= sort_by_barycenter(graph, rank, downwards ? graph.up : graph.down, keys);
    }
    transpose(graph);
    const std::size_t crossed = all_crossings(graph);
    if (crossed < fewest) {
      fewest = crossed;
      best = graph.ranks;
    }
    if (!moved) {
      break;
    }
  }
  graph.ranks = std::move(best);
  for (const auto& rank : graph.ranks) {
    place(graph, rank);
  }
}

}  // namespace reprise::debugger
