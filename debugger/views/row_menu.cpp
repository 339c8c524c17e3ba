#include "debugger/views/row_menu.h"

#include <algorithm>
#include <iterator>

#include "debugger/views/selection_actions.h"

namespace reprise::debugger {

void RowMenu::draw(Ui& ui, Workspace& workspace, const TableEvents& events, bool about_node) {
  if (events.right_clicked) {
    text_ = events.right_clicked_text;
    about_node_ = about_node;
  }
  draw_context_menu(ui, events.right_clicked.has_value(), [&] {
    Actions actions{{"Copy the row", "", [&] {
                       ImGui::SetClipboardText(text_.c_str());
                       workspace.notice = "Copied";
                     }}};
    if (about_node_) {
      Actions of_node = selection_menu(workspace);
      std::ranges::move(of_node, std::back_inserter(actions));
    }
    return actions;
  });
}

}  // namespace reprise::debugger
