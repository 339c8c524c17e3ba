"""What a window costs that nobody touches, and one that is used for long."""
import os
import pathlib
import subprocess
import time

from desktop import WindowTest, main

MINUTES = float(os.environ.get("REPRISE_WINDOW_MINUTES", "0"))


class Idle(WindowTest):
    def test_no_frame_is_drawn_while_nothing_changes(self):
        window = self.open(self.copy("stories260K.db"))
        before = window.settled()["frames"]
        with self.assertRaises(subprocess.TimeoutExpired):
            window.process.wait(20)
        self.assertEqual(window.state["frames"], before)

    def test_memory_grows_by_less_than_a_twentieth(self):
        window = self.open(self.copy("after.db"), "--against", self.copy("before.db"))

        def resident():
            window.settled()
            for line in pathlib.Path(f"/proc/{window.process.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
            raise AssertionError("no VmRSS")

        def use():
            for tab in ("nodes", "kernels", "diff", "tensors", "memory", "barriers", "passes",
                        "statistics", "numerics", "sql", "log", "timeline", "graph", "inspector",
                        "outline"):
                window.click(f"tab/{tab}")
            for layout in "2341":
                window.key(f"ctrl+alt+{layout}")
            window.click(window.first("outline/row/"))
            window.wheel("graph/canvas", 3)
            window.wheel("graph/canvas", -3)
            window.key("ctrl+shift+l", "ctrl+shift+l", "ctrl+plus", "ctrl+0", "Home", "Escape")

        for _ in range(2):  # what is read and kept at the first time
            use()
        before, end = resident(), time.monotonic() + 60 * MINUTES
        rounds = 0
        while rounds < 2 or time.monotonic() < end:
            use()
            rounds += 1
        self.assertLess(resident(), 1.05 * before, f"kB after {rounds} rounds; {before} before")


main()
