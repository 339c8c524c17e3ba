"""A file that others write to while the window is open."""
import subprocess

from desktop import PROGRAMS, WindowTest, main


class Writer:
    """A second process that records a graph of ten nodes into the file and replays it when asked."""

    def __init__(self, file):
        self.process = subprocess.Popen(
            [PROGRAMS / "reprise_write_capture", "live", file, "10"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def replay(self, times):
        self.process.stdin.write(f"{times}\n")
        self.process.stdin.flush()
        self.process.stdout.readline()  # all are committed

    def end(self):
        self.process.communicate()


class Live(WindowTest):
    def setUp(self):
        super().setUp()
        self.file = self.desktop.folder / "live.db"
        self.writer = Writer(self.file)
        self.addCleanup(self.writer.end)
        self.writer.replay(5)
        self.window = self.open(self.file)

    def test_replays_that_are_added_are_shown_and_the_newest_is_followed(self):
        self.window.expect("header/run_state", "LIVE")
        self.window.expect("header/replays", "5 replays")
        self.window.expect("replays/shown", "4")
        self.writer.replay(3)
        for path in ("header/replays", "replays/cells"):
            self.window.expect(path, "8 replays")
        self.window.expect("replays/shown", "7")
        self.window.expect("inspector/all/replays", "8, 8 with step times")
        self.window.expect("status/times", "of 8 replays")

    def test_a_replay_that_was_chosen_stays_until_the_newest_is_wanted_again(self):
        self.window.key("Left")
        self.window.expect("replays/shown", "3")
        self.writer.replay(2)
        self.window.expect("header/replays", "7 replays")
        self.window.expect("replays/shown", "3")
        self.window.key("End")
        self.window.expect("replays/shown", "6")
        self.writer.replay(1)
        self.window.expect("replays/shown", "7")

    def test_a_run_that_somebody_adds_is_named_and_a_click_leads_there(self):
        self.writer.end()  # one writes at a time
        other = Writer(self.file)
        self.addCleanup(other.end)
        other.replay(2)
        self.window.expect("header/added_run", "Run 2 was added")
        self.window.expect("header/capture", "run 1")
        self.window.click("header/added_run")
        self.window.expect("header/capture", "run 2")
        self.window.expect("header/replays", "2 replays")


main()
