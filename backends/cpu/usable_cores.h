// How many threads use this machine well: hardware threads of one core share its vector units.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace reprise::cpu {

/// What the system says about the processors of a process.
struct Processors {
  std::vector<bool> allowed;  // by number
  /// The hardware threads of that one's core, as Linux lists them: "0-1,64". Empty: unknown.
  std::function<std::string(std::size_t)> siblings;
  /// A limit of control groups, as in cpu.max: "150000 100000" are 1.5 processors, "max 100000"
  /// is none. Empty: none.
  std::string quota;
};

/// Cores with an allowed processor, no more than whole processors of the quota; at least 1.
unsigned usable_cores(const Processors& processors);
/// Those of this process.
unsigned usable_cores();

}  // namespace reprise::cpu
