#include "framework/profile/statistics.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

#include <sqlite3.h>

namespace reprise::profile {
namespace {

// All values of a group are in memory at once; no group needs more than this.
constexpr std::size_t kMaxValues = std::size_t{8} << 20U;

/// Memory of SQLite's heap, so that its limit is one for these values too.
template <class T>
struct SqliteAllocator {
  using value_type = T;
  T* allocate(std::size_t count) {
    void* const memory = sqlite3_malloc64(count * sizeof(T));  // the vector asks for less than 2^63
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { sqlite3_free(memory); }
  bool operator==(const SqliteAllocator&) const = default;
};
using Values = std::vector<double, SqliteAllocator<double>>;

struct Sample {
  double share = 0.5;  // of the values that lie below the one asked for
  Values values;
};

void fail(sqlite3_context* context, const char* message) {
  sqlite3_result_error(context, message, -1);
}

bool is_number(sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/// 0 to 1 of a percentage; below 0 if it is none.
double share_of(sqlite3_value* percent) {
  const double p = is_number(percent) ? sqlite3_value_double(percent) : -1;
  return p >= 0 && p <= 100 ? p / 100 : -1;
}

void take(sqlite3_context* context, int count, sqlite3_value** arguments) {
  // What SQLite keeps for a group: null at first.
  auto** sample = static_cast<Sample**>(sqlite3_aggregate_context(context, sizeof(void*)));
  const double share = count > 1 ? share_of(arguments[1]) : 0.5;
  if (share < 0) {
    return fail(context, "the second argument of percentile() is a number from 0 to 100");
  }
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) {
    return;
  }
  if (!is_number(arguments[0])) {
    return fail(context, "percentile(), median() and stddev() take numbers");
  }
  try {
    if (sample == nullptr) {
      throw std::bad_alloc();
    }
    if (*sample == nullptr) {
      *sample = new Sample{share, {}};  // deleted by the function that ends the group
    }
    if ((*sample)->share != share) {
      return fail(context, "the second argument of percentile() is the same for all rows");
    }
    if ((*sample)->values.size() == kMaxValues) {
      return sqlite3_result_error_toobig(context);
    }
    (*sample)->values.push_back(sqlite3_value_double(arguments[0]));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

/// Between the two values around the share, in proportion.
double value_at_share(Sample& sample) {
  Values& values = sample.values;
  const double rank = sample.share * static_cast<double>(values.size() - 1);
  const auto low = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), low, values.end());
  const double rest = rank - std::floor(rank);
  return rest == 0 ? *low : *low + rest * (*std::min_element(low + 1, values.end()) - *low);
}

double deviation(Sample& sample) {
  double mean = 0;
  double squares = 0;  // Welford 1962
  double n = 0;
  for (const double value : sample.values) {
    const double before = value - mean;
    mean += before / ++n;
    squares += before * (value - mean);
  }
  return std::sqrt(squares / (n - 1));
}

template <double (*result)(Sample&), std::size_t min>
void end_group(sqlite3_context* context) {
  auto** group = static_cast<Sample**>(sqlite3_aggregate_context(context, 0));
  Sample* sample = group == nullptr ? nullptr : *group;
  if (sample != nullptr && sample->values.size() >= min) {
    sqlite3_result_double(context, result(*sample));
  }
  delete sample;
}

}  // namespace

int add_statistics(sqlite3* connection) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  struct Function {
    const char* name;
    int arguments;
    void (*end)(sqlite3_context*);
  };
  for (const Function& f : {Function{"percentile", 2, end_group<value_at_share, 1>},
                            Function{"median", 1, end_group<value_at_share, 1>},
                            Function{"stddev", 1, end_group<deviation, 2>}}) {
    const int code = sqlite3_create_function_v2(connection, f.name, f.arguments, kFlags, nullptr,
                                                nullptr, take, f.end, nullptr);
    if (code != SQLITE_OK) {
      return code;
    }
  }
  return SQLITE_OK;
}

}  // namespace reprise::profile
