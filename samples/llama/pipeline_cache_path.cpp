#include "samples/llama/pipeline_cache_path.h"

#include <algorithm>

namespace llama {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::filesystem::path pipeline_cache_path(std::string_view device, const Environment& environment) {
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
  std::string name(device);
  std::ranges::replace_if(
      name, [](char c) { return !is_plain(c); }, '-');
  return caches / "reprise" / ("pipelines-" + name + ".bin");
}

}  // namespace llama
