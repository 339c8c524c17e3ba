// reprise: looks at devices and profiling databases.
#include <iostream>

#include <CLI/CLI.hpp>

#include "debugger/cli/commands.h"

int main(int argc, char** argv) try {
  CLI::App app("Looks at devices and profiling databases.", "reprise");
  app.set_version_flag("--version", "reprise 0.1.0");
  app.require_subcommand(1);
  bool json = false;

  CLI::App* devices = app.add_subcommand("devices", "Devices with limits and features");
  devices->add_flag("--json", json, "Print JSON");

  CLI::App* db = app.add_subcommand("db", "Profiling databases");
  db->require_subcommand(1);
  CLI::App* info = db->add_subcommand("info", "Runs, graphs and row counts");
  std::string path;
  info->add_option("file", path, "Profiling database")->required();
  info->add_flag("--json", json, "Print JSON");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (devices->parsed()) {
    reprise::cli::print_devices(json);
  } else {
    reprise::cli::print_db_info(path, json);
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << "error: " << e.what() << '\n';
  return 1;
}
