"""Mouse, keyboard and window manager reach the program, whatever they do."""
import json
import os
import subprocess

from desktop import PROGRAMS, WindowTest, main


class Input(WindowTest):
    def test_every_short_click_and_key_press_counts_and_the_rules_of_vulkan_are_kept(self):
        window = self.open(program="reprise_window_probe")
        window.click("button", times=10)
        window.key(*["n"] * 10)
        window.key("ctrl+plus")
        window.resize(500, 350)
        window.key("Escape")
        self.assertEqual(window.process.wait(10), 0)
        self.assertEqual(window.output(), "clicks 10, presses 10\n")

    def test_a_display_that_is_missing_is_named_in_one_line(self):
        refused = subprocess.run([PROGRAMS / "reprise_window_probe"], capture_output=True,
                                 text=True, check=False, env=dict(os.environ, DISPLAY=""))
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, r"\Aerror: A window needs a display.*\n\Z")

    def test_a_window_that_was_iconified_is_drawn_again_and_one_that_is_closed_ends_well(self):
        window = self.open(self.copy("stories260K.db"))
        before = window.settled()
        self.desktop.do("windowminimize", window.id)
        window.wait("it is out of sight", lambda: not self.desktop.ask(
            "search", "--onlyvisible", "--pid", window.process.pid).stdout)
        self.desktop.do("windowactivate", window.id)
        after = window.wait("it is drawn again",
                            lambda: window.settled()["frames"] > before["frames"] and window.state)
        self.assertEqual(after["widgets"], before["widgets"])
        self.assertEqual(window.close(), 0)
        self.assertEqual(window.output(), "")

    def test_a_scale_comes_back_after_as_many_steps_down_and_up(self):
        window = self.open(self.copy("stories260K.db"))
        before = window.settled()["widgets"]
        window.key(*["ctrl+minus"] * 10)
        self.assertEqual(window.settled()["scale"], 0.5)
        window.key(*["ctrl+plus"] * 8)  # as many as there are down to the least
        self.assertEqual(window.settled()["widgets"], before)


main()
