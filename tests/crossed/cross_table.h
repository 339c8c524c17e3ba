// What goes together: of each two things that a user may ask for at once, whether they work, are
// refused, or never meet. docs/states.md shows the table.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "reprise/session/graph_executor.h"

namespace reprise::crossed {

enum class Meeting : std::uint8_t {
  works,    // programs of tests/crossed have both; or the test that is named
  refused,  // by an error with this sentence
  none,     // one of them cannot have the other, for this reason
};

struct Cell {
  const char *a, *b;  // names of states
  Meeting meeting;
  const char* text;
  std::function<void(GraphExecutor&)> provoke{};  // refused: throws
};

/// The cells that are not plain: in all others programs of tests/crossed have both.
const std::vector<Cell>& cells();

/// As the page has it. Throws std::logic_error, naming the states, for a cell of which nothing is
/// known: no program can have both, and cells() does not say why.
std::string cross_table();

}  // namespace reprise::crossed
