// Named layouts of the window: which panels are where, which are in front, and how large the parts
// are. Panels by id. Sizes are pixels at 1x.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::debugger {

/// A part of the window: panels behind a bar of tabs, or two parts with a bar between them.
struct Place {
  std::vector<std::string> panels;  // some, unless it is divided
  std::string front;                // one of them

  std::vector<Place> parts;  // two if it is divided
  bool beside = true;        // they are beside each other; else one above the other
  std::size_t sized = 0;     // the part that keeps its size; the other one has the rest
  float size = 0;
  bool operator==(const Place&) const = default;
};

struct Layout {
  std::string name;
  Place all;
  bool operator==(const Layout&) const = default;
};

/// As many as the settings keep.
inline constexpr std::size_t kMaxLayouts = 40;
/// 1 to 40 bytes, all visible.
bool is_layout_name(std::string_view name);

/// As the debugger comes: one per task.
std::vector<Layout> usual_layouts();

/// Those with tabs, from left to right and from above.
std::vector<const Place*> tab_places(const Place& all);
/// The one with the tab of a panel; nullptr if the panel is closed.
const Place* place_of(const Place& all, std::string_view panel);

/// The size that the sized part of a divided place has in so much room. Its own one stays: a larger
/// window shows it again.
float fitted_size(const Place& divided, float room);
/// Whether both parts of a divided place can be seen in so much room.
bool has_room(const Place& divided, float room);
/// All panels of a place behind one bar of tabs. In front of a divided one is `latest` if it is
/// among them, else what is in front of the part that has no size of its own.
Place joined(const Place& place, std::string_view latest);

/// Brings a panel to the front. One that is closed opens beside those it usually is with.
void show(Place& all, std::string_view panel);
/// The last panel stays.
void close(Place& all, std::string_view panel);

enum class Side : std::uint8_t { left, right, above, below };
/// Where a panel goes to.
struct Drop {
  std::string onto;          // the place with this panel
  std::optional<Side> side;  // there, into a new place; else among its tabs
  std::size_t tab = 0;       // before this one
  float size = 0;            // of the new place
};
/// A panel that is alone in a place and goes to its side stays.
void move(Place& all, std::string_view panel, const Drop& to);

/// Removes what cannot be, as from a file: panels that are in no usual layout or come twice, and
/// places without panels. False if no panel is left.
bool mend(Place& all);

}  // namespace reprise::debugger
