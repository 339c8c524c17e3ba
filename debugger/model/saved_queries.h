// Queries worth having at hand in the SQL panel.
#pragma once
#include <string>
#include <vector>

#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

struct SavedQuery {
  std::string name;  // "Slowest nodes"
  std::string sql;   // runs as it is in any SQLite client
};

/// About one capture and the whole database.
std::vector<SavedQuery> saved_queries(CaptureId id);

}  // namespace reprise::debugger
