// A column of rows from the cursor of a region down, and what stands in them.
#pragma once
#include <string_view>

#include "debugger/ui/ui.h"

namespace reprise::debugger {

class Rows {
 public:
  /// Leaves `margin` pixels free on the right.
  explicit Rows(Ui& ui, float margin = 0);
  /// The next row, over the whole width; `height` 0: that of a list. Draws nothing.
  Box next(float height = 0);
  void gap(float points) { next(ui_.px(points)); }
  float width() const { return width_; }

 private:
  Ui& ui_;
  const float width_;
};

/// Text that can be clicked; true if it was.
bool link(Ui& ui, std::string_view id, const Box& box, std::string_view text,
          const TextStyle& style = {.colour = Colour::accent});

/// A heading with a line above it.
void heading(Ui& ui, Rows& rows, std::string_view title);

/// A dim name on the left and its value beside it: "<id>".
void named_value(Ui& ui, Rows& rows, std::string_view id, std::string_view name,
                 std::string_view value, const TextStyle& style = {.font = FontKind::mono});

}  // namespace reprise::debugger
