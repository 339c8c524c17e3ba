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


main()
