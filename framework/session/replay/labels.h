// Labels: keeps an encoder's debug labels in step with the scopes of the nodes it encodes, so that
// driver tools and validation messages show them nested.
#pragma once
#include <vector>

#include "reprise/backend/backend.h"
#include "reprise/graph/compute_graph.h"

namespace reprise {

/// Not thread-safe. Call close() before the encoder's finish().
class Labels {
 public:
  explicit Labels(Encoder& encoder) : encoder_(encoder) {}
  void enter(const Names& names, std::uint32_t scope);
  void close() { close_to(0); }

 private:
  void close_to(std::size_t depth);
  Encoder& encoder_;
  std::vector<std::uint32_t> open_, path_;  // scopes, outermost first
};

}  // namespace reprise
