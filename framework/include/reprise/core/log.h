// How the library tells what happens beside results and errors: a level and a sentence.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

namespace reprise {

enum class LogLevel : std::uint8_t { debug, info, warning, error };
/// May be called from any thread.
using LogCallback = std::function<void(LogLevel, std::string_view)>;

}  // namespace reprise
