#!/usr/bin/env python3
"""Checks the pages: README.md, CONTRIBUTING.md and docs/**/*.md below ROOT.

  docs/check_prose.py [ROOT]

Every page: sentences of at most 20 words on average, lines of at most 120 characters outside of
tables and code, links and anchors that lead somewhere, a way to it from docs/README.md. The pages
that a reader meets first, and comments of public headers: no turn of phrase of the list below;
those pages: no sentence above 35 words. README.md: at most 120 lines of at most 120 characters.
"""
import pathlib
import re
import sys

MAX_MEAN_WORDS = 20
MAX_WORDS = 35
MAX_COLUMNS = 120
MAX_README_LINES = 120
INDEX = "docs/README.md"
SOURCE_FOLDERS = ("samples", "bench")  # an installed tree has none
FIRST = re.compile(r"README\.md|docs/README\.md|docs/concepts\.md|docs/tutorial/.*")
PHRASES = [
    ("there is not", r"\bthere (is|are) not\b"),
    ("leading 'Of'", r"^Of\b"),
    ("of whom", r"\bof whom\b"),
    ("whatever the", r"\bwhatever the\b"),
    ("has no use for", r"\b(has|have) no use\b"),
    ("what becomes of", r"\bwhat (becomes|became) of\b"),
    ("goes at the end of the statement", r"\bgoes? at the end of the statement\b"),
]


class Page:
    """What a page says, apart from its code, tables, headings and pictures."""

    def __init__(self, root, path):
        self.name = path.relative_to(root).as_posix()
        self.folder = path.parent
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.anchors, self.long_lines, self.links, blocks = set(), [], [], [[]]
        fence = None
        for number, line in enumerate(self.lines, 1):
            mark = re.match(r"\s*(```+|~~~+)", line)
            if fence or mark:
                if mark and (fence is None or mark.group(1) == fence):
                    fence = None if fence else mark.group(1)
                blocks.append([])
                continue
            heading = re.match(r"#+\s+(.*)", line)
            table = line.lstrip().startswith("|")
            if heading:
                self.anchors.add(anchor_of(heading.group(1)))
            self.anchors.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
            self.links += re.findall(r"\]\(([^()\s]+)\)", re.sub(r"`[^`]*`", "", line))
            if len(line) > MAX_COLUMNS and not table:
                self.long_lines.append((number, len(line)))
            if heading or table or not line.strip() or line.lstrip().startswith(("<!--", "![")):
                blocks.append([])
            else:
                item = re.match(r"\s*(?:[-*]|\d+\.)\s+(.*)", line)
                blocks += [[item.group(1)]] if item else []
                if not item:
                    blocks[-1].append(line.strip())
        self.sentences = [s for block in blocks for s in sentences_of(" ".join(block))]


def anchor_of(heading):
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")


def sentences_of(text):
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "Code", text).replace("*", "")
    found = re.split(r"(?<=[.!?])[)\"']?\s+(?=[^a-z])", text)
    return [s for s in (s.strip() for s in found) if s]


def words_of(sentence):
    return len(re.findall(r"[^\s\-–—/]+", sentence))


def prose_problems(page):
    for number, columns in page.long_lines:
        yield f"{page.name}:{number}: the line has {columns} characters; at most {MAX_COLUMNS}"
    counts = [words_of(s) for s in page.sentences]
    if counts and sum(counts) > MAX_MEAN_WORDS * len(counts):
        yield (f"{page.name}: sentences have {sum(counts) / len(counts):.1f} words on average; "
               f"at most {MAX_MEAN_WORDS}")
    if not FIRST.fullmatch(page.name):
        return
    for sentence, count in zip(page.sentences, counts):
        if count > MAX_WORDS:
            yield f"{page.name}: a sentence has {count} words; at most {MAX_WORDS}: {sentence}"
        yield from phrase_problems(page.name, sentence)


def phrase_problems(name, sentence):
    for phrase, pattern in PHRASES:
        if re.search(pattern, sentence, 0 if pattern.startswith("^") else re.IGNORECASE):
            yield f"{name}: \"{phrase}\": {sentence}"


def header_problems(root):
    """What comments of public headers say; one that follows code is a sentence of its own."""
    for path in sorted(root.glob("framework/include/reprise/**/*.h")):
        blocks = [[]]
        for line in path.read_text(encoding="utf-8").splitlines():
            code, mark, comment = line.partition("//")
            if code.strip() or not mark:
                blocks.append([])
            if mark:
                blocks[-1].append(comment.lstrip("/").strip())
        for block in blocks:
            for sentence in sentences_of(" ".join(block)):
                yield from phrase_problems(path.relative_to(root).as_posix(), sentence)


def readme_problems(page):
    if len(page.lines) > MAX_README_LINES:
        yield f"{page.name}: it has {len(page.lines)} lines; at most {MAX_README_LINES}"
    for number, line in enumerate(page.lines, 1):
        if len(line) > MAX_COLUMNS and line.lstrip().startswith("|"):
            yield f"{page.name}:{number}: the row has {len(line)} characters; at most {MAX_COLUMNS}"


def link_problems(root, pages):
    """Also finds what cannot be reached from the index."""
    reached, open_pages = {INDEX}, [INDEX]
    leads = {}
    for page in pages.values():
        leads[page.name] = []
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.folder / path).resolve() if path else root / page.name
            folder = next((f for f in SOURCE_FOLDERS if target.is_relative_to(root / f)), None)
            if folder and not (root / folder).exists():
                continue
            if not target.exists():
                yield f"{page.name}: the link ({link}) leads nowhere"
                continue
            name = target.relative_to(root).as_posix() if target.is_relative_to(root) else ""
            if name in pages:
                leads[page.name].append(name)
                if anchor and anchor not in pages[name].anchors:
                    yield f"{page.name}: the page of ({link}) has no such heading"
    while open_pages:
        for name in leads.get(open_pages.pop(), []):
            if name not in reached:
                reached.add(name)
                open_pages.append(name)
    for name in sorted(set(pages) - reached):
        yield f"{name}: cannot be reached from {INDEX}"


def problems_of(root):
    paths = [root / "README.md", root / "CONTRIBUTING.md", *sorted(root.glob("docs/**/*.md"))]
    pages = {page.name: page for page in (Page(root, p) for p in paths if p.exists())}
    if INDEX not in pages:
        yield f"{INDEX}: there is no index"
    for page in pages.values():
        yield from prose_problems(page)
    if "README.md" in pages:
        yield from readme_problems(pages["README.md"])
    yield from header_problems(root)
    yield from link_problems(root, pages)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = list(problems_of(root.resolve()))
    print("\n".join(found) if found else "no problem was found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
