// One cell per replay: how long it took and how it ended. Choosing replays for all other panels.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "debugger/model/replay_strip.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class ReplayStripPanel : public Panel {
 public:
  std::string_view id() const override { return "replays"; }
  std::string_view title() const override { return "Replays"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Gestures gestures() const override;
  /// Left, Right: the replay before or after. Space: plays. Escape: all replays again.
  Actions actions(Workspace& workspace) override;

 private:
  void refresh(Workspace& workspace, std::size_t columns);
  void draw_legend(Ui& ui, const Box& box) const;
  void draw_columns(Ui& ui, const Workspace& workspace, const Box& box) const;
  void draw_overlays(Ui& ui, const Workspace& workspace, const Box& box) const;
  void handle_mouse(Ui& ui, Workspace& workspace, const Box& box, const Hit& hit);
  /// Of the replay that is shown.
  Actions replay_menu(Workspace& workspace) const;
  void play(Workspace& workspace);

  std::shared_ptr<const Capture> capture_;
  std::size_t rows_ = 0, asked_columns_ = 0;  // what strip_ was made of
  std::uint64_t numbers_ = 0;                 // their revision
  ReplayStrip strip_;
  std::optional<ReplayRange> brush_;  // while it is dragged
  float played_ = 0;                  // seconds since the replay shown was reached
};

}  // namespace reprise::debugger
