#include "framework/graph/edges.h"

#include <algorithm>
#include <map>

namespace reprise {
namespace {

// Who touched the bytes [begin, end) last: the writer, and the readers since.
struct Span {
  std::uint64_t end = 0;
  std::uint32_t writer = kNoIndex;
  std::vector<std::uint32_t> readers;
};

/// Disjoint spans of one storage by their begin.
class History {
 public:
  /// Calls f(span) for every span inside [begin, end), made exact by splitting.
  template <class F>
  void visit(std::uint64_t begin, std::uint64_t end, F&& f) {
    split(begin);
    split(end);
    std::uint64_t at = begin;
    auto it = spans_.lower_bound(begin);
    while (at < end) {
      if (it == spans_.end() || it->first > at) {
        const std::uint64_t gap_end = it == spans_.end() ? end : std::min(end, it->first);
        it = spans_.emplace_hint(it, at, Span{gap_end, kNoIndex, {}});
      }
      f(it->second);
      at = it->second.end;
      ++it;
    }
  }

 private:
  void split(std::uint64_t at) {
    auto it = spans_.upper_bound(at);
    if (it == spans_.begin()) {
      return;
    }
    --it;
    if (it->first < at && at < it->second.end) {
      Span tail = it->second;
      it->second.end = at;
      spans_.emplace(at, std::move(tail));
    }
  }
  std::map<std::uint64_t, Span> spans_;
};

}  // namespace

std::string_view name_of(HazardKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"RAW", "WAR", "WAW"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Edge> edges_of(const ComputeGraph& graph) {
  std::vector<Edge> edges;
  std::vector<History> histories(graph.storages.size());
  const auto visit = [&](const Use& use, auto&& f) {
    const GraphTensor& t = graph.tensors[use.tensor];
    histories[t.storage].visit(t.offset, t.offset + t.spec.span_bytes(), f);
  };
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const std::size_t first = edges.size();
    const auto uses = graph.uses_of(graph.nodes[n]);
    const auto add = [&](std::uint32_t src, const Use& use, HazardKind kind) {
      if (src != kNoIndex && src != n) {
        edges.push_back({src, n, use.tensor, kind});
      }
    };
    for (const Use& use : uses) {
      visit(use, [&](const Span& span) {
        if (reads(use.access)) {
          add(span.writer, use, HazardKind::raw);
        }
        if (writes(use.access)) {
          for (const std::uint32_t reader : span.readers) {
            add(reader, use, HazardKind::war);
          }
          if (!reads(use.access) && span.readers.empty()) {
            add(span.writer, use, HazardKind::waw);
          }
        }
      });
    }
    for (const Use& use : uses) {
      visit(use, [&](Span& span) {
        if (writes(use.access)) {
          span.writer = n;
          span.readers.clear();
        } else if (span.writer != n) {
          span.readers.push_back(n);
        }
      });
    }
    const auto added = edges.begin() + static_cast<std::ptrdiff_t>(first);
    std::ranges::sort(added, edges.end(), {},
                      [](const Edge& e) { return std::tuple(e.src, e.tensor, e.kind); });
    edges.erase(std::unique(added, edges.end()), edges.end());
  }
  return edges;
}

}  // namespace reprise
