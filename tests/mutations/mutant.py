"""The patches of this folder."""

import re

from copied_tree import ROOT


class Mutant:
    """A patch and what its header expects."""

    def __init__(self, patch):
        self.name = patch.stem
        self.patch = patch
        text = patch.read_text()

        def field(key):
            return re.findall(rf"^# {key}: (.*)$", text, re.MULTILINE)

        self.files = re.findall(r"^--- a/(.*)$", text, re.MULTILINE)
        self.tests = field("Expect")
        self.build_says = "".join(field("Expect-build"))
        self.configuration_says = "".join(field("Expect-configure"))
        self.targets = " ".join(field("Target")).split()
        self.sources = field("Object")
        self.needs = "".join(field("Needs"))
        self.program = self.targets[0] if self.targets else None
        self.in_ctest = not self.program or not self.program.endswith("_tests")

    def runs_with(self, macros):
        """Whether it changes what is compiled where these are defined."""
        return not self.needs or (self.needs.split()[-1] in macros) != self.needs.startswith("no ")

    def goes_beside(self):
        return self.program or self.sources


MUTANTS = [Mutant(patch) for patch in sorted((ROOT / "tests/mutations").glob("*.patch"))]
