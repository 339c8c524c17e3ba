// What commands tell of a capture, to print or to put into a page.
#pragma once
#include "debugger/cli/captured.h"

namespace reprise::cli {

Report timeline_report(const Captured& captured);
Report memory_report(const Captured& captured, const std::string& path);
Report barriers_report(const Captured& captured);

}  // namespace reprise::cli
