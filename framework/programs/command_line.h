// The command line of every program.
#pragma once

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace reprise::programs {

/// Makes every option of whole numbers, also of subcommands, refuse what 64 bits cannot hold. CLI11
/// takes the nearest number without a word. Call it when all options were added.
void refuse_large_numbers(CLI::App& app);

/// Prints what ended the parsing, fit for a terminal: help, the version or what is wrong. Returns
/// the exit status, 2 if something is wrong.
int end_of_parsing(const CLI::App& app, const CLI::ParseError& why);

}  // namespace reprise::programs
