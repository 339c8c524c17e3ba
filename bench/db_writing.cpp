#include "bench/bare_sqlite.h"
#include "bench/db_parts.h"
#include "bench/samples.h"
#include "bench/synthetic_replays.h"
#include "bench/temporary_profile.h"

namespace reprise::bench {
namespace {

constexpr std::size_t kBatch = 256;  // replays in a transaction of the writer

std::int64_t writer_cpu_ns(BareSqlite& database) {
  return database.integer("SELECT max(cpu_ns) FROM writer_health");
}

std::int64_t file_bytes(BareSqlite& database) {
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  return database.integer("SELECT page_count*page_size FROM pragma_page_count, pragma_page_size");
}

/// One file written by the library, and one with the same rows by SQLite alone.
void measure(const DbArguments& a, TimingMode mode, const std::string& name, Samples& samples) {
  const TemporaryProfile profile;
  const TemporaryProfile bare_profile;
  const auto count = static_cast<std::size_t>(a.replays);
  std::int64_t cpu_before = 0;
  std::int64_t bytes_before = 0;
  {
    SyntheticReplays replays(profile.path, static_cast<std::size_t>(a.nodes));
    {
      BareSqlite before(profile.path);
      cpu_before = writer_cpu_ns(before);
      bytes_before = file_bytes(before);
    }
    replays.write(count, mode);
  }
  { const SyntheticReplays same_graph(bare_profile.path, static_cast<std::size_t>(a.nodes)); }
  BareSqlite database(profile.path);
  BareSqlite bare(bare_profile.path);
  const double per_replay = 1.0 / static_cast<double>(a.replays);
  const double writer = static_cast<double>(writer_cpu_ns(database) - cpu_before) * per_replay;
  const double alone = static_cast<double>(database.insert_rows_into(bare, kBatch)) * per_replay;
  samples.add(name + "writer_us", writer / 1e3);
  samples.add(name + "bare_us", alone / 1e3);
  samples.add(name + "ratio", writer / alone);
  samples.add(name + "bytes",
              static_cast<double>(file_bytes(database) - bytes_before) * per_replay);
}

}  // namespace

nlohmann::ordered_json measure_writing(const DbArguments& a) {
  Samples samples;
  nlohmann::ordered_json json;
  constexpr std::pair<TimingMode, const char*> kModes[] = {{TimingMode::replay, "replay"},
                                                           {TimingMode::node, "node"}};
  for (long long r = 0; r <= a.reps; ++r) {
    for (const auto& [mode, name] : kModes) {
      measure(a, mode, name, samples);
    }
    if (r == 0) {  // warms up
      samples.clear();
    }
  }
  for (const auto& [mode, n] : kModes) {
    const std::string name = n;
    json[name] = {{"writer_cpu_us_per_replay", samples.median(name + "writer_us")},
                  {"bare_cpu_us_per_replay", samples.median(name + "bare_us")},
                  {"to_bare", samples.median(name + "ratio")},
                  {"bytes_per_replay", samples.median(name + "bytes")}};
  }
  return json;
}

}  // namespace reprise::bench
