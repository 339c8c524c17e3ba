#!/usr/bin/env python3
"""Applies each patch of this folder, or those named, to a copy of the tree and expects what its
header names:

  # <what it breaks>
  # Expect: <test>               this test fails; a line per test that must
  # Expect-build: <text>         the build stops and says this
  # Expect-configure: <text>     the configuration stops and says this
  # Target: <target>             what to build for it; without one nothing is built

A test belongs to the test program among the targets, or to ctest. The copy and its build stay under
build/mutants, so that a later run is quick. A patch of C++ files leaves both as they are: what it
changes is compiled and linked beside them (clang sees the patched files in the place of those of the
copy), so that as many run at once as there are processors. Other patches are applied, one by one.
"""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "build/mutants"
TREE = SCRATCH / "tree"
BUILD = SCRATCH / "dev"
PATCHES = sorted((ROOT / "tests/mutations").glob("*.patch"))
# In the copy, git must not find the repository.
ENVIRONMENT = dict(os.environ, GIT_CEILING_DIRECTORIES=str(SCRATCH))


def run(*command, cwd=TREE, **environment):
    """Returns the exit status of a command and what it printed."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=ENVIRONMENT | environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode(errors="replace")


def copy_tree():
    """Makes the copy equal to the tree and touches only what differs, so that little is rebuilt."""
    TREE.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                            check=True, stdout=subprocess.PIPE).stdout.decode()
    wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    for file in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(file.relative_to(TREE)) not in wanted and "__pycache__" not in file.parts:
            file.unlink()
    for name in wanted:
        source, copy = ROOT / name, TREE / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
            copy.chmod(source.stat().st_mode)


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
        self.program = next((t for t in self.targets if re.fullmatch("reprise.*_tests", t)), None)

    def goes_beside(self):
        return self.program and not self.build_says and all(f.endswith((".cpp", ".h"))
                                                            for f in self.files)


def configure():
    # A source that has a patch is compiled alone, so that the patch costs no other, and kernels for
    # one instruction set instead of four; few tests run, so that only kernels are optimised.
    alone = sorted({file for patch in PATCHES for file in Mutant(patch).files})
    return run("cmake", "--preset", "dev", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
               "-DREPRISE_NATIVE_KERNELS=ON", "-DREPRISE_ALONE=" + ";".join(alone),
               "-S", TREE, "-B", BUILD)


def build(targets):
    return run("cmake", "--build", BUILD, "--target", *targets) if targets else (0, "")


def run_tests(program, tests):
    """Runs tests of a program, or of ctest; returns how many passed, and what was printed."""
    if program is None:
        pattern = "|".join(re.escape(test) for test in tests)
        _, printed = run("ctest", "--test-dir", BUILD, "-R", f"^({pattern})$", "--no-tests=error")
        return len(re.findall(r"^ *\d+/\d+ Test .* Passed ", printed, re.MULTILINE)), printed
    with tempfile.TemporaryDirectory() as own:  # two mutants may run the same test
        _, printed = run(program, "--gtest_brief=1", "--gtest_filter=" + ":".join(tests),
                         TMPDIR=own, TEST_TMPDIR=own)
    return int((re.findall(r"PASSED  \] (\d+) tests?", printed) or ["0"])[0]), printed


def said(text, printed):
    """Whether a message was printed; messages may be wrapped."""
    return text in " ".join(printed.split())


def judge_stop(what, text, status, printed):
    """The verdict on a mutant that must stop the configuration or the build."""
    if status == 0:
        return f"SURVIVED: the {what} goes on", printed
    if not text or not said(text, printed):
        return f"BROKEN: the {what} stops", printed
    return f"by the {what}: {text}", printed


def judge_tests(program, tests):
    for test in tests:
        passed, printed = run_tests(program, [test])
        if passed:
            return f"SURVIVED: {test} passes", printed
    return "by " + ", ".join(tests), ""


class Built:
    """What ninja knows of the build without a patch."""

    def __init__(self, programs):
        self.compiles = {entry["output"]: entry["command"]
                         for entry in json.loads(self.ask("compdb"))}
        self.reads = {}  # by file, the objects made from it
        for line in self.ask("deps").splitlines():
            if not line.startswith(" "):
                output = line.split(":")[0]
            elif line.strip().startswith(str(TREE)):
                self.reads.setdefault(line.strip(), []).append(output)
        self.links = {program: self.ask("commands", "-s", "bin/" + program) for program in programs}

    @staticmethod
    def ask(tool, *words):
        return subprocess.run(["ninja", "-C", BUILD, "--quiet", "-t", tool, *words], check=True,
                              stdout=subprocess.PIPE).stdout.decode()

    def objects(self, mutant):
        """What of a mutant's program is made from the patched files."""
        link = self.links[mutant.program]
        objects = {object for file in mutant.files for object in self.reads.get(str(TREE / file), [])}
        return [object for object in sorted(objects) if object in link or
                f"lib{re.search('([^/]*)[.]dir/', object)[1]}.a" in link]


def compile_beside(built, mutant, place):
    """Builds the program of a mutant in a folder of its own."""
    shutil.rmtree(place, ignore_errors=True)
    overlay = {"version": 0, "use-external-names": False, "roots": []}
    for file in mutant.files:
        (place / "tree" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TREE / file, place / "tree" / file)
        overlay["roots"].append({"type": "file", "name": str(TREE / file),
                                 "external-contents": str(place / "tree" / file)})
    (place / "overlay.json").write_text(json.dumps(overlay))
    status, printed = run("git", "apply", mutant.patch, cwd=place / "tree")
    objects = built.objects(mutant)
    if status != 0 or not objects:
        return 1, printed or "The program has no object of these files."
    link = shlex.split(built.links[mutant.program].split(" && ")[1])
    link[link.index("-o") + 1] = str(place / "program")
    for number, object in enumerate(objects):
        made = str(place / f"{number}.o")
        command = shlex.split(built.compiles[object].replace(object, made))
        if command[0].endswith("ccache"):  # does not see what the overlay shows
            del command[0]
        status, printed = run(*command, "-ivfsoverlay", place / "overlay.json", cwd=BUILD)
        if status != 0:
            return status, printed
        if object in link:
            link[link.index(object)] = made
        else:
            link.insert(1, made)  # before the library, which then is not asked for its own
    return run(*link, cwd=BUILD)


def judge_beside(built, mutant):
    place = SCRATCH / "beside" / mutant.name
    status, printed = compile_beside(built, mutant, place)
    verdict = (judge_stop("build", "", status, printed) if status != 0
               else judge_tests(place / "program", mutant.tests))
    shutil.rmtree(place)
    return verdict


def judge_applied(mutant):
    """Applies, builds and takes back one mutant."""
    status, printed = run("git", "apply", mutant.patch)
    if status != 0:
        return "BROKEN: the patch does not apply", printed
    try:
        if mutant.configuration_says:
            return judge_stop("configuration", mutant.configuration_says, *configure())
        status, printed = build(mutant.targets)
        if mutant.build_says or status != 0:
            return judge_stop("build", mutant.build_says, status, printed)
        return judge_tests(mutant.program and BUILD / "bin" / mutant.program, mutant.tests)
    finally:
        run("git", "apply", "-R", mutant.patch)


def pass_without_a_patch(mutants):
    """Builds every target, and returns whether every expected test passes."""
    status, printed = configure()
    if status == 0:
        status, printed = build(sorted({target for m in mutants for target in m.targets}))
    if status != 0:
        sys.exit(printed + "error: The tree does not build.")
    expected = {}
    for mutant in mutants:
        if mutant.tests:
            expected.setdefault(mutant.program, set()).update(mutant.tests)
    for program, tests in expected.items():
        passed, printed = run_tests(program and BUILD / "bin" / program, sorted(tests))
        print(f"without a patch, {program or 'ctest'}: {passed} of {len(tests)} tests pass",
              flush=True)
        if passed != len(tests):
            sys.exit(printed + "error: A test fails without a patch, or is not there.")


def main():
    copy_tree()
    mutants = [Mutant(p) for p in PATCHES if not sys.argv[1:] or p.stem in sys.argv[1:]]
    pass_without_a_patch(mutants)
    beside = [m for m in mutants if m.goes_beside()]
    built = Built({mutant.program for mutant in beside})
    caught = []

    def report(mutant, verdict, printed):
        if verdict.startswith("by "):
            caught.append(mutant)
            print(f"caught {mutant.name} {verdict}", flush=True)
            return
        last_lines = "".join(f"\n    {line}" for line in printed.splitlines()[-20:])
        print(f"{mutant.name} {verdict}{last_lines}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
        judge = functools.partial(judge_beside, built)
        for mutant, verdict in zip(beside, workers.map(judge, beside)):
            report(mutant, *verdict)
    for mutant in mutants:
        if mutant not in beside:
            report(mutant, *judge_applied(mutant))
    print(f"{len(caught)} passed, {len(mutants) - len(caught)} failed")
    sys.exit(len(caught) != len(mutants))


if __name__ == "__main__":
    main()
