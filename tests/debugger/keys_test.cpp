#include "debugger/ui/keys.h"

#include <map>

#include <gtest/gtest.h>

#include "debugger/app/headless_host.h"

namespace reprise::debugger {
namespace {

KeyPress press_of(std::string_view name) { return key_press_of(name).value(); }

TEST(KeyNames, GoBothWays) {
  for (const char* name : {"F9", "[", "?", "Space", "Ctrl+P", "Ctrl+Shift+P", "Ctrl+Shift+Alt+F12",
                           "Alt+Left", "Ctrl++", "Shift+-", "PageDown", "Escape", "0"}) {
    const std::optional<KeyPress> press = key_press_of(name);
    ASSERT_TRUE(press) << name;
    EXPECT_EQ(name_of(*press), name);
  }
}

TEST(KeyNames, OfNoKeyAreNothing) {
  for (const char* name :
       {"", "Ctrl+", "F13", "p", "Ctrl+p", "Hyper+P", "PP", "\x7F", "\xC3\xA4"}) {
    EXPECT_FALSE(key_press_of(name)) << name;
  }
}

/// Taps keys between two frames and draws frames until all events are used; what was taken, in
/// order.
std::vector<std::string> taken_of(HeadlessHost& host, const std::vector<std::string>& taps,
                                  const std::vector<std::string>& wanted) {
  for (const std::string& tap : taps) {
    host.keys().push(press_of(tap), true);
    host.keys().push(press_of(tap), false);
  }
  std::vector<std::string> taken;
  do {
    host.frame([&](Ui& ui) {
      for (const std::string& name : wanted) {
        while (ui.keys().take(name)) {
          taken.push_back(name);
        }
      }
    });
  } while (host.pending());
  return taken;
}

TEST(KeyQueue, TapsBetweenTwoFramesAllCountInTheirOrder) {
  HeadlessHost host;
  const std::vector<std::string> taps = {"N", "N", "N", "F9", "Ctrl+P", "P", "N"};
  EXPECT_EQ(taken_of(host, taps, {"N", "P", "Ctrl+P", "F9"}), taps);
}

TEST(KeyQueue, PressIsTakenOnce) {
  HeadlessHost host;
  EXPECT_EQ(taken_of(host, {"H"}, {"H", "H"}), std::vector<std::string>{"H"});
}

TEST(KeyQueue, AHeldKeyCountsOnceUnlessItMoves) {
  HeadlessHost host;
  const std::vector<std::string> keys = {"Space", "H", "F11",  "Escape", "Up",    "Down",
                                         "Left",  "C", "Home", "PageUp", "Right", "PageDown"};
  std::map<std::string, int> taken;
  for (const std::string& key : keys) {
    host.keys().push(press_of(key), true);
    host.keys().push(press_of(key), true, true);
    host.keys().push(press_of(key), true, true);
    host.keys().push(press_of(key), false);
  }
  do {
    host.frame([&](Ui& ui) {
      for (const std::string& key : keys) {
        while (ui.keys().take(key)) {
          ++taken[key];
        }
      }
    });
  } while (host.pending());
  EXPECT_EQ(taken, (std::map<std::string, int>{{"Space", 1},
                                               {"H", 1},
                                               {"F11", 1},
                                               {"Escape", 1},
                                               {"C", 1},
                                               {"Home", 1},
                                               {"Up", 3},
                                               {"Down", 3},
                                               {"Left", 3},
                                               {"Right", 3},
                                               {"PageUp", 3},
                                               {"PageDown", 3}}));
}

TEST(KeyQueue, ModifiersDistinguishPresses) {
  HeadlessHost host;
  EXPECT_TRUE(taken_of(host, {"Ctrl+F"}, {"F", "Shift+F", "Ctrl+Shift+F"}).empty());
}

TEST(KeyQueue, PressNobodyTakesIsGoneInTheNextFrame) {
  HeadlessHost host;
  EXPECT_TRUE(taken_of(host, {"F"}, {}).empty());
  EXPECT_TRUE(taken_of(host, {}, {"F"}).empty());
}

TEST(KeyQueue, TextInputHasPrecedenceOverWhatItEditsWith) {
  HeadlessHost host;
  std::string text;
  const auto draw_input = [&](Ui& ui) {
    ui.focus("text");
    ui.input("text", "", text, 100);
  };
  host.frame(draw_input);
  host.frame(draw_input);
  const std::vector<std::string> names = {"F",  "Shift+F", "Ctrl+C", "Ctrl+Left", "Left",
                                          "F9", "Escape",  "Ctrl+P", "Alt+Left",  "Ctrl+Enter"};
  std::vector<std::string> taken;
  for (const std::string& name : names) {
    host.keys().push(press_of(name), true);
    host.keys().push(press_of(name), false);
  }
  do {
    host.frame([&](Ui& ui) {
      draw_input(ui);
      for (const std::string& name : names) {
        if (ui.keys().take(name)) {
          taken.push_back(name);
        }
      }
    });
  } while (host.pending());
  EXPECT_EQ(taken, (std::vector<std::string>{"F9", "Escape", "Ctrl+P", "Alt+Left", "Ctrl+Enter"}));
}

TEST(KeyQueue, TypedTextReachesAnInputInOrderWithTheKeysThatEdit) {
  HeadlessHost host;
  std::string text;
  const auto draw = [&](Ui& ui) {
    ui.focus("text");
    ui.input("text", "", text, 100);
  };
  host.frame(draw);
  host.frame(draw);
  host.keys().push_character('a');
  host.keys().push_character('b');
  host.keys().push({.key = Key::backspace}, true);
  host.keys().push({.key = Key::backspace}, false);
  host.keys().push_character(0x3BC);
  do {
    host.frame(draw);
  } while (host.pending());
  EXPECT_EQ(text, "a\xCE\xBC");
}

TEST(KeyQueue, WhatIsTypedRightAfterTheShortcutOfAnInputGoesIntoIt) {
  HeadlessHost host;
  std::string text;
  bool taken = false;
  const auto draw = [&](Ui& ui) {
    ui.input("filter", "", text, 100);
    if (ui.keys().take("Ctrl+F")) {
      ui.focus("filter");
    }
    taken = ui.keys().take("N") || taken;
  };
  host.frame(draw);
  host.keys().push(press_of("Ctrl+F"), true);
  host.keys().push(press_of("Ctrl+F"), false);
  host.keys().push(press_of("N"), true);
  host.keys().push_character('n');
  host.keys().push(press_of("N"), false);
  do {
    host.frame(draw);
  } while (host.pending());
  EXPECT_EQ(text, "n");
  EXPECT_FALSE(taken);
}

}  // namespace
}  // namespace reprise::debugger
