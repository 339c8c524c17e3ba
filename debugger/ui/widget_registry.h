// What was drawn in a frame: every widget and text with a path, its rectangle, text and state; and
// every text that does not fit its rectangle.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::debugger {

struct Rect {
  float min_x = 0, min_y = 0, max_x = 0, max_y = 0;
  bool operator==(const Rect&) const = default;
};

struct Widget {
  Rect visible;       // what the window's clip rectangle leaves of it; empty if it is scrolled away
  std::string text;   // as drawn before eliding; for inputs and combos, the value
  std::string state;  // "selected", "folded", "disabled", ...; words separated by spaces
  bool interactive = false;
  bool operator==(const Widget&) const = default;
};

struct Overflow {
  std::string path, text;
  float needed = 0, available = 0;  // pixels
  bool operator==(const Overflow&) const = default;
};

class WidgetRegistry {
 public:
  /// By what was drawn, in any order.
  bool operator==(const WidgetRegistry& other) const;
  void begin_frame();
  /// Of widgets of one path the last one counts.
  void add(std::string_view path, const Rect& visible, std::string_view text,
           std::string_view state, bool interactive);
  void add_overflow(Overflow overflow);
  void publish(std::string_view path, std::string_view value);
  /// Null if it was not drawn in the last frame.
  const Widget* find(std::string_view path) const;
  /// Empty if nothing was published under it.
  std::string value(std::string_view path) const;
  const std::map<std::string, Widget, std::less<>>& widgets() const;
  const std::map<std::string, std::string, std::less<>>& values() const { return values_; }
  const std::vector<Overflow>& overflows() const { return overflows_; }

 private:
  struct Drawn {
    std::string path;
    Widget widget;
  };

  // Every frame draws thousands of widgets, and hardly any is looked up: they are kept as they
  // come, in the memory of the frame before, and sorted for who asks.
  std::vector<Drawn> drawn_;
  std::size_t count_ = 0;  // of drawn_ that are of this frame
  mutable std::map<std::string, Widget, std::less<>> widgets_;
  mutable std::size_t sorted_ = 0;  // how many of them widgets_ has
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<Overflow> overflows_;
};

}  // namespace reprise::debugger
