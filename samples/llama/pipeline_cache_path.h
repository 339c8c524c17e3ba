// Where a program keeps compiled pipelines between runs: libraries read no environment, programs
// do.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace llama {

/// The value of an environment variable, or null: std::getenv.
using Environment = std::function<const char*(const char* name)>;

/// REPRISE_PIPELINE_CACHE if it is set, a file; set but empty means none. Else a file per device,
/// by the name it is opened with, in reprise/ of XDG_CACHE_HOME or ~/.cache. Empty if there is
/// neither.
std::filesystem::path pipeline_cache_path(std::string_view device, const Environment& environment);

}  // namespace llama
