#include "tests/profile/mutated_file.h"

#include <array>
#include <functional>
#include <span>

#include "tests/profile/sql.h"

namespace reprise::test {
namespace {

constexpr std::size_t kPage = 8192, kHeader = 100;

using Random = std::mt19937_64;

char any_byte(Random& random) { return static_cast<char>(random() & 0xFFU); }

/// Where a whole page begins.
std::size_t any_page(const std::string& bytes, Random& random) {
  return random() % (bytes.size() / kPage) * kPage;
}

/// A number that is often at an end of its range.
void put_number(std::string& bytes, std::size_t at, std::size_t size, Random& random) {
  const std::uint64_t kind = random() % 4;
  for (std::size_t b = 0; b < size && at + b < bytes.size(); ++b) {
    bytes[at + b] = kind == 0   ? '\0'
                    : kind == 1 ? '\xFF'
                    : kind == 2 ? (b == 0 ? '\x7F' : '\xFF')
                                : any_byte(random);
  }
}

void flip_bits(std::string& bytes, Random& random) {
  for (std::uint64_t flips = 1 + random() % 30; flips > 0; --flips) {
    bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
  }
}

void swap_pages(std::string& bytes, Random& random) {
  const std::size_t a = any_page(bytes, random);
  const std::size_t b = any_page(bytes, random);
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(a),
                   bytes.begin() + static_cast<std::ptrdiff_t>(a + kPage),
                   bytes.begin() + static_cast<std::ptrdiff_t>(b));
}

void copy_page(std::string& bytes, Random& random) {
  const std::string page = bytes.substr(any_page(bytes, random), kPage);
  bytes.replace(any_page(bytes, random), kPage, page);
}

void zero_page(std::string& bytes, Random& random) {
  bytes.replace(any_page(bytes, random), kPage, kPage, '\0');
}

void fill_page(std::string& bytes, Random& random) {
  const std::size_t page = any_page(bytes, random);
  for (std::size_t b = 0; b < kPage; ++b) {
    bytes[page + b] = any_byte(random);
  }
}

void cut(std::string& bytes, Random& random) { bytes.resize(random() % bytes.size()); }

void append(std::string& bytes, Random& random) {
  bytes.append(random() % (3 * kPage), any_byte(random));
}

void change_header(std::string& bytes, Random& random) {
  put_number(bytes, 16 + random() % (kHeader - 16), 1 + random() % 4, random);
}

/// The header of a page, its pointers to cells, or a cell.
void change_page(std::string& bytes, Random& random) {
  const std::size_t page = any_page(bytes, random) + (random() % 2 == 0 ? 0 : kPage / 2);
  for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
    put_number(bytes, page + random() % 64, 1 + random() % 4, random);
  }
}

struct Change {
  const char* name;
  void (*make)(std::string&, Random&);
};
constexpr std::array kChanges{
    Change{"bits", flip_bits},   Change{"swapped", swap_pages},   Change{"copied", copy_page},
    Change{"zeroed", zero_page}, Change{"filled", fill_page},     Change{"cut", cut},
    Change{"appended", append},  Change{"header", change_header}, Change{"page", change_page},
};

constexpr const char* kHostile[] = {
    // Graphs that are none.
    "INSERT OR IGNORE INTO edges SELECT graph_id, dst, src, tensor_idx, kind FROM edges",
    "UPDATE OR IGNORE edges SET src=dst",
    "UPDATE edges SET tensor_idx=4000000000 WHERE dst%2=0",
    "UPDATE OR IGNORE nodes SET idx=idx*1000000000 WHERE idx>1",
    "DELETE FROM nodes WHERE idx=0",
    "UPDATE steps SET node_idx=10000, kernel_id=999 WHERE idx%2=0",
    "UPDATE steps SET node_idx=-1, grid_x=-7, push=x'0102'",
    "UPDATE steps SET node_idx=0",
    "UPDATE tensors SET alias_of=idx, pool_idx=77",
    "UPDATE tensors SET alias_of=(idx+1)%3",
    "UPDATE tensors SET nbytes=-9223372036854775808, offset_bytes=9223372036854775807",
    "UPDATE tensors SET first_use=last_use+1, last_use=0",
    "UPDATE tensors SET offset_bytes=9223372036854775807, nbytes=9223372036854775807, pool_idx=0",
    "UPDATE node_tensors SET tensor_idx=-5, node_idx=node_idx",
    "UPDATE barriers SET cause_src=1000000000000, before_step=-1",
    "UPDATE barriers SET pool_idx=1e300, size_bytes=-1",
    "UPDATE pools SET size_bytes=-1",
    "UPDATE pools SET size_bytes=9223372036854775807",
    "UPDATE graphs SET node_count=9223372036854775807, step_count=-1, arena_bytes=-5",
    "UPDATE graphs SET arena_bytes=9223372036854775807, live_peak_bytes=-1",
    "UPDATE state_fields SET count=9223372036854775807, offset_bytes=-4",
    "UPDATE OR IGNORE recordings SET graph_id=id*7, device_id=-1",
    "UPDATE OR IGNORE replays SET recording_id=77 WHERE seq%2=0",
    "UPDATE OR IGNORE graphs SET id=9223372036854775807 WHERE id=1",
    "UPDATE OR IGNORE runs SET id=9223372036854775807 WHERE id=2",
    "UPDATE OR IGNORE runs SET id=-id, host_id=99",
    "UPDATE OR IGNORE replays SET id=9223372036854775807 WHERE id=3",
    "UPDATE OR IGNORE buffers SET id=9223372036854775807, t_alloc_ns=-9223372036854775808",
    "DELETE FROM hosts",
    "DELETE FROM devices",
    "DELETE FROM graphs",
    "DELETE FROM runs",
    "DELETE FROM recordings",
    "DELETE FROM kernels",
    "DELETE FROM steps",
    // Times that nobody measured.
    "UPDATE replays SET device_ns=-9223372036854775808, timing_mode=200, status=-1",
    "UPDATE replays SET device_ns=9223372036854775807, submit_ns=9223372036854775807, "
    "prepare_ns=9223372036854775807, wait_ns=9223372036854775807, t_submit_ns=9223372036854775807",
    "UPDATE replays SET device_ns=9e999, submit_ns=-9e999, t_submit_ns='x', seq=x'FF'",
    "UPDATE step_timings SET data=zeroblob(3)",
    "UPDATE step_timings SET unit_ns=9223372036854775807",
    "UPDATE step_timings SET unit_ns=1048576, data=zeroblob(length(data)-4)||x'FEFFFFFF'",
    "UPDATE step_timings SET data='text', codec=7",
    "UPDATE node_stats SET n=-1, sum_ns=9223372036854775807, hist=x'ffffffffffffffffffff'",
    "UPDATE node_stats SET n=9223372036854775807, sum_ns=9223372036854775807, mean_ns=9e999, "
    "stddev_ns=-9e999, p50_ns=9223372036854775807, p95_ns=-1",
    "UPDATE OR IGNORE node_stats SET idx=-5, timing_mode=99, hist=zeroblob(100000)",
    "UPDATE runs SET heartbeat_ns=9223372036854775807, exit_state=NULL, t_start_ns='x'",
    "UPDATE writer_health SET timestamp_bias_ns=-1",
    // Names.
    "UPDATE nodes SET op='%s%n##op'||char(27)||'[31m'||char(0)||'x', scope=char(8238)||'../../'",
    "UPDATE nodes SET scope=replace(hex(zeroblob(5000)),'00','a/'), label=char(7,10,13,155)",
    "UPDATE nodes SET op=CAST(x'ff00fe' AS TEXT), attributes_json='{\"a\":', src_file=x'00'",
    "UPDATE graphs SET name='<b>\"'||char(0,27)||'\\'||char(10)",
    "UPDATE runs SET label=char(27)||']0;x'||char(7), app=x'FF', exit_state=char(27)||'[2J'",
    "UPDATE tensors SET name='%s##'||char(27), shape_json='[1,', dtype=x'00'",
    "UPDATE devices SET name=char(27)||'[2J'||replace(hex(zeroblob(2000)),'00','device ')",
    "UPDATE drops SET what=char(27)",
    "UPDATE kernels SET name=x'1b5b', spec_json='['",
    "INSERT INTO drops(run_id,t_ns,what,reason,count) VALUES(1,1,char(27),x'1b',-1)",
    "INSERT INTO events(run_id,t_ns,severity,source,message) VALUES(9,-1,99,'',char(27,0))",
    "INSERT INTO pass_decisions VALUES(1,'p'||char(27),3,'shared',5,7,'far',9223372036854775807)",
    // Tables that are something else.
    "DROP TABLE node_stats; CREATE VIEW node_stats AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL "
    "SELECT i+1 FROM r) SELECT i AS graph_id FROM r",
    "PRAGMA legacy_alter_table=1; ALTER TABLE nodes RENAME TO n; CREATE VIEW nodes AS SELECT * "
    "FROM "
    "n a, n b, n c",
    "DROP VIEW v_top_nodes; CREATE VIEW v_top_nodes AS SELECT * FROM v_top_nodes",
    "DROP VIEW v_replays; CREATE VIEW v_replays AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL "
    "SELECT "
    "i+1 FROM r) SELECT i FROM r",
    "DROP TABLE drops; CREATE TABLE drops(run_id, what, reason, count, id INT)",
    "DROP TABLE edges; CREATE TABLE edges(graph_id, src, dst, tensor_idx, kind)",
    "ALTER TABLE nodes DROP COLUMN family",
    "ALTER TABLE nodes ADD COLUMN wide TEXT AS (hex(zeroblob(100000)))",
    "ALTER TABLE replays RENAME COLUMN seq TO other",
    "DROP TABLE barrier_causes; CREATE VIEW barrier_causes AS WITH RECURSIVE r(i) AS (SELECT 1 "
    "UNION ALL SELECT i+1 FROM r) SELECT i AS graph_id, i AS barrier, i AS src_step, i AS pool_idx "
    "FROM r",
    "DROP TABLE scopes",
    "CREATE TRIGGER t AFTER DELETE ON replays BEGIN DELETE FROM runs; END",
    "CREATE TRIGGER t BEFORE INSERT ON runs BEGIN SELECT raise(ABORT, 'no'); END",
    "CREATE UNIQUE INDEX one_run ON runs((1))",
    "CREATE INDEX slow ON replays(hex(zeroblob(id*10)))",
    "CREATE TABLE \"a\"\"b'; DROP TABLE runs; --\"(x)",
    "PRAGMA writable_schema=1; UPDATE sqlite_schema SET sql='CREATE TABLE nodes(' WHERE "
    "name='nodes'",
    "PRAGMA writable_schema=1; UPDATE sqlite_schema SET rootpage=3 WHERE name='edges'",
    "PRAGMA writable_schema=1; UPDATE sqlite_schema SET rootpage=1000000 WHERE name='steps'",
    "PRAGMA writable_schema=1; UPDATE sqlite_schema SET sql=replace(sql,'INT','TEXT COLLATE "
    "NOCASE') WHERE name='replays'",
    "PRAGMA writable_schema=1; DELETE FROM sqlite_schema WHERE name='replays_recording'",
    "PRAGMA application_id=7",
    "PRAGMA user_version=2",
    "PRAGMA user_version=-1",
};

}  // namespace

std::string with_changed_bytes(std::string bytes, std::mt19937_64& random, std::string& what) {
  what = "bytes:";
  for (std::uint64_t changes = 1 + random() % 3; changes > 0 && bytes.size() >= kPage; --changes) {
    const Change& change = kChanges[random() % kChanges.size()];
    what += std::string(" ") + change.name;
    change.make(bytes, random);
  }
  return bytes;
}

void make_hostile(const std::filesystem::path& path, std::mt19937_64& random, std::string& what) {
  what = "rows:";
  for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
    const char* statement = kHostile[random() % std::size(kHostile)];
    what += std::string(" ") + statement + ";";
    sql(path, std::string("PRAGMA foreign_keys=OFF; ") + statement);
  }
}

}  // namespace reprise::test
