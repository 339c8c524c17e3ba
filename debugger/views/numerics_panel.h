// Nodes in order beside a reference: how far their results are from it, where both part, and which
// watched results held a NaN or infinity.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "debugger/views/columns.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class NumericsPanel : public Panel {
 public:
  std::string_view id() const override { return "numerics"; }
  std::string_view title() const override { return "Numerics"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Actions actions(Workspace& workspace) override;
  std::optional<PanelBadge> badge(Workspace& workspace) override;

  std::vector<PanelTable> tables() override { return {{"table", &table_.arranged}}; }

 private:
  /// What rows_ were made of.
  struct Listed {
    std::shared_ptr<const Capture> capture;
    std::uint64_t errors = 0, numbers = 0;
    bool differing_only = false;
    bool operator==(const Listed&) const = default;
  };
  /// A result that was compared, or that held a NaN or infinity.
  struct Row {
    const NodeError* error = nullptr;
    const TensorSums* sums = nullptr;
    std::optional<std::uint32_t> node() const;
  };

  static const std::vector<PanelColumn<NumericsPanel, Row>>& columns();
  /// Returns what rows_ have to be made of now.
  Listed wanted(const Workspace& workspace) const;
  void list_rows(const Workspace& workspace);
  void forget_rows();
  void draw_nothing(Ui& ui, Workspace& workspace, const TensorStatistics& numbers);
  void draw_tools(Ui& ui, Workspace& workspace, const Box& box);
  void draw_first(Ui& ui, Workspace& workspace, const Box& box);
  void draw_rows(Ui& ui, Workspace& workspace);
  TableCell verdict(const Row& row) const;

  std::shared_ptr<const Capture> capture_;
  std::optional<Listed> listed_;
  // By node. These and first_ point into errors and numbers of the workspace: they are valid while
  // listed_ is wanted().
  std::vector<Row> rows_;
  const NodeError* first_ = nullptr;
  bool differing_only_ = false;
  ColumnTable<NumericsPanel, Row> table_{columns()};
};

}  // namespace reprise::debugger
