// Nodes by op, kernel or scope: how long the replays of a range spend in each, and how that differs
// from another range.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/group_statistics.h"
#include "debugger/views/columns.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class StatisticsPanel : public Panel {
 public:
  std::string_view id() const override { return "statistics"; }
  std::string_view title() const override { return "Statistics"; }
  void draw(Ui& ui, Workspace& workspace) override;
  /// Both ranges while they are compared.
  std::string sql(const Workspace& workspace) const override;
  Actions actions(Workspace& workspace) override;

  std::vector<PanelTable> tables() override { return {{"table", &table_.arranged}}; }

 private:
  static const std::vector<PanelColumn<StatisticsPanel>>& columns(bool compared);

  /// Which replays' times are wanted.
  struct Wanted {
    std::optional<ReplayRange> range;
    TimingSource source;
    std::size_t table_size = 0;  // of the replay table, if all of it is wanted
    bool operator==(const Wanted&) const = default;
  };
  struct Side {
    std::optional<Wanted> asked{};
    Read<RangeKey, ReplayTimes> read{read_replay_times};
    std::uint64_t revision = 0;  // that the times are of
    std::vector<GroupTimes> times{};
  };

  bool compares() const { return pinned_.has_value(); }
  std::optional<ReplayRange> range_of_a(const Workspace& workspace) const;
  void refresh(Workspace& workspace);
  /// True if its times changed.
  bool read(Workspace& workspace, Side& side, std::optional<ReplayRange> range);
  void group(Side& side) const;
  void regroup();
  void choose_columns();
  void sort();
  void draw_bar(Ui& ui, Workspace& workspace, const Box& box);
  std::string counts_text(const Workspace& workspace) const;
  void draw_rows(Ui& ui, Workspace& workspace);
  TableCell name_cell(std::uint32_t group) const;
  void select(Workspace& workspace, std::size_t row);

  std::shared_ptr<const Capture> capture_;
  std::size_t by_ = 0;                 // a GroupBy
  std::optional<ReplayRange> pinned_;  // A, while two ranges are compared
  std::vector<NodeGroup> groups_;
  Side a_, b_;                                       // b_ only while two are compared
  std::vector<std::optional<GroupChange>> changes_;  // one per group, empty unless compared
  double most_share_ = 0;

  std::vector<std::uint32_t> rows_;  // groups, sorted
  ColumnTable<StatisticsPanel> table_{columns(false)};
};

}  // namespace reprise::debugger
