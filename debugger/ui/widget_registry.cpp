#include "debugger/ui/widget_registry.h"

#include <utility>

namespace reprise::debugger {

bool WidgetRegistry::operator==(const WidgetRegistry& other) const {
  return widgets() == other.widgets() && values_ == other.values_ && overflows_ == other.overflows_;
}

void WidgetRegistry::begin_frame() {
  count_ = sorted_ = 0;
  widgets_.clear();
  values_.clear();
  overflows_.clear();
}

void WidgetRegistry::add(std::string_view path, const Rect& visible, std::string_view text,
                         std::string_view state, bool interactive) {
  if (count_ == drawn_.size()) {
    drawn_.emplace_back();
  }
  Drawn& drawn = drawn_[count_++];
  drawn.path = path;
  drawn.widget.visible = visible;
  drawn.widget.text = text;
  drawn.widget.state = state;
  drawn.widget.interactive = interactive;
}

const std::map<std::string, Widget, std::less<>>& WidgetRegistry::widgets() const {
  for (; sorted_ < count_; ++sorted_) {
    widgets_.insert_or_assign(drawn_[sorted_].path, drawn_[sorted_].widget);
  }
  return widgets_;
}

void WidgetRegistry::add_overflow(Overflow overflow) { overflows_.push_back(std::move(overflow)); }

void WidgetRegistry::publish(std::string_view path, std::string_view value) {
  values_.insert_or_assign(std::string(path), std::string(value));
}

const Widget* WidgetRegistry::find(std::string_view path) const {
  const auto found = widgets().find(path);
  return found == widgets_.end() ? nullptr : &found->second;
}

std::string WidgetRegistry::value(std::string_view path) const {
  const auto found = values_.find(path);
  return found == values_.end() ? std::string() : found->second;
}

}  // namespace reprise::debugger
