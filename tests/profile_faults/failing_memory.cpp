#include <cstdlib>

#include <sqlite3.h>

#include "tests/profile_faults/injector.h"

namespace reprise::test {
namespace {

sqlite3_mem_methods& real() {
  static sqlite3_mem_methods methods{};
  return methods;
}

}  // namespace

void install_failing_memory() {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real());
  sqlite3_mem_methods failing = real();
  failing.xMalloc = [](int bytes) -> void* {
    return failing_memory().fails() ? nullptr : real().xMalloc(bytes);
  };
  failing.xRealloc = [](void* memory, int bytes) -> void* {
    return failing_memory().fails() ? nullptr : real().xRealloc(memory, bytes);
  };
  if (sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) != SQLITE_OK) {
    std::abort();  // SQLite was used before
  }
}

}  // namespace reprise::test
