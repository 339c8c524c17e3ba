#include "framework/profile/table_list.h"

namespace reprise::profile {

std::vector<TableOfSchema> tables_of(Database& database) {
  std::vector<TableOfSchema> tables;
  Statement rows(
      database,
      "SELECT m.name, (SELECT c.name FROM pragma_table_info(m.name, 'main') c WHERE c.name IN "
      "('run_id', 'recording_id', 'replay_id', 'graph_id') ORDER BY instr('run_id recording_id "
      "replay_id graph_id', c.name) LIMIT 1), EXISTS(SELECT 1 FROM pragma_table_info(m.name, "
      "'main') WHERE name='id') FROM main.sqlite_schema m WHERE m.type='table' AND m.name NOT LIKE "
      "'sqlite%' ORDER BY m.rowid");
  while (rows.step()) {
    tables.push_back({rows.text(0), rows.text(1), rows.integer(2) != 0});
  }
  return tables;
}

}  // namespace reprise::profile
