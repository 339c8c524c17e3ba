#include "debugger/views/source_question.h"

namespace reprise::debugger {

bool draw_source_question(Ui& ui, Workspace& workspace, const std::string& name) {
  ui.paragraph("source-outside",
               workspace.sources.find(name).problem +
                   " Show it only if you trust the database, or start with --source FOLDER.",
               Colour::dim);
  if (!ui.button("source-allow", "Show files of this folder")) {
    return false;
  }
  workspace.sources.allow(name);
  return true;
}

}  // namespace reprise::debugger
