// What views draw with: text, widgets and canvas items that look alike, have a path, and are
// recorded every frame with their rectangle, text and state. UI scripts and tests find and check
// them by path; views call no ImGui text or widget functions of their own, so nothing is drawn that
// is not known. A path is the ids of the open scopes and of the widget: "nodes/row/23".
// Ids and texts may come from a hostile file: they are never formats, nor ImGui ids.
// Lengths are pixels; px() scales those of the design (at 1x). One thread.
#pragma once
#include <cstdint>
#include <functional>
#include <imgui.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/ui/box.h"
#include "debugger/ui/drawn_text.h"
#include "debugger/ui/focus.h"
#include "debugger/ui/fonts.h"
#include "debugger/ui/keys.h"
#include "debugger/ui/pointer.h"
#include "debugger/ui/theme.h"
#include "debugger/ui/widget_registry.h"

namespace reprise::debugger {

enum class Align : std::uint8_t { left, centre, right };

struct TextStyle {
  FontKind font = FontKind::regular;
  Colour colour = Colour::text;
  Align align = Align::left;
  /// Cut with an ellipsis, and show the whole text while the mouse is over it, if it is wider than
  /// its box. Text that is not and does not fit counts as a defect of the view.
  bool elide = true;
};

class Ui {
 public:
  Ui(const Fonts& fonts, const Theme& theme, WidgetRegistry& registry, KeyQueue& keys,
     Pointer& pointer, float scale);

  /// After ImGui::NewFrame.
  void begin_frame();
  float scale() const { return scale_; }
  float px(float points) const { return points * scale_; }
  ImU32 colour(Colour colour, float alpha = 1) const;
  const Theme& theme() const { return theme_; }
  KeyQueue& keys() { return keys_; }
  /// Row height of lists and of one-line widgets.
  float row_height() const { return px(22); }
  ImFont* font(FontKind kind) const { return fonts_[kind]; }
  ImVec2 text_size(std::string_view text, FontKind font = FontKind::regular) const;

  /// Opens a part of the path, and of ImGui's ids, until it goes out of scope.
  class Scope {
   public:
    Scope(Ui& ui, std::string_view id);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Ui& ui() const { return ui_; }

   private:
    Ui& ui_;
    std::size_t length_;
  };
  [[nodiscard]] Scope scope(std::string_view id) { return Scope(*this, id); }
  [[nodiscard]] Scope scope(std::uint64_t id);

  // ---- text
  /// At the cursor, in one line up to the width left; moves the cursor to the next line.
  void text(std::string_view id, std::string_view text, const TextStyle& style = {});
  /// Wrapped at the width left.
  void paragraph(std::string_view id, std::string_view text, Colour colour = Colour::text);
  /// Inside a box of the window's draw list; centred vertically. `id` may be empty: then the text
  /// is checked, but has no path.
  void text_in(std::string_view id, const Box& box, std::string_view text,
               const TextStyle& style = {});

  // ---- widgets at the cursor
  bool button(std::string_view id, std::string_view label, bool enabled = true);
  /// A square with an icon of icons.h.
  bool icon_button(std::string_view id, const char* icon, std::string_view tooltip,
                   bool enabled = true);
  /// A button that stays down.
  bool toggle(std::string_view id, std::string_view label, bool& on);
  /// True when `text` changed. `hint` shows while it is empty. `width` 0: the width left.
  bool input(std::string_view id, std::string_view hint, std::string& text, float width = 0);
  /// Whether the input that was drawn last was left with Enter.
  bool take_enter();
  /// Several lines; true when Ctrl+Enter was pressed.
  bool text_area(std::string_view id, std::string& text, ImVec2 size);
  /// True when another one was chosen. `name` is asked for what is drawn.
  bool combo(std::string_view id, std::size_t choices,
             const std::function<std::string(std::size_t)>& name, std::size_t& chosen, float width);
  bool combo(std::string_view id, std::span<const std::string> choices, std::size_t& chosen,
             float width);
  /// The input or text area of that path, from the root, gets the keyboard when it is drawn next.
  /// What is typed meanwhile waits for it.
  void focus(std::string_view path);
  /// A menu behind a button; call the entries between true and end_menu().
  bool begin_menu(std::string_view id, std::string_view icon_or_label, std::string_view tooltip);
  /// The menu of that path, from the root, opens when it is drawn next; the one that is being drawn
  /// closes.
  void open_menu(std::string_view path);
  float menu_width(std::string_view icon_or_label) const;
  /// An entry of a menu with a menu of its own, which opens under the mouse.
  bool begin_submenu(std::string_view id, std::string_view label);
  /// A menu at the mouse, which `open` opens; call the entries between true and end_menu().
  bool begin_context_menu(std::string_view id, bool open);
  bool menu_entry(std::string_view id, std::string_view label, std::string_view shortcut = {},
                  bool enabled = true);
  void end_menu();
  /// A box over the window while `open`; Escape or a click beside it clears that. Between true and
  /// end_dialog() is what it shows. One at a time.
  bool begin_dialog(std::string_view id, bool& open, ImVec2 size);
  void end_dialog(bool open);
  /// A part of the window, which may scroll; a size of 0 is what is left. What sticks out of one
  /// that does not scroll is a defect of the view.
  class Region {
   public:
    Region(Ui& ui, std::string_view id, ImVec2 size, bool scrolls);
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

   private:
    Scope scope_;
    bool scrolled_outside_;
  };
  [[nodiscard]] Region region(std::string_view id, ImVec2 size, bool scrolls = true) {
    return Region(*this, id, size, scrolls);
  }

  // ---- canvas items
  /// Clips to a box until it goes out of scope; what is panned out of it is no defect.
  class Canvas {
   public:
    Canvas(Ui& ui, const Box& box);
    ~Canvas();
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;

   private:
    Ui& ui_;
    bool outside_;
  };
  [[nodiscard]] Canvas canvas(const Box& box) { return Canvas(*this, box); }
  /// An invisible item over a box of the window, above those drawn before it. `text` and `state`
  /// are for scripts.
  Hit hit(std::string_view id, const Box& box, std::string_view text = {},
          std::string_view state = {});
  /// As hit(), and Tab stops there: Enter and Space click it. Its state is "focused" too then.
  Hit control(std::string_view id, const Box& box, std::string_view text = {},
              std::string_view state = {});
  void tooltip(std::string_view text);

  /// Text as it is, from its upper left corner on; `wrap` 0: at line ends only.
  void glyphs(ImFont& font, float size, ImVec2 at, ImU32 colour, std::string_view text,
              float wrap = 0);
  /// The next frame is drawn to become a vector picture: its texts are kept and edges are hard.
  void prepare_vector_frame(bool vector);
  /// Of the last such frame.
  const std::vector<DrawnText>& texts() const { return texts_; }

  // ---- the keyboard
  /// Tab stops at the region that is open: a panel in this box.
  void stop_at_panel(const Box& box);
  /// Where the focus is drawn: a path; empty if nowhere.
  std::string_view focused() const { return focused_.drawn(); }
  /// Draws the focus at a control or panel.
  void go_to(std::string_view path) { focused_.go(path); }

  // ---- for scripts and tests
  /// State that no single widget shows: publish("selection/node", "23 rope").
  void publish(std::string_view id, std::string_view value);

  // ---- places
  /// What is left of the current window or region.
  Box rest() const;
  ImDrawList& draw_list() const { return *ImGui::GetWindowDrawList(); }
  void fill(const Box& box, ImU32 colour, float rounding = 0) const;
  /// Over all that the frame draws.
  void cover(const Box& box, ImU32 colour) const;
  void frame(const Box& box, ImU32 colour, float rounding = 0, float thickness = 1) const;

 private:
  void draw_ring(const Box& box) const;
  std::string path_of(std::string_view id) const;
  Box clip() const;
  void add(std::string_view path, const Box& box, std::string_view text, std::string_view state,
           bool interactive);
  void check_place(std::string_view path, const Box& box, std::string_view text);
  /// Takes a box of this size at the cursor.
  Box place(ImVec2 size) const;
  bool draw_button(std::string_view id, std::string_view label, std::string_view state, float width,
                   bool enabled, bool on);
  /// True while a menu is open; `open` opens it. end_menu() closes what is begun here.
  bool begin_popup(std::string_view id, bool open, const Box& below, bool submenu = false);
  void end_popup();
  void push_popup(std::string_view id, bool scrolls, ImVec2 padding);
  bool edit(std::string_view id, std::string_view hint, std::string& text, ImVec2 size,
            bool several_lines);

  const Fonts& fonts_;
  const Theme& theme_;
  WidgetRegistry& registry_;
  KeyQueue& keys_;
  Pointer& pointer_;
  float scale_;
  std::string path_;
  std::string focus_;           // the input that gets the keyboard when it is drawn
  std::string active_;          // the one that had it when it was drawn last
  bool several_lines_ = false;  // of active_
  Focus focused_;
  std::string dialog_;  // the one that is open
  std::string wanted_menu_;
  ImVec2 context_at_{};  // where the mouse was when a context menu was opened
  bool keeps_texts_ = false;
  std::vector<DrawnText> texts_;
  bool canvas_ = false;   // inside of one
  bool scrolls_ = false;  // the innermost region
  struct Popup {
    std::unique_ptr<Scope> scope;
    bool scrolled_outside;
    bool submenu = false;
  };
  std::vector<Popup> popups_;
  bool chosen_ = false;  // an entry of the innermost submenu, which closes those around it
};

}  // namespace reprise::debugger
