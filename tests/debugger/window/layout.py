"""The parts of the window keep their places, whatever happens to its size."""
import subprocess

from desktop import PROGRAMS, WindowTest, main


def covered(inner, outer):
    """What of a box is inside of another one, in pixels."""
    width = min(inner[2], outer[2]) - max(inner[0], outer[0])
    height = min(inner[3], outer[3]) - max(inner[1], outer[1])
    return max(width, 0) * max(height, 0)


class Layout(WindowTest):
    def setUp(self):
        super().setUp()
        self.window = self.open(self.copy("stories260K.db"))
        self.window.click("tab/nodes")
        self.before = self.parts()

    def parts(self):
        """The boxes of what stands still: all but the pictures, which fit themselves in."""
        return {path: widget["box"] for path, widget in self.window.settled()["widgets"].items()
                if not path.startswith(("graph/", "timeline/"))}

    def test_a_window_that_was_small_once_is_as_before(self):
        self.window.resize(640, 400)
        self.assertNotEqual(self.parts(), self.before)
        self.window.resize(1600, 900)
        self.assertEqual(self.parts(), self.before)

    def test_no_window_is_smaller_than_its_panels_need(self):
        self.desktop.do("windowsize", self.window.id, 300, 200)
        self.window.wait("the least size", lambda: (
            self.window.state["width"], self.window.state["height"]) == (640, 400))

    def test_the_size_of_everything_goes_ten_steps_up_and_comes_back(self):
        self.window.key(*["ctrl+plus"] * 10)
        self.assertNotEqual(self.parts(), self.before)
        self.window.key("ctrl+0")
        self.assertEqual(self.parts(), self.before)

    def test_reset_layout_takes_back_what_was_dragged(self):
        self.window.drag("splitter/1", to=(150, 0))
        self.assertNotEqual(self.parts()["splitter/1"], self.before["splitter/1"])
        self.window.key("ctrl+p")
        self.window.type("reset layout")
        self.window.key("Return")
        self.assertEqual(self.parts()["splitter/1"], self.before["splitter/1"])


class Uncovered(WindowTest):
    def nothing_covers_a_node(self, window):
        window.key("Home")
        widgets = window.settled()["widgets"]
        canvas = widgets["graph/canvas"]["box"]
        boxes = [path for path in widgets if path.startswith("graph/box/") and
                 covered(widgets[path]["box"], canvas)]
        self.assertTrue(boxes)
        parts = ("graph/box/", "graph/fold/", "graph/canvas", "graph/edge", "graph/frame/")
        others = [path for path in widgets if not path.startswith(parts)]
        for box in boxes:
            for other in others:
                self.assertEqual(covered(widgets[box]["box"], widgets[other]["box"]), 0,
                                 f"{other} covers {box}")


class Graph(Uncovered):
    screen = (3840, 2160)

    def test_nothing_covers_a_node(self):
        window = self.open(self.copy("stories260K.db"))
        self.nothing_covers_a_node(window)
        window.resize(1280, 720)
        self.nothing_covers_a_node(window)

    def test_nothing_covers_a_node_at_four_times_the_size(self):
        self.nothing_covers_a_node(self.open(self.copy("stories260K.db"), "--scale", "4"))

    def test_a_long_graph_has_a_smallest_zoom_and_a_map(self):
        large = self.desktop.folder / "large.db"
        subprocess.run([PROGRAMS / "reprise_write_capture", "full", large, "1000", "8"], check=True)
        window = self.open(large)
        window.move("graph/canvas")
        window.key("shift+bracketright", "Home")
        window.wheel("graph/canvas", -40)
        self.assertGreaterEqual(float(window.value("graph/zoom")), 0.05)
        before = window.settled()["widgets"]
        boxes = {path for path in before if path.startswith("graph/box/")}
        window.drag("graph/minimap", to=(0, 100))
        after = window.settled()["widgets"]
        moved = {path for path in boxes & set(after) if after[path]["box"] != before[path]["box"]}
        self.assertTrue(moved or boxes - set(after))


class SmallScreen(Uncovered):
    screen = (1280, 720)

    def test_nothing_covers_a_node_where_there_is_room_for_one_panel(self):
        self.nothing_covers_a_node(self.open(self.copy("stories260K.db"), "--scale", "4"))


main()
