#include "tests/debugger/tour.h"

#include "debugger/app/script_runner.h"
#include "reprise/core/error.h"

namespace reprise::debugger {

const std::vector<std::string>& tour_steps() {
  static const std::vector<std::string> kSteps = {
      "key Ctrl+Alt+2",
      "key Ctrl+Alt+3",
      "key Ctrl+Alt+4",
      "key Ctrl+Alt+1",
      "click tab/outline\nkey Shift+]",
      "click outline/row/1\nkey Ctrl+B",
      "hover graph/canvas\nwheel graph/canvas 2\nkey F",
      "drag graph/canvas 0.3 0.3 0.6 0.6\nkey Home",
      "key C\nkey C\nkey C\nkey C\nkey C\nkey C",
      "key Down\nkey Down\nkey Up",
      "click tab/nodes\ntype nodes/filter p50>1us -barrier x",
      "type nodes/filter share>=0%",
      "type nodes/filter \"\"",
      "click nodes/table/row/0",
      "key Alt+Left\nkey Alt+Right\nkey Ctrl+1",
      "drag replays/cells 0.2 0.5 0.7 0.5",
      "key Right\nkey Left",
      "click replays/cells",
      "click tab/timeline\nwheel timeline/lanes 3\ndrag timeline/lanes 0.2 0.5 0.7 0.5",
      "click tab/memory\nhover memory/map\nclick memory/by_size",
      "click tab/barriers\nclick barriers/filter/RAW",
      "click barriers/table/header/step\nclick barriers/table/header/step\n"
      "click barriers/table/row/0",
      "click tab/passes\nclick passes/filter/applied",
      "click tab/statistics\nclick statistics/by/kernel\nclick statistics/by/scope",
      "click statistics/compare",
      "click tab/kernels\nclick kernels/table/row/0",
      "type kernels/search Op",
      "click tab/tensors\nwait",
      "click tensors/replay\nclick tensors/replay/1",
      "click tab/numerics\nkey F9\nkey N",
      "click tab/numerics\nclick numerics/first\nclick numerics/next",
      "type numerics/threshold 0.1%",
      "click tab/log\nclick log/level/debug",
      "click log/table/row/0",
      "click tab/sql\ntype sql/editor SELECT idx AS node_id, idx * 2 AS y FROM nodes\nkey "
      "Ctrl+Enter\nclick sql/charted",
      "type sql/editor SELECT * FROM replays r, step_timings, node_stats\nkey Ctrl+Enter",
      "click tab/graph\nclick menu/graph/open\nclick menu/graph/open/copy_sql",
      "click tab/diff\nwait",
      "click diff/table/row/0",
      "key Ctrl+P\nkey Escape",
      "key F1\nkey Escape",
      "key Ctrl+Shift+L\nclick tab/graph\nhover graph/canvas\nkey F11\nkey F11",
  };
  return kSteps;
}

bool try_script(HeadlessHost& host, const View& view, const std::string& script) {
  try {
    ScriptRunner(host, view).run(parse_script(script));
    return true;
  } catch (const Error& error) {
    // The words of ScriptRunner; what a panel throws has others.
    const bool of_script =
        std::string_view(error.what()).find(" of the script (") != std::string::npos;
    if (error.code() != ErrorCode::invalid_argument || !of_script) {
      throw;
    }
    return false;
  }
}

std::vector<std::size_t> take_tour(HeadlessHost& host, DebuggerView& debugger) {
  const View view = debugger.view();
  std::vector<std::size_t> done;
  for (std::size_t i = 0; i < tour_steps().size(); ++i) {
    if (try_script(host, view, tour_steps()[i])) {
      done.push_back(i);
    }
  }
  return done;
}

}  // namespace reprise::debugger
