// Edges against a byte-by-byte search through earlier nodes on random graphs with partial overlaps.
#include "framework/graph/edges.h"

#include <set>
#include <tuple>

#include "tests/graph/random_graphs.h"

namespace reprise::testing {
namespace {

constexpr std::uint64_t kStorageBytes = 48;

/// Nodes over tensors that share a few storages; some strided, some empty, some used twice by a
/// node.
ComputeGraph random_graph(Rng& rng) {
  ComputeGraph graph;
  graph.storages.resize(1 + pick(rng, 3), Storage{.bytes = kStorageBytes});
  const std::size_t tensors = 1 + pick(rng, 12);
  for (std::size_t t = 0; t < tensors; ++t) {
    const auto columns = static_cast<std::int64_t>(pick(rng, 4));
    const auto rows = static_cast<std::int64_t>(1 + pick(rng, 2));
    TensorSpec spec({rows, columns}, DType::f16);
    spec.strides[0] = columns + static_cast<std::int64_t>(pick(rng, 3));
    const std::uint64_t offset = pick(rng, kStorageBytes - spec.span_bytes() + 1);
    graph.tensors.push_back(
        {.spec = spec,
         .offset = offset,
         .storage = static_cast<std::uint32_t>(pick(rng, graph.storages.size()))});
  }
  const std::size_t nodes = pick(rng, 40);
  const std::uint64_t writers = 2 + pick(rng, 6);
  for (std::size_t n = 0; n < nodes; ++n) {
    Node node;
    node.first_use = static_cast<std::uint32_t>(graph.uses.size());
    node.use_count = static_cast<std::uint8_t>(pick(rng, 5));
    for (std::uint8_t slot = 0; slot < node.use_count; ++slot) {
      const Access access = !one_in(rng, writers) ? Access::read
                            : one_in(rng, 3)      ? Access::read_write
                                                  : Access::write;
      graph.uses.push_back({static_cast<std::uint32_t>(pick(rng, tensors)), slot, access});
    }
    graph.nodes.push_back(node);
  }
  return graph;
}

/// Does node `n` access the byte, reading (or else writing)?
bool touches(const ComputeGraph& graph, std::uint32_t n, std::uint32_t storage, std::uint64_t byte,
             bool reading) {
  return std::ranges::any_of(graph.uses_of(graph.nodes[n]), [&](const Use& use) {
    const GraphTensor& t = graph.tensors[use.tensor];
    return t.storage == storage && t.offset <= byte && byte < t.offset + t.spec.span_bytes() &&
           (reading ? reads(use.access) : writes(use.access));
  });
}

using Row = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, HazardKind>;

/// Looks back from one use of one byte to its last writer, passing the readers since.
void look_back(const ComputeGraph& graph, std::uint32_t dst, const Use& use, std::uint64_t byte,
               std::set<Row>& edges) {
  const std::uint32_t storage = graph.tensors[use.tensor].storage;
  bool read_since = false;
  for (std::uint32_t src = dst; src-- > 0;) {
    if (touches(graph, src, storage, byte, false)) {
      if (reads(use.access)) {
        edges.emplace(dst, src, use.tensor, HazardKind::raw);
      } else if (!read_since) {
        edges.emplace(dst, src, use.tensor, HazardKind::waw);
      }
      return;
    }
    if (touches(graph, src, storage, byte, true)) {
      read_since = true;
      if (writes(use.access)) {
        edges.emplace(dst, src, use.tensor, HazardKind::war);
      }
    }
  }
}

std::set<Row> brute_force(const ComputeGraph& graph) {
  std::set<Row> edges;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    for (const Use& use : graph.uses_of(graph.nodes[n])) {
      const GraphTensor& t = graph.tensors[use.tensor];
      for (std::uint64_t byte = t.offset; byte < t.offset + t.spec.span_bytes(); ++byte) {
        look_back(graph, n, use, byte, edges);
      }
    }
  }
  return edges;
}

template <class F>
void for_random_graphs(F&& f) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(seed_note(seed));
  Rng rng(seed);
  std::size_t edges = 0;
  for (int i = 0; i < 200 && !::testing::Test::HasFailure(); ++i) {
    const ComputeGraph graph = random_graph(rng);
    const std::vector<Edge> found = edges_of(graph);
    f(graph, found);
    edges += found.size();
  }
  EXPECT_GT(edges, 1000U) << "the graphs are too tame to show anything";
}

TEST(Edges, AreThoseOfASearchThroughEveryByte) {
  for_random_graphs([](const ComputeGraph& graph, const std::vector<Edge>& edges) {
    std::set<Row> found;
    for (const Edge& e : edges) {
      found.emplace(e.dst, e.src, e.tensor, e.kind);
    }
    EXPECT_EQ(found, brute_force(graph));
  });
}

TEST(Edges, AreInOrderOfDstThenSrcWithoutRepetition) {
  for_random_graphs([](const ComputeGraph&, const std::vector<Edge>& edges) {
    for (std::size_t i = 1; i < edges.size(); ++i) {
      const Edge &a = edges[i - 1], &b = edges[i];
      EXPECT_LE(std::tie(a.dst, a.src), std::tie(b.dst, b.src));
      EXPECT_EQ(std::count(edges.begin(), edges.end(), a), 1);
    }
  });
}

TEST(Edges, PointForward) {
  for_random_graphs([](const ComputeGraph&, const std::vector<Edge>& edges) {
    for (const Edge& e : edges) {
      EXPECT_LT(e.src, e.dst);
    }
  });
}

TEST(Edges, OrderEveryTwoNodesThatConflict) {
  for_random_graphs([](const ComputeGraph& graph, const std::vector<Edge>& edges) {
    const std::size_t count = graph.nodes.size();
    std::vector<Touches> steps(count);
    for (std::size_t n = 0; n < count; ++n) {
      for (const Use& use : graph.uses_of(graph.nodes[n])) {
        const GraphTensor& t = graph.tensors[use.tensor];
        steps[n].push_back({{t.storage, t.offset, t.offset + t.spec.span_bytes()}, use.access});
      }
    }
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count, false));
    for (std::size_t dst = 0; dst < count; ++dst) {
      for (const Edge& e : edges) {
        if (e.dst != dst) {
          continue;
        }
        reaches[e.src][dst] = true;
        for (std::size_t before = 0; before < e.src; ++before) {
          reaches[before][dst] = reaches[before][dst] || reaches[before][e.src];
        }
      }
      for (std::size_t src = 0; src < dst; ++src) {
        EXPECT_TRUE(reaches[src][dst] || !depends(steps[src], steps[dst])) << src << " and " << dst;
      }
    }
  });
}

/// Three nodes that use one tensor in turn.
std::vector<Edge> chain(std::initializer_list<Access> accesses) {
  ComputeGraph graph;
  graph.storages.push_back({.bytes = 16});
  graph.tensors.push_back({.spec = TensorSpec({4}, DType::f32)});
  for (const Access access : accesses) {
    Node node;
    node.first_use = static_cast<std::uint32_t>(graph.uses.size());
    node.use_count = 1;
    graph.uses.push_back({0, 0, access});
    graph.nodes.push_back(node);
  }
  return edges_of(graph);
}

TEST(Edges, AWriteHidesEarlierWrites) {
  EXPECT_EQ(chain({Access::write, Access::write, Access::read}),
            (std::vector<Edge>{{0, 1, 0, HazardKind::waw}, {1, 2, 0, HazardKind::raw}}));
}

TEST(Edges, AReaderStandsBetweenTwoWrites) {
  EXPECT_EQ(chain({Access::write, Access::read, Access::write}),
            (std::vector<Edge>{{0, 1, 0, HazardKind::raw}, {1, 2, 0, HazardKind::war}}));
}

TEST(Edges, AnUpdateWaitsForTheWriterAndTheReaders) {
  EXPECT_EQ(
      chain({Access::write, Access::read, Access::read_write}),
      (std::vector<Edge>{
          {0, 1, 0, HazardKind::raw}, {0, 2, 0, HazardKind::raw}, {1, 2, 0, HazardKind::war}}));
}

TEST(Edges, ReadersAreIndependent) {
  EXPECT_TRUE(chain({Access::read, Access::read, Access::read}).empty());
}

TEST(Edges, HazardsHaveTheirUsualNames) {
  EXPECT_EQ(name_of(HazardKind::raw), "RAW");
  EXPECT_EQ(name_of(HazardKind::war), "WAR");
  EXPECT_EQ(name_of(HazardKind::waw), "WAW");
}

}  // namespace
}  // namespace reprise::testing
