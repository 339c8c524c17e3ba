// Numbers on the command line.
#pragma once

namespace CLI {
class App;
}

namespace reprise::programs {

/// Makes every option of whole numbers, also of subcommands, refuse what 64 bits cannot hold. CLI11
/// takes the nearest number without a word. Call it when all options were added.
void refuse_large_numbers(CLI::App& app);

}  // namespace reprise::programs
