#include "debugger/model/bookmarks.h"

#include <algorithm>

namespace reprise::debugger {

void Bookmarks::toggle(const Bookmark& bookmark) {
  if (!bookmark.place.node && !bookmark.place.item) {
    return;
  }
  if (std::erase(all_, bookmark) == 0) {
    all_.push_back(bookmark);
  }
}

bool Bookmarks::has(const Bookmark& bookmark) const {
  return std::ranges::find(all_, bookmark) != all_.end();
}

std::vector<Selection> Bookmarks::of(CaptureId capture) const {
  std::vector<Selection> places;
  for (const Bookmark& bookmark : all_) {
    if (bookmark.capture == capture) {
      places.push_back(bookmark.place);
    }
  }
  return places;
}

}  // namespace reprise::debugger
