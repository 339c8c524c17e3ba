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
        self.program = self.targets[0] if self.targets else None
        self.in_ctest = not self.program or not self.program.endswith("_tests")

    def goes_beside(self):
        return self.program or self.sources


MUTANTS = [Mutant(patch) for patch in sorted((ROOT / "tests/mutations").glob("*.patch"))]
