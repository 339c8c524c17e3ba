#include "framework/profile/host_info.h"

#include <fstream>
#include <sys/utsname.h>
#include <unistd.h>

#include "framework/graph/hasher.h"

namespace reprise::profile {
namespace {

/// The rest of the first line that starts with `key`, after `separator`.
std::string value_in(const char* file, std::string_view key, char separator) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find(separator);
    if (line.starts_with(key) && at != std::string::npos) {
      const std::size_t from = line.find_first_not_of(" \t\"", at + 1);
      const std::size_t to = line.find_last_not_of(" \t\"");
      return from == std::string::npos ? "" : line.substr(from, to + 1 - from);
    }
  }
  return "";
}

}  // namespace

HostInfo host_info() {
  HostInfo host;
  utsname names{};
  if (uname(&names) == 0) {
    host.hostname = names.nodename;
    host.kernel = std::string(names.sysname) + " " + names.release + " " + names.machine;
  }
  host.os = value_in("/etc/os-release", "PRETTY_NAME", '=');
  host.cpu_model = value_in("/proc/cpuinfo", "model name", ':');
  host.cores = sysconf(_SC_NPROCESSORS_ONLN);
  host.ram_bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  std::string id;
  std::ifstream("/etc/machine-id") >> id;
  host.machine_id_hash =
      Hasher().text("reprise host").text(id.empty() ? host.hostname : id).short_hex();
  return host;
}

}  // namespace reprise::profile
