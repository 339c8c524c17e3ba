#include <cstdio>

#include "debugger/cli/db_commands.h"
#include "debugger/cli/terminal.h"
#include "debugger/model/printable.h"
#include "framework/profile/profile_check.h"

namespace reprise::cli {

int print_check(const CheckOptions& options) {
  const Interrupt interrupt;
  const std::vector<ProfileFinding> found = check_profile(options.path, interrupt.token());
  if (options.json) {
    Report report;
    Listing findings{"findings", {{"about", kNotInTables}, {"message", kNotInTables}}};
    for (const ProfileFinding& finding : found) {
      findings.rows.push_back({finding.about, finding.message});
    }
    report.listings.push_back(std::move(findings));
    report.print(Format::json);
  }
  for (std::size_t f = 0; f < found.size() && !options.json; ++f) {
    std::printf("%s: %s\n", debugger::printable(found[f].about).c_str(),
                debugger::printable(found[f].message).c_str());
  }
  if (found.empty() && !options.json) {
    std::printf("nothing is wrong\n");
  }
  return found.empty() ? 0 : kFound;
}

}  // namespace reprise::cli
