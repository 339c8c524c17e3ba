// What the database says about the machine. Never the machine id itself, only a hash of it.
#pragma once
#include <cstdint>
#include <string>

namespace reprise::profile {

struct HostInfo {
  std::string hostname, os, kernel, cpu_model, machine_id_hash;
  std::int64_t cores = 0, ram_bytes = 0;
};
/// Facts that cannot be found stay empty, except the hash: then it is the host name's.
HostInfo host_info();

}  // namespace reprise::profile
