// Places of captures that somebody wants to come back to, in the order they were marked.
#pragma once
#include <vector>

#include "debugger/model/selection.h"
#include "framework/profile/capture_reader.h"

namespace reprise::debugger {

struct Bookmark {
  CaptureId capture;
  Selection place;
  bool operator==(const Bookmark&) const = default;
};

class Bookmarks {
 public:
  Bookmarks() = default;
  explicit Bookmarks(std::vector<Bookmark> all) : all_(std::move(all)) {}
  /// Marks a place, or takes the mark away. Only a node or an item of the
  /// scopes can be one.
  void toggle(const Bookmark& bookmark);
  bool has(const Bookmark& bookmark) const;
  /// Of one capture.
  std::vector<Selection> of(CaptureId capture) const;
  const std::vector<Bookmark>& all() const { return all_; }

 private:
  std::vector<Bookmark> all_;
};

}  // namespace reprise::debugger
