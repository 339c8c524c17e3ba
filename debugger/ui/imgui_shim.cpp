#include "debugger/ui/imgui_shim.h"

#include <algorithm>
#include <iterator>

namespace reprise::debugger::imgui {
namespace {

struct KeyPair {
  Key ours;
  ImGuiKey imgui;
};

// What ImGui's text inputs act upon.
constexpr KeyPair kKeys[] = {
    {Key::escape, ImGuiKey_Escape},
    {Key::enter, ImGuiKey_Enter},
    {Key::tab, ImGuiKey_Tab},
    {Key::backspace, ImGuiKey_Backspace},
    {Key::insert, ImGuiKey_Insert},
    {Key::del, ImGuiKey_Delete},
    {Key::right, ImGuiKey_RightArrow},
    {Key::left, ImGuiKey_LeftArrow},
    {Key::down, ImGuiKey_DownArrow},
    {Key::up, ImGuiKey_UpArrow},
    {Key::page_up, ImGuiKey_PageUp},
    {Key::page_down, ImGuiKey_PageDown},
    {Key::home, ImGuiKey_Home},
    {Key::end, ImGuiKey_End},
    {static_cast<Key>(' '), ImGuiKey_Space},
    {static_cast<Key>('A'), ImGuiKey_A},
    {static_cast<Key>('C'), ImGuiKey_C},
    {static_cast<Key>('V'), ImGuiKey_V},
    {static_cast<Key>('X'), ImGuiKey_X},
    {static_cast<Key>('Y'), ImGuiKey_Y},
    {static_cast<Key>('Z'), ImGuiKey_Z},
};

}  // namespace

#if IMGUI_VERSION_NUM < 18900

void map_keys() {
  static_assert(static_cast<int>(Key::count) <= IM_ARRAYSIZE(ImGuiIO::KeysDown));
  for (const KeyPair& key : kKeys) {
    ImGui::GetIO().KeyMap[key.imgui] = static_cast<int>(key.ours);
  }
}

void send_key(Key key, bool down) { ImGui::GetIO().KeysDown[static_cast<std::size_t>(key)] = down; }

void send_modifiers(bool ctrl, bool shift, bool alt) {
  ImGuiIO& io = ImGui::GetIO();
  io.KeyCtrl = ctrl;
  io.KeyShift = shift;
  io.KeyAlt = alt;
}

#else

void map_keys() {}

void send_key(Key key, bool down) {
  const auto* const found = std::ranges::find(kKeys, key, &KeyPair::ours);
  if (found != std::end(kKeys)) {
    ImGui::GetIO().AddKeyEvent(found->imgui, down);
  }
}

void send_modifiers(bool ctrl, bool shift, bool alt) {
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, ctrl);
  io.AddKeyEvent(ImGuiMod_Shift, shift);
  io.AddKeyEvent(ImGuiMod_Alt, alt);
}

#endif

}  // namespace reprise::debugger::imgui
