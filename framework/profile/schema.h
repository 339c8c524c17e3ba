// The schema of the profiling database, embedded at build time from schema.sql beside this file,
// its migrations, and the numbers by which a file is known to be one.
#pragma once
#include <cstdint>
#include <string_view>

namespace reprise::profile {

extern const std::string_view kSchemaSql;
extern const std::string_view kMigrationTo2Sql;  // from version 1
extern const std::string_view kMigrationTo3Sql;

inline constexpr std::int64_t kApplicationId = 0x52505253;  // 'RPRS'
inline constexpr std::int64_t kSchemaVersion = 3;

}  // namespace reprise::profile
