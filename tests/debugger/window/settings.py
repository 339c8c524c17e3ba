"""What the window keeps from one start to the next."""
import contextlib
import json
import pathlib
import shutil
import signal
import sqlite3

from desktop import WindowTest, main


class Settings(WindowTest):
    def setUp(self):
        super().setUp()
        self.database = self.copy("stories260K.db")

    def kept(self, window, what, condition):
        """Waits until the file of the settings holds it, while the window is open."""
        file = self.desktop.folder / "config/reprise/debugger.json"
        window.wait(what, lambda: file.exists() and condition(json.loads(file.read_text())))

    def test_a_window_that_is_killed_loses_nothing_that_is_a_second_old(self):
        window = self.open(self.database)
        window.resize(1200, 800)
        window.key("ctrl+shift+l", "ctrl+plus")
        window.click("tab/nodes")
        window.click("nodes/filter")
        window.type("op:matmul")
        self.kept(window, "the last change", lambda kept: "op:matmul" in kept.get("filters", {}).values())
        before = window.settled()
        self.assertEqual(window.kill(signal.SIGTERM), -signal.SIGTERM)

        after = self.open(self.database).settled()
        self.assertEqual((after["width"], after["height"]), (1200, 800))
        self.assertEqual(after["scale"], before["scale"])
        for path in ("nodes/filter", "nodes/count", "tab/nodes", "splitter/1"):
            for part in ("box", "text"):
                self.assertEqual(after["widgets"][path][part], before["widgets"][path][part])

    def test_a_window_that_opens_maximised_keeps_the_size_it_had_before(self):
        window = self.open(self.database)
        window.resize(1200, 800)
        self.kept(window, "the size", lambda kept: kept.get("window", {}).get("width") == 1200)
        window.kill(signal.SIGTERM)
        file = self.desktop.folder / "config/reprise/debugger.json"
        settings = json.loads(file.read_text())
        settings["window"]["maximised"] = True
        file.write_text(json.dumps(settings))

        window = self.open(self.database)
        window.wait("a larger window", lambda: window.state["width"] > 1200)
        window.key("ctrl+shift+l")
        self.kept(window, "the theme", lambda kept: kept.get("light"))
        self.assertEqual(json.loads(file.read_text())["window"], settings["window"])

    def test_a_file_that_was_opened_is_a_recent_file_and_the_theme_of_the_command_line_stays(self):
        window = self.open(self.database, "--theme", "light")
        self.kept(window, "the file", lambda kept: kept.get("recent") and kept.get("light"))
        window.kill(signal.SIGTERM)
        self.open().expect("start/recent/0", "stories260K.db")

    def test_the_order_and_the_widths_of_a_table_come_back(self):
        window = self.open(self.database)
        window.click("tab/nodes")
        window.click("nodes/table/header/p50")
        window.drag("nodes/table/edge/op", to=(30, 0))
        self.kept(window, "a width", lambda kept: "widths" in kept.get("tables", {}).get("nodes/table", {}))
        before = window.settled()["widgets"]
        self.assertEqual(before["nodes/table/header/p50"]["state"], "descending")
        window.kill(signal.SIGTERM)

        after = self.open(self.database).settled()["widgets"]
        self.assertEqual(after["nodes/table/header/p50"], before["nodes/table/header/p50"])
        self.assertEqual({path for path in after if path.startswith("nodes/table/row")},
                         {path for path in before if path.startswith("nodes/table/row")})

    def test_a_source_file_that_was_agreed_to_is_shown_the_next_time(self):
        source = self.desktop.folder / "elsewhere/forward.cpp"
        source.parent.mkdir()
        source.write_text("first\nsecond\n", encoding="utf-8")
        folder = self.desktop.folder / "captures"
        folder.mkdir()
        database = pathlib.Path(shutil.move(self.database, folder))
        with contextlib.closing(sqlite3.connect(database)) as edited, edited:
            edited.execute("UPDATE nodes SET src_file = ?, src_line = 2", [str(source)])
        window = self.open(database, cwd=folder)
        window.click("outline/row/2")
        window.click("inspector/all/source-allow")
        window.expect("inspector/all/line/2", "second")
        self.kept(window, "the consent", lambda kept: kept.get("sources"))
        window.kill(signal.SIGTERM)

        window = self.open(database, cwd=folder)
        window.click("outline/row/2")
        window.expect("inspector/all/line/2", "second")

    def test_the_demo_asks_nobody_for_its_own_sources(self):
        window = self.open("--demo")
        window.click("tab/nodes")
        window.click("nodes/table/row/1")
        window.expect("inspector/all/source", "demo_capture.cpp")
        self.assertNotIn("inspector/all/source-allow", window.settled()["widgets"])


main()
