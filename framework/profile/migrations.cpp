#include "framework/profile/migrations.h"

#include "framework/profile/schema.h"

namespace reprise::profile {
namespace {

bool has(Database& database, const char* what) {
  return database.integer("SELECT count(*) FROM " + std::string(what)) != 0;
}

/// Files of version 1 may have been made before a column was added at the end of a table, or a
/// table.
void complete_version_1(Database& database) {
  if (!has(database, "sqlite_schema WHERE name='expert_residency'")) {
    database.execute(
        "CREATE TABLE expert_residency(id INTEGER PRIMARY KEY, recording_id INT NOT NULL "
        "REFERENCES recordings(id), run_seq INT NOT NULL, layer TEXT NOT NULL, t_ns INT NOT NULL, "
        "tokens_device INT NOT NULL, tokens_host INT NOT NULL, calls_device INT NOT NULL, "
        "calls_host INT NOT NULL, hits INT NOT NULL, misses INT NOT NULL, promotions INT NOT NULL, "
        "demotions INT NOT NULL, bytes_moved INT NOT NULL, stall_ns INT NOT NULL)");
  }
  if (!has(database, "pragma_table_info('sessions') WHERE name='precision'")) {
    database.execute("ALTER TABLE sessions ADD COLUMN precision TEXT");
  }
}

void drop_views(Database& database) {
  std::string drops;
  Statement views(database,
                  "SELECT printf('DROP VIEW \"%w\";', name) FROM sqlite_schema WHERE type='view'");
  while (views.step()) {
    drops += views.text(0);
  }
  database.execute(drops);
}

void create_views(Database& database) {
  database.execute(kSchemaSql.substr(kSchemaSql.find("-- ---------- views")));
}

}  // namespace

void migrate(Database& database) {
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (version >= kSchemaVersion) {
    return;
  }
  drop_views(database);  // they name columns that may go
  if (version < 2) {
    complete_version_1(database);
    database.execute(kMigrationTo2Sql);
  }
  if (version < 3) {
    database.execute(kMigrationTo3Sql);
  }
  create_views(database);
  database.execute("PRAGMA user_version = " + std::to_string(kSchemaVersion));
}

}  // namespace reprise::profile
