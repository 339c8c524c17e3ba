#include "framework/profile/table_list.h"

#include "framework/profile/profile_snapshot.h"

namespace reprise::profile {

std::vector<TableOfSchema> tables_of(Database& database) {
  return read_rows<TableOfSchema>(
      database,
      "SELECT m.name, (SELECT c.name FROM pragma_table_info(m.name, 'main') c WHERE c.name IN "
      "('run_id', 'recording_id', 'replay_id', 'graph_id') ORDER BY instr('run_id recording_id "
      "replay_id graph_id', c.name) LIMIT 1), EXISTS(SELECT 1 FROM pragma_table_info(m.name, "
      "'main') WHERE name='id') FROM main.sqlite_schema m WHERE m.type='table' AND m.name NOT LIKE "
      "'sqlite%' ORDER BY m.rowid",
      [](const Statement& row, TableOfSchema& table) {
        read_columns(row, 0, table.name, table.owner, table.has_ids);
      });
}

}  // namespace reprise::profile
