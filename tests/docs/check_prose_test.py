"""docs/check_prose.py finds each fault it is there for, and nothing else, in pages made here."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "docs/check_prose.py"
SOUND = {
    "README.md": "# Name\nIt does a thing. See [all pages](docs/README.md).\n",
    "docs/README.md": "# All pages\n[The front](../README.md), [a page](page.md#one-part) and [terms](concepts.md).\n",
    "docs/page.md": "# A page\n## One part\n```\n" + "c" * 130 + "\n```\n| " + "t" * 130 + " |\n",
    "docs/concepts.md": "# Terms\nA term means this..\n",
}


def said_of(changes):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (SOUND | changes).items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, folder], text=True, capture_output=True, check=False)
        return done.returncode, done.stdout.splitlines()


class CheckProse(unittest.TestCase):
    def finds(self, name, text, problem):
        status, said = said_of({name: text})
        self.assertEqual(status, 1)
        self.assertEqual(len(said), 1, said)
        self.assertIn(problem, said[0])

    def test_sound_pages_have_no_problem(self):
        changed = {"docs/concepts.md": "# Terms\nIt means this. And this.\n"}
        self.assertEqual(said_of(changed), (0, ["no problem was found"]))

    def test_sentences_that_are_long_on_average(self):
        self.finds("docs/page.md", "# A page\n## One part\n" + "word " * 21 + ".\n", "22.0 words on average")

    def test_a_long_sentence_where_readers_begin(self):
        text = "# Terms\n" + "Short. " * 9 + "\n" + "word\n" * 36 + "end.\n"
        self.finds("docs/concepts.md", text.replace("word", "Word", 1), "37 words; at most 35")

    def test_a_line_that_is_long(self):
        self.finds("docs/page.md", "# A page\n## One part\n" + "A sentence. " * 11 + "\n", "page.md:3: the line has")

    def test_a_readme_that_is_long(self):
        self.finds("README.md", SOUND["README.md"] + "\n" * 119, "it has 121 lines")

    def test_a_row_of_the_readme_that_is_wide(self):
        self.finds("README.md", SOUND["README.md"] + "\n| " + "t" * 130 + " |\n", "the row has 134")

    def test_a_link_that_leads_nowhere(self):
        self.finds("docs/concepts.md", "# Terms\nSee [it](missing.md).\n", "(missing.md) leads nowhere")

    def test_a_heading_that_is_missing(self):
        self.finds("docs/page.md", "# A page\n## Another part\n", "(page.md#one-part) has no such heading")

    def test_a_page_that_nothing_leads_to(self):
        self.finds("docs/lonely.md", "# Alone\n", "lonely.md: cannot be reached")

    def test_an_index_that_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, SCRIPT, folder], text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, "docs/README.md: there is no index\n"))

    def test_turns_of_phrase(self):
        for phrase in ("A name that there is not.", "Of the two, it takes one.", "A man of whom I spoke.",
                       "It keeps whatever the memory held.", "A call has no use for it.",
                       "It says what becomes of it.", "This goes at the end of the statement."):
            self.finds("docs/concepts.md", f"# Terms\n{phrase}\n", f"concepts.md: \"")


if __name__ == "__main__":
    unittest.main()
