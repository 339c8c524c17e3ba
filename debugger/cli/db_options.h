// The options of the commands in db_commands.h.
#pragma once
#include <functional>

#include <CLI/CLI.hpp>

namespace reprise::cli {

/// What to do once all options were read; its exit status.
using Action = std::function<int()>;

/// Adds the subcommands; the one that is parsed sets `action`.
void add_db_commands(CLI::App& app, CLI::App& db, Action& action);

}  // namespace reprise::cli
