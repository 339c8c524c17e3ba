#include "tests/profile_faults/file_state.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "framework/profile/graph_rows.h"
#include "framework/profile/profile_check.h"
#include "tests/profile/sql.h"

namespace reprise::test {
namespace {

/// Of "table(column,column)" what follows `after`, without the parenthesis.
std::string columns_of(std::string_view table, std::string_view after) {
  const std::size_t first = table.find(after) + after.size();
  return std::string(table.substr(first, table.size() - first - 1));
}

/// The rows of a table that belongs to graphs, with what does not depend on ids of the file.
std::string rows_of(const std::string& schema, std::string_view table) {
  const std::string name(table.substr(0, table.find('(')));
  std::string columns = columns_of(table, "(graph_id,");
  const std::size_t kernel = columns.find("kernel_id");
  if (kernel != std::string::npos) {
    columns.replace(
        kernel, std::string("kernel_id").size(),
        "(SELECT k.name || k.spec_json FROM " + schema + ".kernels k WHERE k.id=kernel_id)");
  }
  return "SELECT '" + name + "', (SELECT g.content_hash FROM " + schema +
         ".graphs g WHERE g.id=graph_id) AS hash, " + columns + " FROM " + schema + "." + name;
}

std::string without(const std::string& rows, const std::string& others) {
  return "SELECT * FROM (" + rows + ") EXCEPT SELECT * FROM (" + others + ");";
}

}  // namespace

std::string integrity(const std::filesystem::path& path) {
  return sql(path, "PRAGMA integrity_check; PRAGMA foreign_key_check");
}

std::string graphs_that_differ(const std::filesystem::path& path,
                               const std::filesystem::path& sound) {
  std::string query = "ATTACH '" + sound.string() + "' AS sound;";
  const std::string graphs =
      "SELECT 'graphs', " + columns_of(profile::GraphRows::kGraph, "(") + " FROM ";
  query += without(graphs + "main.graphs", graphs + "sound.graphs");
  for (const std::string_view table : profile::kGraphTables) {
    const std::string here = rows_of("main", table);
    const std::string there = rows_of("sound", table);
    query += without(here, there);
    query += without(there + " WHERE hash IN (SELECT content_hash FROM main.graphs)", here);
  }
  return sql(path, query);
}

std::string findings(const std::filesystem::path& path) {
  std::string text;
  for (const ProfileFinding& finding : check_profile(path)) {
    text += finding.about + ": " + finding.message + "\n";
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> files_of(const std::filesystem::path& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.emplace_back(entry.path().filename().string(),
                       entry.is_regular_file() ? bytes_of_file(entry.path()) : "");
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace reprise::test
