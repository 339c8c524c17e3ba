#!/usr/bin/env python3
"""Applies each patch of this folder, or those named, to a copy of the tree and expects what its
header names:

  # <what it breaks>
  # Expect: <test>               this test fails; a line per test that must
  # Expect-build: <text>         the build stops and says this
  # Expect-configure: <text>     the configuration stops and says this
  # Target: <target>             what to build for it; without one nothing is built

A test belongs to the test program among the targets, or to ctest. The copy and its build stay under
build/mutants, so that a later run is quick. While the tests of one patch run, the next one is built.
Objects of the tree without a patch are kept, so that nothing is compiled to take a patch back.
"""

import concurrent.futures
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "build/mutants"
TREE = SCRATCH / "tree"
BUILD = SCRATCH / "dev"
OBJECTS = SCRATCH / "objects"  # of the tree without a patch
# In the copy, git must not find the repository.
ENVIRONMENT = dict(os.environ, GIT_CEILING_DIRECTORIES=str(SCRATCH))


def run(*command):
    """Returns the exit status of a command and what it printed."""
    done = subprocess.run([str(word) for word in command], cwd=TREE, env=ENVIRONMENT,
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


def configure():
    # A patch then costs its file alone, not those that are compiled with it.
    return run("cmake", "--preset", "dev", "-DREPRISE_UNITY=PROGRAMS", "-S", TREE, "-B", BUILD)


def build(targets):
    return run("cmake", "--build", BUILD, "--target", *targets) if targets else (0, "")


def objects():
    """Objects and precompiled headers of the build, by where they are kept."""
    return {OBJECTS / path.relative_to(BUILD): path
            for pattern in ("*.o", "*.pch") for path in BUILD.rglob(pattern)}


def keep_objects():
    shutil.rmtree(OBJECTS, ignore_errors=True)
    for kept, path in objects().items():
        kept.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, kept)  # compilers replace a file, they do not write into it


def take_back(mutant, times, began):
    """Sources get their contents and times back, and with them what was compiled: ninja then takes
    it for new. What was linked from it goes. Other files may have generated something: they are
    new, and all that depends on them is made again."""
    run("git", "apply", "-R", mutant.patch)
    if any(file.suffix not in (".cpp", ".h") for file in times):
        return
    for file, ns in times.items():
        os.utime(file, ns=(ns, ns))
    for kept, path in objects().items():
        if kept.exists() and not kept.samefile(path):
            ns = path.stat().st_mtime_ns  # ninja has noted it
            path.unlink()
            os.link(kept, path)
            os.utime(path, ns=(ns, ns))
    for pattern in ("*.a", "*.so*", "bin/*"):
        for path in BUILD.rglob(pattern):
            if path.is_symlink() or path.stat().st_mtime >= began:
                path.unlink()


def run_tests(program, tests):
    """Runs tests of a program, or of ctest; returns how many passed, and what was printed."""
    if program is None:
        pattern = "|".join(re.escape(test) for test in tests)
        _, printed = run("ctest", "--test-dir", BUILD, "-R", f"^({pattern})$", "--no-tests=error")
        return len(re.findall(r"^ *\d+/\d+ Test .* Passed ", printed, re.MULTILINE)), printed
    _, printed = run(program, "--gtest_brief=1", "--gtest_filter=" + ":".join(tests))
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


def private_copy(mutant):
    """The program of a mutant, under a name of its own: the next build replaces the original."""
    copy = SCRATCH / "programs" / mutant.name
    copy.parent.mkdir(exist_ok=True)
    copy.unlink(missing_ok=True)
    os.link(BUILD / "bin" / mutant.program, copy)
    return copy


def judge_program(mutant, program):
    verdict = judge_tests(program, mutant.tests)
    program.unlink()
    return verdict


def judge(mutant, background):
    """Applies, builds and takes back one mutant; returns a future of its verdict."""
    now = concurrent.futures.Future()
    files = [TREE / file for file in mutant.files]
    times = {file: file.stat().st_mtime_ns for file in files if file.exists()}
    began = time.time()
    status, printed = run("git", "apply", mutant.patch)
    if status != 0:
        now.set_result(("BROKEN: the patch does not apply", printed))
        return now
    try:
        if mutant.configuration_says:
            now.set_result(judge_stop("configuration", mutant.configuration_says, *configure()))
            return now
        status, printed = build(mutant.targets)
        if mutant.build_says or status != 0:
            now.set_result(judge_stop("build", mutant.build_says, status, printed))
        elif mutant.program is None:
            now.set_result(judge_tests(None, mutant.tests))
        else:
            return background.submit(judge_program, mutant, private_copy(mutant))
        return now
    finally:
        take_back(mutant, times, began)


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
    patches = sorted((ROOT / "tests/mutations").glob("*.patch"))
    mutants = [Mutant(p) for p in patches if not sys.argv[1:] or p.stem in sys.argv[1:]]
    pass_without_a_patch(mutants)
    keep_objects()
    caught = []

    def report(mutant, future):
        verdict, printed = future.result()
        if verdict.startswith("by "):
            caught.append(mutant)
            print(f"caught {mutant.name} {verdict}", flush=True)
            return
        last_lines = "".join(f"\n    {line}" for line in printed.splitlines()[-20:])
        print(f"{mutant.name} {verdict}{last_lines}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as background:
        for mutant in mutants:
            judge(mutant, background).add_done_callback(functools.partial(report, mutant))
    print(f"{len(caught)} passed, {len(mutants) - len(caught)} failed")
    sys.exit(len(caught) != len(mutants))


if __name__ == "__main__":
    main()
