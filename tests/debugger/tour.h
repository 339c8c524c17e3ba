// A walk through the whole debugger that uses every panel, whatever the database holds.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "debugger/app/debugger_view.h"
#include "debugger/app/headless_host.h"

namespace reprise::debugger {

/// UI scripts, in their order: every layout, panel, colouring and way to walk.
const std::vector<std::string>& tour_steps();

/// The positions in tour_steps() of those that could be done: of others a widget was not there, as
/// a file may lack what it is for. Nothing else is caught.
std::vector<std::size_t> take_tour(HeadlessHost& host, DebuggerView& debugger);

/// Runs one script to its end, and that without a widget to use; false: there was none.
bool try_script(HeadlessHost& host, const View& view, const std::string& script);

}  // namespace reprise::debugger
