#include "samples/llama/pipeline_cache_path.h"

namespace llama {

std::filesystem::path pipeline_cache_path(const Environment& environment) {
  if (const char* chosen = environment("REPRISE_PIPELINE_CACHE"); chosen != nullptr) {
    return chosen;
  }
  const auto folder = [&](const char* name) {
    const char* value = environment(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  // Relative ones are to be ignored (XDG Base Directory Specification 0.8).
  std::filesystem::path caches = folder("XDG_CACHE_HOME");
  if (!caches.is_absolute()) {
    caches = folder("HOME");
    if (!caches.is_absolute()) {
      return {};
    }
    caches /= ".cache";
  }
  return caches / "reprise" / "";
}

}  // namespace llama
