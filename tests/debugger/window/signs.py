"""What a person sees without looking for it: what is wrong, left out, cut or missing."""
import contextlib
import os
import sqlite3

from desktop import WindowTest, main

OF_NODES = """INSERT INTO events(run_id, t_ns, severity, source, code, message)
    SELECT id, t_start_ns, {severity}, 'test', 'code', 'message' FROM runs WHERE id = 2"""


class Signs(WindowTest):
    def edited(self, *statements):
        """A window on a capture of 59 replays, of which these made something else."""
        self.file = self.copy("stories260K.db")
        with contextlib.closing(sqlite3.connect(self.file)) as database, database:
            for statement in statements:
                database.execute(statement)
        return self.open(self.file)

    def test_replays_that_are_left_out_are_told(self):
        self.edited().expect("status/times", "of 58 of 59 replays; left out: 1 warm-up")

    def test_a_replay_that_was_not_timed_says_so(self):
        window = self.edited("DELETE FROM step_timings WHERE replay_id = 69")
        window.key("Left")
        window.expect("timeline/title", "91 steps, 65 barriers, not timed")
        window.expect("timeline/no-steps", "The file has no step times of this replay")

    def test_a_file_that_was_truncated_is_said_to_have_changed(self):
        window = self.edited()
        window.settled()
        os.truncate(self.file, 100_000)
        window.key("Left")
        window.expect("timeline/no-steps", "The file changed since it was opened")

    def test_an_outlier_does_not_flatten_the_others_and_is_marked(self):
        window = self.edited("UPDATE replays SET device_ns = 60 * device_ns, "
                             "wait_ns = 60 * wait_ns WHERE id = 40")
        self.assertIn("1 outlier", window.widget("replays/legend")["state"])
        window.move("replays/cells", x=28.5 / 59)
        window.expect("tooltip", "longer than a whole column")
        window.move("replays/cells", x=30.5 / 59)
        window.wait("another replay is told", lambda: "#30" in window.text("tooltip"))
        self.assertNotIn("longer than a whole column", window.text("tooltip"))

    def test_the_tab_of_the_log_counts_warnings_and_errors(self):
        window = self.edited(*(OF_NODES.format(severity=severity) for severity in (1, 2, 2, 3)))
        window.expect("tab/log/badge", "3")

    def test_colours_by_time_are_of_what_is_in_sight(self):
        window = self.edited()
        window.move("graph/canvas")
        window.key("Home")
        whole = window.text("graph/legend")
        window.click("graph/box/1")
        window.wheel("graph/box/1", 20)
        self.assertNotEqual(window.text("graph/legend"), whole)
        self.assertIn(window.text("graph/legend"), window.text("outline/row/1"))


class Demo(WindowTest):
    def test_a_node_that_held_a_nan_is_marked_in_the_graph_and_so_is_its_replay(self):
        window = self.open(self.copy("after.db"))
        legend = window.settled()["widgets"]["replays/legend"]
        self.assertIn("1 NaN or infinity", legend["state"])
        window.key("n")
        window.expect("inspector/all/title", "#78 add")
        selected = [widget["state"] for path, widget in window.settled()["widgets"].items()
                    if path.startswith("graph/box/") and "selected" in widget["state"]]
        self.assertEqual(["nan" in state.split() for state in selected], [True])


main()
