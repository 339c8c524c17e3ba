"""What a file shows from the start."""
import subprocess

from desktop import PROGRAMS, WindowTest, main


class Opening(WindowTest):
    def test_a_large_file_opens_without_the_mouse(self):
        large = self.desktop.folder / "large.db"
        subprocess.run([PROGRAMS / "reprise_write_capture", "full", large, "5000", "64"], check=True)
        window = self.open(large)
        window.expect("header/nodes", "5,000 nodes")
        self.assertEqual(window.state["inputs"], 0)

    def test_a_dropped_file_opens(self):
        window = self.open()
        window.drop(self.copy("stories260K.db").rename(self.desktop.folder / "a b%20.db"))
        window.expect("status/file", "a b%20.db")

    def test_a_dropped_file_that_is_no_database_leaves_one_at_the_start_with_the_reason(self):
        window = self.open()
        wrong = self.desktop.folder / "wrong.db"
        wrong.write_text("no database", encoding="utf-8")
        window.drop(wrong)
        window.expect("start/problem", "reprise db check")


main()
