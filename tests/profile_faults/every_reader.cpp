#include "tests/profile_faults/every_reader.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <thread>

#include "debugger/cli/commands.h"
#include "debugger/cli/db_commands.h"
#include "debugger/model/run_diff.h"
#include "framework/profile/profile_check.h"
#include "framework/profile/profile_reader.h"
#include "framework/profile/profile_rewrite.h"
#include "framework/profile/tensor_tables.h"
#include "reprise/core/error.h"
#include "reprise/sql_query.h"
#include "tests/profile_cli/timed_database.h"
#include "tests/profile_faults/file_state.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using cli::Format;

/// Stops what takes very long, such as rows that a hostile view makes for ever.
class Deadline {
 public:
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread thread_{[this](const std::stop_token& end) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    ended.wait_for(lock, end, std::chrono::seconds(20), [] { return false; });
    source_.request_stop();
  }};
};

/// True if `f` answers.
bool attempt(const char* what, Answers& answers, const std::function<void()>& f) {
  SCOPED_TRACE(what);
  try {
    f();
    ++answers.answered;
    return true;
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::io || error.code() == ErrorCode::invalid_argument ||
                error.code() == ErrorCode::timeout)
        << error.what();
  } catch (const Cancelled&) {
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  ++answers.refused;
  return false;
}

void expect_harmless(const std::string& text) {
  const auto controls = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') ||
           c == '\x7F';
  };
  const auto found = std::find_if(text.begin(), text.end(), controls);
  EXPECT_EQ(found, text.end()) << "a control character in: "
                               << text.substr(static_cast<std::size_t>(std::max<std::ptrdiff_t>(
                                                  0, found - text.begin() - 40)),
                                              80);
}

void attempt_command(const char* what, Answers& answers, const std::function<void()>& f) {
  std::string text;
  attempt(what, answers, [&] { text = printed(f); });
  SCOPED_TRACE(what);
  expect_harmless(text);
}

void read_captures_of(const fs::path& path, Answers& answers, const std::stop_token& stop) {
  std::vector<CaptureId> ids{{1, 1}};
  attempt("read_captures", answers, [&] {
    for (const CaptureSummary& capture : read_captures(path, stop)) {
      ids.push_back(capture.id);
    }
  });
  ids.resize(std::min<std::size_t>(ids.size(), 3));
  const std::array<std::int64_t, 3> replays{1, 2, 3};
  for (const CaptureId& id : ids) {
    attempt("read_capture", answers, [&] { read_capture(path, id, stop); });
    attempt("read_new_replays", answers, [&] {
      ReplayTable table;
      read_new_replays(path, id, table, stop);
      EXPECT_EQ(table.state.size(), table.rows.size() * table.state_words);
    });
    attempt("read_node_timings", answers, [&] { read_node_timings(path, id, stop); });
    attempt("read_node_histogram", answers,
            [&] { read_node_histogram(path, id, "decode", TimingMode::node, 1, stop); });
    attempt("read_buffers", answers, [&] { read_buffers(path, id); });
    attempt("read_tensor_sums", answers, [&] { read_tensor_sums(path, id.run, id.graph, stop); });
  }
  attempt("read_step_times", answers, [&] {
    read_step_times(
        path, replays, 5, [](std::size_t, auto) {}, 2, stop);
  });
  attempt("choose_capture", answers, [&] { choose_capture(path, {}); });
  attempt("choose_capture of a replay", answers, [&] { choose_capture(path, {.replay = 2}); });
}

void read_tables_of(const fs::path& path, Answers& answers, const std::stop_token& stop) {
  attempt("read_profile_info", answers, [&] { read_profile_info(path); });
  attempt("read_top_nodes", answers, [&] { read_top_nodes(path, {}); });
  attempt("read_nodes", answers, [&] { read_nodes(path, {}); });
  attempt("read_pass_decisions", answers, [&] { read_pass_decisions(path, {}); });
  attempt("read_replays", answers, [&] { read_replays(path, 20); });
  attempt("read_tensor_stats", answers, [&] { read_tensor_stats(path, {.run = 1}, stop); });
  attempt("read_snapshots", answers, [&] { read_snapshots(path, {.run = 1}, stop); });
  attempt("read_comparisons", answers, [&] { read_comparisons(path, {.run = 1}, stop); });
  attempt("check_profile", answers, [&] { check_profile(path, stop); });
  attempt("diff_runs", answers, [&] { debugger::diff_runs({path, {}}, {path, 1}, stop); });
  SqlLimits limits;
  limits.time = std::chrono::milliseconds(200);
  for (const char* query : {"SELECT * FROM v_top_nodes", "SELECT * FROM v_replays",
                            "SELECT * FROM v_node_timings LIMIT 10", "SELECT * FROM v_runs"}) {
    attempt(query, answers, [&] { run_sql(path, query, limits, stop); });
  }
}

void print_everything(const fs::path& path, Answers& answers) {
  const std::string file = path.string();
  for (const Format format : {Format::table, Format::json, Format::csv}) {
    attempt_command("timeline", answers, [&] { cli::print_timeline({file, {}, format}); });
    attempt_command("memory", answers, [&] { cli::print_memory({file, {}, format}); });
    attempt_command("barriers", answers, [&] { cli::print_barriers({file, {}, format}); });
    attempt_command("sql", answers, [&] { cli::print_sql({file, "SELECT * FROM nodes", format}); });
    attempt_command("diff", answers,
                    [&] { cli::print_diff({.path = file, .other = file, .format = format}); });
  }
  for (const bool json : {false, true}) {
    attempt_command("check", answers, [&] { cli::print_check({file, json}); });
    attempt_command("info", answers, [&] { cli::print_db_info(file, json); });
    attempt_command("top", answers, [&] { cli::print_top_nodes(file, {}, json); });
    attempt_command("nodes", answers, [&] { cli::print_nodes(file, {}, json); });
    attempt_command("passes", answers, [&] { cli::print_passes(file, {}, json); });
    attempt_command("replays", answers, [&] { cli::print_replays(file, 20, json); });
  }
  attempt_command("perfetto", answers, [&] { cli::export_capture({file, {}, "-", ""}); });
  attempt_command("dot", answers, [&] { cli::export_capture({file, {}, "", "-"}); });
  attempt_command("svg", answers, [&] { cli::export_capture({.path = file, .svg = "-"}); });
  attempt_command("html", answers, [&] { cli::export_capture({.path = file, .html = "-"}); });
}

}  // namespace

void read_everything(const fs::path& path, Answers& answers) {
  const auto before = files_of(path.parent_path());
  {
    const Deadline deadline;
    read_captures_of(path, answers, deadline.token());
    read_tables_of(path, answers, deadline.token());
  }
  print_everything(path, answers);
  EXPECT_TRUE(files_of(path.parent_path()) == before) << "the file or its folder changed";
}

void rewrite_everything(const fs::path& path, const fs::path& sound, Answers& answers) {
  const auto before = files_of(path.parent_path());
  const Deadline deadline;
  const fs::path out = path.parent_path() / "out.db";
  const auto expect_readable = [&] {
    EXPECT_NO_THROW(read_profile_info(out));
    fs::remove(out);
  };
  const std::array both{sound, path};
  if (attempt("merge", answers, [&] { merge_profiles(both, out, deadline.token()); })) {
    expect_readable();
  }
  if (attempt("scrub", answers, [&] { scrub_profile(path, out, deadline.token()); })) {
    expect_readable();
  }
  EXPECT_TRUE(files_of(path.parent_path()) == before) << "merging or scrubbing left something";
  fs::copy_file(path, out);
  attempt("prune", answers, [&] {
    prune_profile(out, {.keep_runs = 1, .keep_replays = 3, .vacuum = true}, deadline.token());
  });
  attempt("open_profile", answers, [&] {
    const auto sink = open_profile(out, {});
    sink->device(nanosecond_device());
    send_run(*sink, GraphMaker({.scales = 1}).make(), 2);
  });
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    fs::remove(out.string() + suffix);
  }
}

}  // namespace reprise::test
