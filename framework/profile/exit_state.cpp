#include "framework/profile/exit_state.h"

#include <chrono>

#include "framework/profile/host_info.h"

namespace reprise::profile {

std::string exit_state(const Statement& row, int state, int heartbeat, int host) {
  if (!row.null(state)) {
    return row.text(state);
  }
  constexpr std::int64_t kSilentNs = 10'000'000'000;  // ten heartbeats
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::int64_t last = row.integer(heartbeat);
  const bool alive = last >= 0 && last <= now && now - last < kSilentNs &&
                     row.text(host) == host_info().machine_id_hash;
  return alive ? "running" : "crashed";
}

}  // namespace reprise::profile
