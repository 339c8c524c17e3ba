// Rows as text: columns joined by '|', NULL as "NULL", rows by newlines.
#pragma once
#include <filesystem>
#include <string>

#include <sqlite3.h>

namespace reprise::test {

inline std::string sql(const std::filesystem::path& path, const std::string& query) {
  sqlite3* db = nullptr;
  sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr);
  sqlite3_busy_timeout(db, 5000);
  std::string rows;
  const auto row = [](void* out, int columns, char** values, char**) {
    auto& text = *static_cast<std::string*>(out);
    text += text.empty() ? "" : "\n";
    for (int c = 0; c < columns; ++c) {
      text += std::string(c == 0 ? "" : "|") + (values[c] == nullptr ? "NULL" : values[c]);
    }
    return 0;
  };
  char* error = nullptr;
  if (sqlite3_exec(db, query.c_str(), row, &rows, &error) != SQLITE_OK) {
    rows = std::string("error: ") + (error == nullptr ? sqlite3_errmsg(db) : error);
  }
  sqlite3_free(error);
  sqlite3_close(db);
  return rows;
}

/// The exact bytes of one value, NULs included.
inline std::string bytes_of(const std::filesystem::path& path, const std::string& query) {
  const std::string hex = sql(path, "SELECT hex(CAST((" + query + ") AS BLOB))");
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

}  // namespace reprise::test
