#include "framework/profile/merge.h"
#include "framework/profile/new_file.h"
#include "framework/profile/schema.h"
#include "reprise/profile/cancelled.h"

namespace reprise {
namespace profile {
namespace {

/// The last part of a path.
std::string file_name(const std::string& column) {
  return column + "=substr(" + column + ", length(rtrim(" + column + ", replace(" + column +
         ", '/', '')))+1)";
}

/// Only what the schema knows was copied; of that, everything that tells where and of what.
void scrub(Database& database) {
  Transaction transaction(database);
  for (const std::string& sql :
       {std::string("DELETE FROM meta WHERE key NOT IN ('created_utc', 'created_by')"),
        std::string("UPDATE hosts SET hostname='scrubbed', kernel=NULL, machine_id_hash='host ' || "
                    "id"),
        std::string("UPDATE builds SET flags='scrubbed ' || id"),
        std::string("UPDATE devices SET device_uuid='device ' || id, driver_uuid=''"),
        "UPDATE runs SET argv_json=NULL, env_json=NULL, pid=NULL, notes=NULL, " + file_name("app") +
            ", " + file_name("model_path"),
        "UPDATE nodes SET " + file_name("src_file"),
        std::string("UPDATE kernels SET source=NULL, source_path=NULL, spirv=NULL"),
        std::string("UPDATE replays SET state=NULL"),
        std::string("UPDATE events SET message='scrubbed'"),
        "UPDATE comparisons SET " + file_name("reference"), std::string("DELETE FROM snapshots")}) {
    database.execute(sql);
  }
  transaction.commit();
}

}  // namespace
}  // namespace profile

void scrub_profile(const std::filesystem::path& path, const std::filesystem::path& out,
                   const std::stop_token& stop) {
  profile::NewFile file(out);
  try {
    profile::Database database(file.path(), profile::Database::Mode::write);
    database.execute(profile::kSchemaSql);
    database.stop_when([&stop] { return stop.stop_requested(); });
    profile::merge_into(database, std::span(&path, 1), file.path(), stop);
    profile::scrub(database);
    database.execute("VACUUM");  // free pages and ends of pages still hold what was there
  } catch (const profile::SqliteError& error) {
    if (error.interrupted()) {
      throw Cancelled();
    }
    throw;
  }
  file.publish();
}

}  // namespace reprise
