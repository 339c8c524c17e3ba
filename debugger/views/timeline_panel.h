// What the replay shown did when: host phases, scopes, barriers and steps over time.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "debugger/model/timeline.h"
#include "debugger/model/visible_range.h"
#include "debugger/views/panel.h"

namespace reprise::debugger {

class TimelinePanel : public Panel {
 public:
  std::string_view id() const override { return "timeline"; }
  std::string_view title() const override { return "Timeline"; }
  void draw(Ui& ui, Workspace& workspace) override;
  std::string sql(const Workspace& workspace) const override;
  Gestures gestures() const override;
  Actions actions(Workspace& workspace) override;

 private:
  /// The lanes' part of the panel and the time it shows.
  struct View {
    Box box;
    double begin = 0, ns_per_pixel = 1;
    float x_of(double ns) const {
      return box.min.x + static_cast<float>((ns - begin) / ns_per_pixel);
    }
    double ns_at(float x) const {
      return begin + static_cast<double>(x - box.min.x) * ns_per_pixel;
    }
  };
  struct Measure {
    double from = 0, to = 0;
  };

  void refresh(const Workspace& workspace);
  void fit();
  View view_of(const Box& lanes) const;
  void draw_title(Ui& ui, Document& document, Box box) const;
  void draw_axis(Ui& ui, const View& view, const Box& box) const;
  void draw_host(Ui& ui, const View& view, const Box& lane, Hit& mouse) const;
  void draw_scopes(Ui& ui, Workspace& workspace, const View& view, std::size_t depth,
                   const Box& lane, Hit& mouse) const;
  void draw_barriers(Ui& ui, const View& view, const Box& lane, Hit& mouse) const;
  void draw_steps(Ui& ui, Workspace& workspace, const View& view, const Box& lane,
                  Hit& mouse) const;
  void draw_measure(Ui& ui, const View& view) const;
  void handle_mouse(const View& view, const Hit& mouse);
  std::string describe_step(std::uint32_t step) const;

  // What the lanes were made of, and the lanes.
  std::shared_ptr<const Capture> capture_;
  std::uint64_t revision_ = 0;
  Timeline timeline_;

  VisibleRange seen_;
  std::optional<Measure> measure_;
  bool measuring_ = false;
};

}  // namespace reprise::debugger
