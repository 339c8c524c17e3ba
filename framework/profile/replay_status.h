// ReplayStatus: what became of a replay, as the profiling database stores it.
#pragma once
#include <cstdint>

namespace reprise {

enum class ReplayStatus : std::uint32_t {
  ran,
  skipped,  // an iteration of a submission after its end: nothing was written
  failed,
};

}  // namespace reprise
