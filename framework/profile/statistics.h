// Aggregate functions that SQLite 3.40 lacks: percentile(x, p) with p from 0 to 100, between two
// values where p falls between them; median(x); stddev(x), of a sample. NULLs are left out; of too
// few values the result is NULL.
#pragma once

struct sqlite3;

namespace reprise::profile {

/// SQLite's result code.
int add_statistics(sqlite3* connection);

}  // namespace reprise::profile
