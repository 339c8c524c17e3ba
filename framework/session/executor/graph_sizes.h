// GraphSizes: rows of the tables of a graph.
#pragma once
#include <cstddef>

namespace reprise {

struct GraphSizes {
  std::size_t nodes = 0, uses = 0, tensors = 0, storages = 0, attribute_bytes = 0;
};

}  // namespace reprise
