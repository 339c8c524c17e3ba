// reprise: looks at devices, model files and profiling databases.
#include <CLI/CLI.hpp>

#include "debugger/cli/commands.h"
#include "debugger/cli/db_options.h"
#include "framework/programs/command_line.h"
#include "framework/programs/terminal.h"

int main(int argc, char** argv) try {
  CLI::App app("Looks at devices, model files and profiling databases.", "reprise");
  app.set_version_flag("--version", "reprise 0.1.0");
  app.require_subcommand(1);
  bool json = false;

  CLI::App* devices = app.add_subcommand("devices", "Devices with limits and features");
  devices->add_flag("--json", json, "Print JSON");

  CLI::App* doctor = app.add_subcommand("doctor", "Whether each device works, and what is missing");
  doctor->add_flag("--json", json, "Print JSON");

  CLI::App* ops = app.add_subcommand("ops", "Ops with the dtypes and kernels they have");
  ops->add_flag("--json", json, "Print JSON");
  CLI::App* model = app.add_subcommand("model", "Model files");
  model->require_subcommand(1);
  CLI::App* model_info = model->add_subcommand("info", "Metadata, tensors and tokenizer");
  std::string model_path;
  model_info->add_option("file", model_path, "GGUF or safetensors file, or index of shards")
      ->required();
  model_info->add_flag("--json", json, "Print JSON");

  CLI::App* db = app.add_subcommand("db", "Profiling databases");
  db->require_subcommand(1);
  std::string path;
  const auto add_db_command = [&](const char* name, const char* about) {
    CLI::App* command = db->add_subcommand(name, about);
    command->add_option("file", path, "Profiling database")->required();
    command->add_flag("--json", json, "Print JSON");
    return command;
  };
  reprise::TopNodesQuery query;
  const auto add_limit = [&](CLI::App* command) {
    command->add_option("-n", query.limit, "How many")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
  };
  const auto add_graph = [&](CLI::App* command) {
    command->add_option("--graph", query.graph, "Id of a graph, as in `db info`");
  };
  const CLI::App* info = add_db_command("info", "Runs, graphs and row counts");
  CLI::App* top = add_db_command("top", "Nodes of the last run by the time they take");
  add_limit(top);
  add_graph(top);
  top->add_option("--phase", query.phase, "Only of this phase");
  const std::map<std::string, reprise::NodeOrder> orders{{"total", reprise::NodeOrder::total},
                                                         {"p50", reprise::NodeOrder::p50}};
  top->add_option("--by", query.order, "Order: total or p50")
      ->transform(CLI::CheckedTransformer(orders));
  CLI::App* nodes = add_db_command("nodes", "Nodes of the graphs of the last run");
  add_graph(nodes);
  CLI::App* passes = add_db_command("passes", "What passes did to the graphs of the last run");
  add_graph(passes);
  CLI::App* replays = add_db_command("replays", "Replays, the latest first");
  add_limit(replays);
  reprise::cli::Action action;
  reprise::cli::add_db_commands(app, *db, action);

  reprise::programs::refuse_large_numbers(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return reprise::programs::end_of_parsing(app, e);
  }
  if (action) {
    return action();
  }
  if (devices->parsed()) {
    reprise::cli::print_devices(json);
  } else if (ops->parsed()) {
    reprise::cli::print_ops(json);
  } else if (doctor->parsed()) {
    return reprise::cli::print_doctor(json) ? 0 : 1;
  } else if (model_info->parsed()) {
    using reprise::cli::Format;
    reprise::cli::print_model_info(model_path, json ? Format::json : Format::table);
  } else if (info->parsed()) {
    reprise::cli::print_db_info(path, json);
  } else if (top->parsed()) {
    reprise::cli::print_top_nodes(path, query, json);
  } else if (nodes->parsed()) {
    reprise::cli::print_nodes(path, query.graph, json);
  } else if (passes->parsed()) {
    reprise::cli::print_passes(path, query.graph, json);
  } else {
    reprise::cli::print_replays(path, query.limit, json);
  }
  return 0;
} catch (const std::exception& e) {
  reprise::programs::print_error(e);
  return 1;
}
