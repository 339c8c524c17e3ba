// What the passes did to the graph and what they left alone, with their reasons.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/pass_list.h"
#include "debugger/views/columns.h"
#include "debugger/views/panel.h"
#include "debugger/views/row_menu.h"

namespace reprise::debugger {

class PassesPanel : public Panel {
 public:
  std::string_view id() const override { return "passes"; }
  std::string_view title() const override { return "Passes"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Actions actions(Workspace& workspace) override;

  std::vector<PanelTable> tables() override {
    return {{"groups", &groups_table_.arranged}, {"table", &table_.arranged}};
  }

 private:
  void refresh(const Workspace& workspace);
  void show();
  void draw_groups(Ui& ui, const Box& box);
  void draw_filter(Ui& ui, const Box& box);
  void draw_decisions(Ui& ui, Workspace& workspace, const Box& box);
  void select(Workspace& workspace, std::uint32_t decision);
  static const std::vector<PanelColumn<PassesPanel, PassGroup>>& group_columns();
  static const std::vector<PanelColumn<PassesPanel>>& decision_columns();
  const Capture::PassDecision& decision(std::uint32_t index) const {
    return capture_->pass_decisions[index];
  }
  /// What it is about; null if that is no node.
  const Capture::Node* node_of(std::uint32_t index) const {
    const auto node = decision(index).node;
    return node ? &capture_->nodes[*node] : nullptr;
  }

  // What the rows were made of, and the rows.
  std::shared_ptr<const Capture> capture_;
  PassList list_;
  std::vector<std::uint32_t> rows_;     // decisions
  std::optional<std::uint32_t> group_;  // the one that is shown alone
  std::size_t filter_ = 0;              // a PassFilter

  std::optional<std::uint32_t> at_;  // the decision that was chosen last

  ColumnTable<PassesPanel, PassGroup> groups_table_{group_columns()};
  ColumnTable<PassesPanel> table_{decision_columns()};
  RowMenu menu_;
};

}  // namespace reprise::debugger
