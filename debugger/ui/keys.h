// Key presses in the order they came, however short: a press that begins and ends between two
// frames counts. Hosts push; each frame takes what it handles. Also keeps ImGui's own key state,
// where a press lasts at least one frame.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::debugger {

/// Printable keys are their upper-case character; others have names.
enum class Key : std::uint16_t {
  none = 0,
  // 32 to 126: ASCII
  escape = 256,
  enter,
  tab,
  backspace,
  insert,
  del,
  right,
  left,
  down,
  up,
  page_up,
  page_down,
  home,
  end,
  f1,
  f2,
  f3,
  f4,
  f5,
  f6,
  f7,
  f8,
  f9,
  f10,
  f11,
  f12,
  count
};

struct KeyPress {
  Key key = Key::none;
  bool ctrl = false, shift = false, alt = false;
  bool operator==(const KeyPress&) const = default;
};

/// "Ctrl+Shift+P", "F9", "[", "Left"; nothing if it names no key.
std::optional<KeyPress> key_press_of(std::string_view name);
std::string name_of(const KeyPress& press);

class KeyQueue {
 public:
  /// From the host; Key::none is a modifier alone. Of repetitions, which the keyboard sends while
  /// a key is held, only those of arrows, PageUp and PageDown can be taken; text inputs repeat all.
  void push(const KeyPress& press, bool down, bool repeated = false);
  /// Text that was typed, a code point; comes after the press that caused it.
  void push_character(std::uint32_t character);
  /// Events wait until what gets the keyboard in the next frame has it.
  void hold() { held_frames_ = kFocusFrames; }
  /// Before ImGui::NewFrame: gives ImGui the key events that fit into this frame, and makes the
  /// presses of this frame available.
  void begin_frame();
  /// True once per press of this frame. While a text input has the keyboard it gets all but
  /// function keys, Escape and what has Alt or Ctrl; of the latter it gets those that edit, such
  /// as Ctrl+C and Ctrl+Left.
  bool take(const KeyPress& press);
  bool take(std::string_view name);
  /// Also from a text input: for what is beside it.
  bool take_from_text(std::string_view name);
  /// Events wait for a later frame.
  bool pending() const { return !events_.empty(); }

 private:
  struct Event {
    KeyPress press;
    bool down = false;
    bool repeated = false;
    std::uint32_t character = 0;  // if it is no key
  };
  /// ImGui focuses a frame after it was asked to, and says so in the next.
  static constexpr int kFocusFrames = 2;
  bool erase(const KeyPress& press);
  static bool fits(const Event& event, const std::vector<Event>& before);

  std::deque<Event> events_;
  int held_frames_ = 0;
  std::vector<KeyPress> pressed_;  // of this frame, not taken
};

}  // namespace reprise::debugger
