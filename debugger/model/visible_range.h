// The part of a whole that a view shows along one axis, as shares of it: another whole, of any
// size, shows the same part.
#pragma once
#include <algorithm>
#include <cmath>

namespace reprise::debugger {

class VisibleRange {
 public:
  static constexpr double kLeast = 1e-7;  // that can be zoomed to

  double begin() const { return begin_; }
  double end() const { return end_; }
  double length() const { return end_ - begin_; }
  bool all() const { return begin_ == 0 && end_ == 1; }
  void show_all() { *this = {}; }
  /// By a share of the whole, as far as there is more of it.
  void pan(double by) {
    const double moved = std::clamp(by, -begin_, 1 - end_);
    begin_ += moved;
    end_ += moved;
  }
  /// Steps of the wheel; what is at `at`, a share of what is seen, stays there.
  void zoom(double steps, double at) {
    const double fixed = begin_ + at * length();
    const double length = std::clamp(this->length() * std::pow(0.8, steps), kLeast, 1.0);
    begin_ = std::clamp(fixed - at * length, 0.0, 1 - length);
    end_ = begin_ + length;
  }

 private:
  double begin_ = 0, end_ = 1;
};

}  // namespace reprise::debugger
