// Events, warnings and errors of the run, with the nodes they are about.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "debugger/model/event_log.h"
#include "debugger/views/columns.h"
#include "debugger/views/panel.h"
#include "debugger/views/row_menu.h"

namespace reprise::debugger {

class LogPanel : public Panel {
 public:
  std::string_view id() const override { return "log"; }
  std::string_view title() const override { return "Log"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Actions actions(Workspace& workspace) override;
  std::optional<PanelBadge> badge(Workspace& workspace) override;

  std::vector<PanelTable> tables() override { return {{"table", &table_.arranged}}; }

 private:
  void refresh(Workspace& workspace);
  void filter();
  void draw_filter(Ui& ui, const Box& box);
  void draw_rows(Ui& ui, Workspace& workspace, const Box& box);
  /// Shows the message of an entry, and selects its node and replay.
  void open(Workspace& workspace, std::uint32_t entry);
  void draw_message(Ui& ui, const Box& box) const;
  static const std::vector<PanelColumn<LogPanel>>& columns();

  std::shared_ptr<const Capture> capture_;
  Read<CaptureKey, EventLog> read_{of_capture<read_event_log>};
  std::uint64_t asked_ = 0;  // a Document::revision(), after which the log is read again
  EventLog log_;
  std::size_t least_ = 0;  // a LogSeverity
  std::string words_;
  std::vector<std::uint32_t> rows_;    // entries
  std::optional<std::uint32_t> open_;  // the entry whose whole message is shown
  ColumnTable<LogPanel> table_{columns()};
  RowMenu menu_;
};

}  // namespace reprise::debugger
