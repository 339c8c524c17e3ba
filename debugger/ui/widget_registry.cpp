#include "debugger/ui/widget_registry.h"

#include <utility>

namespace reprise::debugger {

void WidgetRegistry::begin_frame() {
  widgets_.clear();
  values_.clear();
  overflows_.clear();
}

void WidgetRegistry::add(std::string_view path, const Widget& widget) {
  widgets_.insert_or_assign(std::string(path), widget);
}

void WidgetRegistry::add_overflow(Overflow overflow) { overflows_.push_back(std::move(overflow)); }

void WidgetRegistry::publish(std::string_view path, std::string_view value) {
  values_.insert_or_assign(std::string(path), std::string(value));
}

const Widget* WidgetRegistry::find(std::string_view path) const {
  const auto found = widgets_.find(path);
  return found == widgets_.end() ? nullptr : &found->second;
}

std::string WidgetRegistry::value(std::string_view path) const {
  const auto found = values_.find(path);
  return found == values_.end() ? std::string() : found->second;
}

}  // namespace reprise::debugger
