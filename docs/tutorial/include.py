#!/usr/bin/env python3
"""Writes code and outputs into the pages of the tutorial.

  include.py BUILD           writes them, from samples/tutorial and from runs of the programs in BUILD/bin
  include.py BUILD --check   writes nothing; status 1 if a page does not show what it would write

A block of code is preceded by a comment that says where it begins and ends:
  <!-- code decoder.h "inline Tensor attention_block" -->
from the line that begins so, after blanks, to the end of its paragraph;
  <!-- code decoder.h "const Tensor h" "return add" -->
to the next line that begins so. Words are quoted as in a shell. The blocks of a page, one after
another, hold whole files: readers type them.

A block ```console holds commands behind "$ " and their outputs. The commands of a page run in one
folder, in order; it has the programs of the steps and a model file. A comment before the block says
how its outputs may differ from one run to the next; delete them to have them written anew:
  <!-- fractions vary -->   the same text around numbers with a decimal point
  <!-- numbers vary -->     the same text around any numbers
  <!-- rows vary -->        the same first line and as many lines
Programs find no Vulkan driver, so that outputs are those of a CPU.
"""
import difflib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PAGES = pathlib.Path(__file__).resolve().parent
SOURCE = PAGES.parents[1]
SAMPLES = SOURCE / "samples/tutorial"
BLOCK = re.compile(r'(?P<comment><!-- (?P<words>[^\n]*) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```\n', re.M | re.S)
VARYING = {"fractions vary": r"\d+\.\d+", "numbers vary": r"\d+(\.\d+)?", "rows vary": "$^"}


class Mistake(Exception):
    """A sentence about what is wrong in a page."""


class Code:
    """The files of one page, and how far the page has shown each of them."""

    def __init__(self):
        self.shown = {}

    def block(self, words):
        """The lines that a comment asks for."""
        try:
            _, file, begin, *end = shlex.split(words)
        except ValueError:
            raise Mistake(f'the comment <!-- {words} --> is not of the form code FILE "BEGIN" ["END"]') from None
        lines = (SAMPLES / file).read_text().splitlines()
        starts = [i for i, line in enumerate(lines) if line.lstrip().startswith(begin)]
        if len(starts) != 1:
            raise Mistake(f"{len(starts)} lines of {file} begin with '{begin}', but 1 is needed")
        first = last = starts[0]
        for text in end:
            last = next((i for i in range(first, len(lines)) if lines[i].lstrip().startswith(text)), None)
            if last is None:
                raise Mistake(f"no line of {file} behind '{begin}' begins with '{text}'")
        while not end and last + 1 < len(lines) and lines[last + 1].strip():
            last += 1
        self.require_next(file, lines, first)
        self.shown[file] = last + 1
        return "".join(line + "\n" for line in lines[first:last + 1])

    def require_next(self, file, lines, line):
        due = self.shown.get(file, 0)
        while due < len(lines) and not lines[due].strip():
            due += 1
        if line != due:
            place = f"line {due + 1}" if due < len(lines) else "nothing"
            raise Mistake(f"{place} of {file} is to be shown next, not line {line + 1}")

    def require_whole(self):
        for file in self.shown:
            lines = (SAMPLES / file).read_text().splitlines()
            self.require_next(file, lines, len(lines))


class Shell:
    """The folder of a reader: programs under the names of their sources, and a model."""

    def __init__(self, build, folder):
        self.folder = folder
        for program in (build / "bin").glob("tutorial_*"):
            (folder / program.name.removeprefix("tutorial_")).symlink_to(program)
        shutil.copy(SOURCE / "samples/models/tales-q8_0.gguf", folder)
        self.environment = os.environ | {"PATH": f"{build}/bin:{os.environ['PATH']}", "COLUMNS": "100"}
        self.environment |= {"VK_ICD_FILENAMES": "/nonexistent", "VK_DRIVER_FILES": "/nonexistent"}

    def output(self, command):
        done = subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        text = done.stdout.replace(f"{SAMPLES}/", "").replace("samples/tutorial/", "")
        return "".join(line.rstrip() + "\n" for line in text.splitlines())

    def console(self, text):
        commands = [line for line in text.splitlines() if line.startswith("$ ")]
        return "".join(f"{command}\n{self.output(command.removeprefix('$ '))}" for command in commands)


def alike(shown, made, words):
    """Whether a block may stay as it is."""
    if words in VARYING:
        # The widths of columns follow the lengths of their values.
        shown, made = (re.sub(" +", " ", re.sub(VARYING[words], "0", text)) for text in (shown, made))
    if words == "rows vary":
        shown, made = ([*text.splitlines()[:2], text.count("\n")] for text in (shown, made))
    return shown == made


def included(page, shell):
    """The text of a page with its blocks made anew."""
    pieces = Code()

    def replace(match):
        words, language, shown = match["words"] or "", match["language"], match["text"]
        if words.startswith("code"):
            made = pieces.block(words)
        elif language == "console":
            made = shell.console(shown)
            if alike(shown, made, words):
                made = shown
        elif language == "cpp":
            raise Mistake(f"no comment says where the code comes from that begins with '{shown.splitlines()[0]}'")
        else:
            return match[0]
        return f"{match['comment'] or ''}```{language}\n{made}```\n"
    text = BLOCK.sub(replace, page.read_text())
    pieces.require_whole()
    return text


def main(build, check):
    stale = False
    for page in sorted(PAGES.glob("*.md")):
        with tempfile.TemporaryDirectory() as folder:
            try:
                text = included(page, Shell(build, pathlib.Path(folder)))
            except Mistake as mistake:
                sys.exit(f"error: {page}: {mistake}.")
        if not check:
            page.write_text(text)
        elif text != page.read_text():
            stale = True
            sys.stdout.writelines(difflib.unified_diff(
                page.read_text().splitlines(True), text.splitlines(True), f"{page.name} as it is", "as it should be"))
    if stale:
        sys.exit("error: Pages differ from what include.py writes; run it without --check.")


if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]).resolve(), bool(sys.argv[2:]))
