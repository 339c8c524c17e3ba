// Files that a command or the debugger writes where the user says.
#pragma once
#include <filesystem>
#include <functional>
#include <ostream>
#include <stop_token>

namespace reprise::debugger {

/// Replaces the file at `path` by what `write` writes, as a whole or not at all. What is no regular
/// file (a pipe, a terminal, a link such as /dev/stdout) is written into as it is.
/// Errors: io with the path and the reason; also once `stop` asks.
void write_output(const std::filesystem::path& path,
                  const std::function<void(std::ostream&)>& write,
                  const std::stop_token& stop = {});

}  // namespace reprise::debugger
