// How a run ended, or that it goes on.
#pragma once
#include "framework/profile/sqlite.h"

namespace reprise::profile {

/// Of a row with the exit state and the heartbeat of a run and the machine_id_hash of its host, in
/// these columns: "done", "running", "crashed", or why profiling stopped. A run without an exit
/// state is alive if its writer reported on this machine in this boot lately.
std::string exit_state(const Statement& row, int state, int heartbeat, int host);

}  // namespace reprise::profile
