#include "debugger/app/window_keys.h"

#include <GLFW/glfw3.h>
#include <algorithm>
#include <cctype>
#include <iterator>

namespace reprise::debugger {
namespace {

struct KeyPair {
  int glfw;
  Key key;
};

constexpr KeyPair kKeys[] = {
    {GLFW_KEY_ESCAPE, Key::escape},
    {GLFW_KEY_ENTER, Key::enter},
    {GLFW_KEY_TAB, Key::tab},
    {GLFW_KEY_BACKSPACE, Key::backspace},
    {GLFW_KEY_INSERT, Key::insert},
    {GLFW_KEY_DELETE, Key::del},
    {GLFW_KEY_RIGHT, Key::right},
    {GLFW_KEY_LEFT, Key::left},
    {GLFW_KEY_DOWN, Key::down},
    {GLFW_KEY_UP, Key::up},
    {GLFW_KEY_PAGE_UP, Key::page_up},
    {GLFW_KEY_PAGE_DOWN, Key::page_down},
    {GLFW_KEY_HOME, Key::home},
    {GLFW_KEY_END, Key::end},
    {GLFW_KEY_KP_ENTER, Key::enter},
    {GLFW_KEY_KP_ADD, static_cast<Key>('+')},
    {GLFW_KEY_KP_SUBTRACT, static_cast<Key>('-')},
    {GLFW_KEY_KP_MULTIPLY, static_cast<Key>('*')},
    {GLFW_KEY_KP_DIVIDE, static_cast<Key>('/')},
    {GLFW_KEY_KP_DECIMAL, static_cast<Key>('.')},
    {GLFW_KEY_SPACE, static_cast<Key>(' ')},
};

/// `key` is one of a row of keys that follow each other in both worlds.
Key key_in_row(int key, int first, Key first_key) {
  return static_cast<Key>(static_cast<int>(first_key) + key - first);
}

}  // namespace

Key key_of_glfw(int key, int scancode) {
  const auto* const named = std::ranges::find(kKeys, key, &KeyPair::glfw);
  if (named != std::end(kKeys)) {
    return named->key;
  }
  if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12) {
    return key_in_row(key, GLFW_KEY_F1, Key::f1);
  }
  if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) {
    return key_in_row(key, GLFW_KEY_KP_0, static_cast<Key>('0'));
  }
  const char* printed = glfwGetKeyName(key, scancode);
  const bool ascii = printed != nullptr && printed[0] > ' ' && printed[0] <= '~' && printed[1] == 0;
  if (ascii) {
    return static_cast<Key>(std::toupper(static_cast<unsigned char>(printed[0])));
  }
  // On layouts without Latin letters, shortcuts are where they are on a US keyboard.
  return key > GLFW_KEY_SPACE && key <= GLFW_KEY_GRAVE_ACCENT ? static_cast<Key>(key) : Key::none;
}

}  // namespace reprise::debugger
