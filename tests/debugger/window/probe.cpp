// Opens a window of the debugger and counts the clicks on a button and the presses of N; Escape
// closes it. Prints both, and what the validation layer said to the end. Driven by input.py:
// probe [--state FILE].
#include <iostream>
#include <optional>

#include "debugger/app/window_host.h"

int main(int argc, char** argv) try {
  using reprise::debugger::Ui;
  std::optional<reprise::debugger::WindowHost> host;
  host.emplace(reprise::debugger::WindowOptions{.title = "window_probe",
                                                .width = 400,
                                                .height = 300,
                                                .scale = {},
                                                .place = {},
                                                .validation = true,
                                                .state = argc == 3 ? argv[2] : ""});
  int clicks = 0, presses = 0;
  reprise::debugger::View view;
  view.draw = [&](Ui& ui) {
    clicks += ui.button("button", "Click here with the mouse") ? 1 : 0;
    while (ui.keys().take("N")) {
      ++presses;
    }
    if (ui.keys().take("Escape")) {
      host->close();
    }
  };
  host->run(view);
  std::cout << "clicks " << clicks << ", presses " << presses << '\n';
  const auto log = host->validation_log();
  host.reset();
  for (const std::string& message : log->messages()) {
    std::cout << message << '\n';
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << "error: " << e.what() << '\n';
  return 1;
}
