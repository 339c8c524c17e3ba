// Where a program keeps compiled pipelines between runs: libraries read no environment, programs
// do.
#pragma once
#include <filesystem>
#include <functional>

namespace llama {

/// The value of an environment variable, or null: std::getenv.
using Environment = std::function<const char*(const char* name)>;

/// OpenOptions::pipeline_cache: REPRISE_PIPELINE_CACHE if it is set; set but empty means none. Else
/// the folder reprise/ of XDG_CACHE_HOME or ~/.cache. Empty if there is neither.
std::filesystem::path pipeline_cache_path(const Environment& environment);

}  // namespace llama
