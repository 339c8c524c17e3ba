#include "debugger/cli/db_options.h"

#include <memory>

#include "debugger/cli/db_commands.h"

namespace reprise::cli {
namespace {

/// A command with options of its own; `run` returns nothing or an exit status.
template <class Options, class Run>
std::pair<CLI::App*, std::shared_ptr<Options>> add(CLI::App& parent, const char* name,
                                                   const char* about, Action& action, Run run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = parent.add_subcommand(name, about);
  command->callback([options, run, &action] {
    action = [options, run] {
      if constexpr (std::is_void_v<decltype(run(*options))>) {
        run(*options);
        return 0;
      } else {
        return run(*options);
      }
    };
  });
  return {command, options};
}

void add_file(CLI::App& command, std::string& path) {
  command.add_option("file", path, "Profiling database")->required();
}

void add_format(CLI::App& command, Format& format) {
  const auto set = [&format](Format to) { return [&format, to] { format = to; }; };
  CLI::Option* json = command.add_flag_callback("--json", set(Format::json), "Print JSON");
  command.add_flag_callback("--csv", set(Format::csv), "Print CSV")->excludes(json);
}

void add_sql(CLI::App& app, Action& action) {
  const auto [command, options] =
      add<SqlOptions>(app, "sql", "Runs a SELECT over a profiling database", action, print_sql);
  add_file(*command, options->path);
  command->add_option("query", options->query, "One statement that only reads")->required();
  add_format(*command, options->format);
  command->add_option("--limit", options->limit, "Most rows")->capture_default_str();
  command->add_option("--timeout", options->timeout_s, "Most seconds")->capture_default_str();
}

void add_captures(CLI::App& db, Action& action) {
  const auto add_one = [&](const char* name, const char* about, auto run) {
    const auto [command, options] = add<CaptureOptions>(db, name, about, action, run);
    add_file(*command, options->path);
    command->add_option("--graph", options->wish.graph, "Id of a graph, as in `db info`");
    command->add_option("--replay", options->wish.replay, "Id of a replay, as in `db replays`");
    add_format(*command, options->format);
  };
  add_one("timeline", "When each node of a replay ran", print_timeline);
  add_one("memory", "Where tensors live, and the buffers of the run", print_memory);
  add_one("barriers", "Who waits for whom, and why", print_barriers);
}

void add_tensors(CLI::App& db, Action& action) {
  const auto [command, options] = add<TensorsCommand>(
      db, "tensors", "What results held in watched launches", action, print_tensors);
  add_file(*command, options->path);
  command->add_option("--graph", options->wish.graph, "Id of a graph, as in `db info`");
  command->add_option("--replay", options->wish.replay, "Id of a replay, as in `db replays`");
  command->add_option("--limit", options->limit, "Most rows, the latest")->capture_default_str();
  add_format(*command, options->format);
}

void add_json(CLI::App& command, bool& json) { command.add_flag("--json", json, "Print JSON"); }

void add_out(CLI::App& command, std::string& out) {
  command.add_option("-o,--out", out, "The new file")->required();
}

void add_check(CLI::App& db, Action& action) {
  const auto [command, options] = add<CheckOptions>(
      db, "check", "What is wrong with a file; status 3 if anything is", action, print_check);
  add_file(*command, options->path);
  add_json(*command, options->json);
}

void add_diff(CLI::App& db, Action& action) {
  const auto [command, options] =
      add<DiffCommand>(db, "diff", "Two runs node by node", action, print_diff);
  add_file(*command, options->path);
  command->add_option("other", options->other, "Another one; by default another run of the same");
  command->add_option("--run-a", options->run_a, "Run of the first file; by default the latest");
  command->add_option("--run-b", options->run_b, "Run of the other file; by default the latest");
  command->add_option("--fail-above", options->fail_above,
                      "Status 3 if the median of a node is slower by more, such as 5%");
  add_format(*command, options->format);
}

void add_export(CLI::App& db, Action& action) {
  const auto [command, options] = add<ExportCommand>(
      db, "export", "A run, a replay or its graph for other programs", action, export_capture);
  add_file(*command, options->path);
  command->add_option("--graph", options->wish.graph, "Id of a graph, as in `db info`");
  command->add_option("--replay", options->wish.replay, "Id of a replay, as in `db replays`");
  command->add_option("--run", options->run, "Id of a run, as in `db info`, for --perfetto");
  CLI::Option_group* what = command->add_option_group("formats", "At least one; - is the output");
  what->add_option("--perfetto", options->perfetto, "JSON for Perfetto and chrome://tracing");
  what->add_option("--dot", options->dot, "The graph by scope, for Graphviz");
  what->add_option("--svg", options->svg, "The graph as a picture");
  what->add_option("--html", options->html, "The graph, its times, memory and barriers as a page");
  what->require_option(1, 4);
}

void add_prune(CLI::App& db, Action& action) {
  const auto [command, options] =
      add<PruneCommand>(db, "prune", "Removes old runs and replays", action, prune);
  add_file(*command, options->path);
  CLI::Option_group* what = command->add_option_group("what", "At least one");
  what->add_option("--keep-runs", options->keep_runs, "The latest to keep");
  what->add_option("--keep-replays", options->keep_replays,
                   "The latest to keep of each graph in each run");
  what->add_flag("--vacuum", options->vacuum, "Make the file as small as what is in it");
  what->require_option(1, 3);
  add_json(*command, options->json);
}

void add_scrub(CLI::App& db, Action& action) {
  const auto [command, options] = add<ScrubCommand>(
      db, "scrub", "A copy without what tells where it was made, and of what", action, scrub);
  add_file(*command, options->path);
  add_out(*command, options->out);
}

void add_merge(CLI::App& db, Action& action) {
  const auto [command, options] =
      add<MergeCommand>(db, "merge", "The runs of several files in a new one", action, merge);
  command->add_option("files", options->paths, "Profiling databases")->required();
  add_out(*command, options->out);
  add_json(*command, options->json);
}

}  // namespace

void add_db_commands(CLI::App& app, CLI::App& db, Action& action) {
  add_sql(app, action);
  add_captures(db, action);
  add_tensors(db, action);
  add_check(db, action);
  add_diff(db, action);
  add_export(db, action);
  add_prune(db, action);
  add_scrub(db, action);
  add_merge(db, action);
}

}  // namespace reprise::cli
