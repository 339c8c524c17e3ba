#include "framework/session/replay/labels.h"

#include <algorithm>

namespace reprise {

void Labels::enter(const Names& names, std::uint32_t scope) {
  if ((open_.empty() ? 0 : open_.back()) == scope) {
    return;
  }
  path_.clear();
  for (std::uint32_t s = scope; s != 0; s = names.outer_of(s)) {
    path_.push_back(s);
  }
  std::ranges::reverse(path_);
  const auto same =
      static_cast<std::size_t>(std::ranges::mismatch(open_, path_).in1 - open_.begin());
  close_to(same);
  for (std::size_t i = same; i < path_.size(); ++i) {
    encoder_.begin_label(names.last_part(path_[i]));
    open_.push_back(path_[i]);
  }
}

void Labels::close_to(std::size_t depth) {
  for (; open_.size() > depth; open_.pop_back()) {
    encoder_.end_label();
  }
}

}  // namespace reprise
