#include "debugger/model/graph_scene.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "debugger/model/printable.h"

namespace reprise::debugger {
namespace {

constexpr std::size_t kLongestName = 120;  // bytes
constexpr std::size_t kMaxInputs = 3;
constexpr float kPadding = 12;              // of a frame around what is in it
constexpr std::uint32_t kMaxPadded = 3;     // frames in each other that fit between two columns
constexpr float kBeside = 44, kAbove = 12;  // around everything

std::string name_of(std::string_view name) {
  return name.size() <= kLongestName ? printable(name)
                                     : printable(name.substr(0, kLongestName)) + "\xE2\x80\xA6";
}

/// An unfolded scope and the boxes in it.
struct Cluster {
  std::uint32_t item = 0;
  std::uint32_t first = 0, end = 0;   // boxes [first, end)
  std::uint32_t levels = 1;           // of clusters in it, with itself
  std::uint32_t top = 0, bottom = 0;  // ranks
  SceneRect rect{};
  float side = 0;  // of rect, left and right of the boxes
};

/// Outer ones first.
std::vector<Cluster> clusters_of(const ScopeTree& scopes, const FoldedGraph& graph) {
  std::map<std::uint32_t, Cluster> clusters;  // by item: parents have lower numbers
  for (std::uint32_t b = 0; b < graph.boxes.size(); ++b) {
    std::uint32_t levels = 0;
    for (std::uint32_t item = scopes[graph.boxes[b].item].parent; item != 0;
         item = scopes[item].parent) {
      Cluster& cluster =
          clusters.try_emplace(item, Cluster{item, b, b, 1, 0, 0, {}, 0}).first->second;
      cluster.end = b + 1;
      cluster.levels = std::max(cluster.levels, ++levels);
    }
  }
  std::vector<Cluster> ordered;
  ordered.reserve(clusters.size());
  for (const auto& [item, cluster] : clusters) {
    ordered.push_back(cluster);
  }
  return ordered;
}

class SceneBuilder {
 public:
  SceneBuilder(const Capture& capture, const ScopeTree& scopes, const FoldState& folds)
      : capture_(capture), scopes_(scopes) {
    scene_.graph = folded_graph(capture, scopes, folds);
  }

  GraphScene build() {
    collect_edges();
    ranks_ = layout_ranks(scene_.graph.boxes.size(), edges_);
    clusters_ = clusters_of(scopes_, scene_.graph);
    const std::vector<LayoutSize> sizes = sizes_of_boxes();
    layout_ = layout_graph(sizes, edges_);
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      const LayoutPoint at = layout_.boxes[b];
      scene_.boxes[b].rect = {at, {at.x + sizes[b].width, at.y + sizes[b].height}};
    }
    add_frames();
    add_lines();
    scene_.points = std::move(layout_.points);
    scene_.bounds = {{layout_.min.x - kBeside, layout_.min.y - kAbove},
                     {layout_.max.x + kBeside, layout_.max.y + kAbove}};
    return std::move(scene_);
  }

 private:
  /// One edge of the layout for each pair of boxes, whatever connects them.
  void collect_edges() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const FoldedGraph::Edge& edge : scene_.graph.edges) {
      pairs.emplace_back(edge.src, edge.dst);
    }
    for (const FoldedGraph::Barrier& barrier : scene_.graph.barriers) {
      pairs.emplace_back(barrier.src, barrier.dst);
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    for (const auto& [src, dst] : pairs) {
      edges_.push_back({src, dst});
    }
  }

  std::vector<LayoutSize> sizes_of_boxes() {
    std::vector<LayoutSize> sizes;
    for (const FoldedGraph::Box& box : scene_.graph.boxes) {
      GraphScene::Box shown{{}, name_of(box.label), name_of(box.detail), {}};
      LayoutSize size{GraphScene::kBoxWidth, GraphScene::kBoxHeight};
      if (box.kind == ScopeTree::Kind::node && !box.inputs.empty()) {
        size.height += GraphScene::kInputsHeight;
        for (std::size_t i = 0; i < std::min(kMaxInputs, box.inputs.size()); ++i) {
          shown.inputs.push_back(name_of(capture_.tensors[box.inputs[i]].name));
        }
      }
      if (box.kind == ScopeTree::Kind::group) {
        size.height += GraphScene::kStripHeight;
      }
      sizes.push_back(size);
      scene_.boxes.push_back(std::move(shown));
    }
    for (Cluster& cluster : clusters_) {
      const auto [top, bottom] =
          std::minmax_element(ranks_.begin() + cluster.first, ranks_.begin() + cluster.end);
      cluster.top = *top;
      cluster.bottom = *bottom;
      for (std::uint32_t b = cluster.first; b < cluster.end; ++b) {
        sizes[b].above += ranks_[b] == cluster.top ? GraphScene::kHeader : 0;
        sizes[b].below += ranks_[b] == cluster.bottom ? kPadding : 0;
      }
    }
    return sizes;
  }

  void add_frames() {
    std::vector<std::vector<std::uint32_t>> by_rank;
    for (std::uint32_t b = 0; b < ranks_.size(); ++b) {
      by_rank.resize(std::max<std::size_t>(by_rank.size(), ranks_[b] + 1));
      by_rank[ranks_[b]].push_back(b);
    }
    place_clusters();
    for (const Cluster& cluster : clusters_) {
      bool alone = true;
      for (std::uint32_t r = cluster.top; alone && r <= cluster.bottom; ++r) {
        alone = std::all_of(by_rank[r].begin(), by_rank[r].end(), [&](std::uint32_t b) {
          return (b >= cluster.first && b < cluster.end) ||
                 !scene_.boxes[b].rect.overlaps(cluster.rect);
        });
      }
      if (alone) {
        scene_.frames.push_back(
            {cluster.item, cluster.rect, cluster.side, name_of(scopes_[cluster.item].name)});
      }
    }
  }

  /// Around their boxes and the clusters in them.
  void place_clusters() {
    std::map<std::uint32_t, Cluster*> by_item;
    for (Cluster& cluster : clusters_) {
      by_item[cluster.item] = &cluster;
      cluster.rect = scene_.boxes[cluster.first].rect;
      for (std::uint32_t b = cluster.first; b < cluster.end; ++b) {
        cluster.rect = cluster.rect.joined(scene_.boxes[b].rect);
      }
    }
    for (auto cluster = clusters_.rbegin(); cluster != clusters_.rend(); ++cluster) {
      const float side = cluster->levels <= kMaxPadded ? kPadding : 0;
      cluster->side += side;
      cluster->rect.min.x -= side;
      cluster->rect.max.x += side;
      cluster->rect.min.y -= GraphScene::kHeader;
      cluster->rect.max.y += kPadding;
      const auto outer = by_item.find(scopes_[cluster->item].parent);
      if (outer != by_item.end()) {
        outer->second->rect = outer->second->rect.joined(cluster->rect);
        outer->second->side = std::max(outer->second->side, cluster->side);
      }
    }
  }

  void add_lines() {
    const FoldedGraph& graph = scene_.graph;
    for (std::uint32_t i = 0; i < graph.edges.size(); ++i) {
      add_line(graph.edges[i].data ? GraphScene::LineKind::data : GraphScene::LineKind::overwrites,
               graph.edges[i].src, graph.edges[i].dst, i);
    }
    for (std::uint32_t i = 0; i < graph.barriers.size(); ++i) {
      add_line(GraphScene::LineKind::barrier, graph.barriers[i].src, graph.barriers[i].dst, i);
    }
  }

  void add_line(GraphScene::LineKind kind, std::uint32_t src, std::uint32_t dst,
                std::uint32_t index) {
    const auto edge = std::lower_bound(
        edges_.begin(), edges_.end(), std::pair(src, dst),
        [](const LayoutEdge& a, const auto& b) { return std::pair(a.src, a.dst) < b; });
    const GraphLayout::Route& route =
        layout_.routes[static_cast<std::size_t>(edge - edges_.begin())];
    SceneRect bounds{layout_.points[route.first], layout_.points[route.first]};
    for (std::uint32_t p = route.first; p < route.first + route.count; ++p) {
      bounds = bounds.joined({layout_.points[p], layout_.points[p]});
    }
    scene_.lines.push_back({kind, src, dst, index, route, bounds});
  }

  const Capture& capture_;
  const ScopeTree& scopes_;
  GraphScene scene_;
  std::vector<LayoutEdge> edges_;  // by src, then dst
  std::vector<std::uint32_t> ranks_;
  std::vector<Cluster> clusters_;
  GraphLayout layout_;
};

}  // namespace

SceneRect SceneRect::joined(const SceneRect& other) const {
  return {{std::min(min.x, other.min.x), std::min(min.y, other.min.y)},
          {std::max(max.x, other.max.x), std::max(max.y, other.max.y)}};
}

SceneRect GraphScene::rect_of(const ScopeTree::Item& item) const {
  const std::uint32_t first = graph.node_boxes[item.first];
  const std::uint32_t last = graph.node_boxes[item.first + item.count - 1];
  SceneRect rect = boxes[first].rect;
  for (std::uint32_t b = first + 1; b <= last; ++b) {
    rect = rect.joined(boxes[b].rect);
  }
  return rect;
}

GraphScene graph_scene(const Capture& capture, const ScopeTree& scopes, const FoldState& folds) {
  return capture.nodes.empty() ? GraphScene() : SceneBuilder(capture, scopes, folds).build();
}

}  // namespace reprise::debugger
