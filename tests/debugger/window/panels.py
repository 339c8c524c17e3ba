"""What panels do with the mouse and the keyboard of a real desktop."""
import re
import subprocess

from desktop import PROGRAMS, WindowTest, main


def nanoseconds(row):
    """The first time in it."""
    number, unit = re.search("([0-9.]+) (ns|µs|ms)", row).groups()
    return float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6}[unit]


def check_that_down_walks(test, tab, row):
    """In the rows of the panel behind that tab."""
    with test.subTest(tab=tab):
        test.window.click(f"tab/{tab}")
        test.window.click(test.window.first(row))
        before = test.window.selected(row)
        test.window.key("Down")
        after = test.window.selected(row)
        test.assertTrue(before and after, f"{before}, {after}")
        test.assertNotEqual(after, before)


class Stories(WindowTest):
    def setUp(self):
        super().setUp()
        self.window = self.open(self.copy("stories260K.db"))

    def test_tables_scroll_to_what_is_selected_elsewhere(self):
        self.window.click("tab/nodes")
        self.window.click("tab/barriers")
        self.window.click("barriers/table/row/6")
        self.window.click("tab/timeline")
        self.window.click("timeline/step/88")
        self.window.expect("inspector/all/title", "#88")
        self.window.point("nodes/table/row/88")
        self.window.click("tab/barriers")
        last = [path for path, widget in self.window.settled()["widgets"].items()
                if path.startswith("barriers/table/row/") and widget["state"] == "selected"]
        self.assertEqual(len(last), 1)
        self.window.point(last[0])

    def test_the_name_of_what_is_selected_can_be_copied(self):
        self.window.click("timeline/step/88")
        self.window.move("inspector/all/title")
        self.window.key("ctrl+c")
        self.window.click("tab/nodes")
        self.window.click("nodes/filter")
        self.window.key("ctrl+v")
        self.window.expect("nodes/filter", "88")

    def test_a_right_click_offers_what_can_be_done_with_a_node(self):
        self.window.click("tab/nodes")
        self.window.click("nodes/table/row/3", button=3)
        self.window.expect("nodes/context/copy", "Copy")

    def test_the_end_of_a_column_can_be_dragged_and_a_double_click_undoes_that(self):
        self.window.click("tab/nodes")
        before = self.window.settled()["widgets"]["nodes/table/header/op"]["box"]
        self.window.drag("nodes/table/edge/op", to=(40, 0))
        dragged = self.window.settled()["widgets"]["nodes/table/header/op"]["box"]
        self.assertAlmostEqual(dragged[2] - dragged[0], before[2] - before[0] + 40, delta=2)
        self.window.click("nodes/table/edge/op", times=2)
        self.assertEqual(self.window.settled()["widgets"]["nodes/table/header/op"]["box"], before)

    def test_a_filter_without_a_match_is_answered_with_a_sentence(self):
        self.window.click("tab/nodes")
        self.window.click("nodes/filter")
        self.window.type("op:nothing")
        self.window.expect("nodes/table/none", "No node passes the filter (op:nothing).")

    def test_up_and_down_walk_the_rows_under_the_mouse(self):
        for tab, row in (("outline", "outline/row/"), ("nodes", "nodes/table/row/"),
                         ("barriers", "barriers/table/row/"), ("memory", "memory/storage/")):
            check_that_down_walks(self, tab, row)

    def test_tab_moves_a_focus_that_is_drawn_and_enter_presses(self):
        self.window.click("graph/barriers")
        self.window.expect("graph/barriers_shown", "false")
        self.window.key("Tab", "shift+Tab")
        self.assertEqual(self.window.value("focus"), "graph/barriers")
        self.assertIn("focused", self.window.widget("graph/barriers")["state"])
        self.window.key("Return")
        self.window.expect("graph/barriers_shown", "true")

    def test_left_and_right_go_from_menu_to_menu(self):
        self.window.key("F10", "Right", "Down")
        self.window.expect("focus", "menus/view/light_theme")
        self.window.key("Right")
        self.window.expect("focus", "menus/go/")
        self.window.key("Left")
        self.window.expect("focus", "menus/view/light_theme")
        self.window.key("Return")
        self.window.wait("the menu closes", lambda: "menus/view/light_theme" not in
                         self.window.state["widgets"])

    def test_both_shows_the_spirv_where_there_is_no_source(self):
        self.window.click("tab/kernels")
        self.window.click("kernels/sides/both")
        self.window.expect("kernels/spirv/code/line/1", "; SPIR-V")

    def test_a_share_is_the_same_in_every_panel(self):
        self.window.click("outline/row/104/fold")
        row = self.window.text("outline/row/105")
        self.window.click("outline/row/105")
        title = self.window.text("inspector/all/title")
        self.window.click("tab/nodes")
        node = title[1:].split()[0]
        share = self.window.text(f"nodes/table/row/{node}/share")
        self.assertTrue(share)
        self.assertIn(share, row)
        self.assertIn(self.window.text(f"nodes/table/row/{node}/p50"), row)

    def test_barriers_tell_what_they_cost_and_between_which_nodes(self):
        self.window.click("tab/barriers")
        first = self.window.first("barriers/table/row/")
        for column in ("cost", "before", "after", "critical", "node", "cause", "reason"):
            self.assertTrue(self.window.text(f"{first}/{column}"), column)
        self.assertEqual(self.window.widget("barriers/table/header/cost")["state"], "descending")
        self.assertEqual(self.window.text(f"{first}/cost"), "14.0")

    def test_the_list_of_the_peak_holds_weights_and_caches_too(self):
        self.window.click("tab/memory")
        names = " ".join(widget["text"] for path, widget in self.window.settled()["widgets"].items()
                         if path.startswith("memory/peak_list/row/") and path.endswith("/name"))
        self.assertIn("k_cache", names)


class Demo(WindowTest):
    """Two captures, the later one with a NaN."""

    def setUp(self):
        super().setUp()
        self.before = self.copy("before.db")
        self.window = self.open(self.copy("after.db"), "--against", self.before)

    def test_the_first_screen_says_that_something_is_wrong(self):
        self.window.expect("tab/numerics/badge", "NaN")
        self.assertIn("1 NaN or infinity", self.window.widget("replays/legend")["state"])

    def test_a_result_with_a_nan_does_not_just_pass(self):
        self.window.click("tab/numerics")
        self.window.key("n")
        rows = [widget["text"] for path, widget in self.window.settled()["widgets"].items()
                if path.startswith("numerics/table/row/") and path.count("/") == 3 and
                " NaN " in widget["text"]]
        self.assertTrue(rows)
        for row in rows:
            self.assertFalse(row.endswith("  passes"), row)

    def test_diff_fits_and_begins_with_what_all_have_in_common(self):
        self.window.click("tab/diff")
        self.assertTrue(self.window.text("diff/common"))
        state = self.window.settled()
        self.assertNotIn("overflows", state)
        self.assertEqual(state["widgets"]["diff/table/header/difference"]["state"], "descending")

    def test_diff_begins_with_the_largest_change(self):
        self.window.resize(1600, 900)
        self.window.click("tab/diff")
        rows = sorted((widget["box"][1], path) for path, widget in
                      self.window.settled()["widgets"].items()
                      if path.startswith("diff/table/row/") and path.count("/") == 3)
        changes = [nanoseconds(self.window.text(path)) for _, path in rows[:5]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        self.assertGreater(changes[0], changes[-1])
        widgets = self.window.settled()["widgets"]
        table = widgets["diff/table/header/difference"]["box"]
        self.assertGreater(table[2], table[0])
        self.assertNotIn("diff/table/sideways", widgets)

    def test_up_and_down_walk_what_differs(self):
        for tab, row in (("diff", "diff/table/row/"), ("numerics", "numerics/table/row/")):
            check_that_down_walks(self, tab, row)

    def test_enter_opens_another_file_and_a_wrong_path_keeps_the_comparison(self):
        self.window.click("tab/diff")
        common = self.window.text("diff/common")
        self.window.click("diff/path")
        self.window.type("/nowhere.db")
        self.window.key("Return")
        self.window.expect("diff/other_problem", "/nowhere.db")
        self.assertEqual(self.window.text("diff/common"), common)
        self.window.click("diff/path")
        self.window.key("ctrl+a")
        self.window.type(str(self.desktop.folder / "after.db"))
        self.window.key("Return")
        self.window.expect("diff/other", "after.db")


class Arguments(WindowTest):
    def test_a_folder_is_named_as_one(self):
        refused = subprocess.run([PROGRAMS / "reprise-debugger", self.desktop.folder],
                                 env=self.desktop.environment, capture_output=True, text=True,
                                 check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("is a folder", refused.stderr)


main()
