#include "backends/cpu/usable_cores.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <sched.h>
#include <sstream>

namespace reprise::cpu {
namespace {

/// The first line, or nothing.
std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Whether no other allowed processor of its core has a lower number.
bool first_of_its_core(const Processors& processors, std::size_t cpu) {
  std::istringstream list(processors.siblings(cpu));
  std::size_t first = 0;
  while (list >> first) {
    std::size_t last = first;
    if (list.peek() == '-') {
      list.ignore();
      list >> last;
    }
    for (std::size_t other = first; other <= last && other < cpu; ++other) {
      if (processors.allowed[other]) {
        return false;
      }
    }
    list.ignore();  // the comma
  }
  return true;
}

std::vector<bool> allowed_processors() {
  constexpr int kMost = 1 << 20;
  for (int count = CPU_SETSIZE; count <= kMost; count *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(count)), [](cpu_set_t* s) { CPU_FREE(s); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
    if (set != nullptr && sched_getaffinity(0, bytes, set.get()) == 0) {
      std::vector<bool> allowed(static_cast<std::size_t>(count));
      for (std::size_t cpu = 0; cpu < allowed.size(); ++cpu) {
        allowed[cpu] = CPU_ISSET_S(cpu, bytes, set.get()) != 0;
      }
      return allowed;
    }
  }
  return {};
}

/// Of the control group of this process (version 2).
std::string quota() {
  const std::string group = line_of("/proc/self/cgroup");  // "0::/path"
  const std::size_t path = group.rfind(':');
  return group.starts_with("0::") ? line_of("/sys/fs/cgroup" + group.substr(path + 1) + "/cpu.max")
                                  : std::string();
}

}  // namespace

unsigned usable_cores(const Processors& processors) {
  unsigned cores = 0;
  for (std::size_t cpu = 0; cpu < processors.allowed.size(); ++cpu) {
    cores += processors.allowed[cpu] && first_of_its_core(processors, cpu) ? 1U : 0U;
  }
  std::istringstream limit(processors.quota);
  double time = 0;
  double period = 0;
  if (limit >> time >> period && time > 0 && period > 0) {
    cores = static_cast<unsigned>(std::min<double>(cores, time / period));
  }
  return std::max(cores, 1U);
}

unsigned usable_cores() {
  return usable_cores({.allowed = allowed_processors(),
                       .siblings =
                           [](std::size_t cpu) {
                             return line_of("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                            "/topology/thread_siblings_list");
                           },
                       .quota = quota()});
}

}  // namespace reprise::cpu
