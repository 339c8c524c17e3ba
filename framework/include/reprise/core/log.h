// Messages of the library beside results and errors: a level and a sentence.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

namespace reprise {

enum class LogLevel : std::uint8_t { debug, info, warning, error };
/// Threads: may be called from any thread.
using LogCallback = std::function<void(LogLevel, std::string_view)>;

}  // namespace reprise
