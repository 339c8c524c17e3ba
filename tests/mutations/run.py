#!/usr/bin/env python3
"""Applies each patch of this folder, or those named, to a copy of the tree and expects what its
header names:

  # <what it breaks>
  # Expect: <test>               this test fails; a line per test that must
  # Expect-build: <text>         the build stops and says this
  # Expect-configure: <text>     the configuration stops and says this
  # Target: <target>             what to build for it: the program that its tests run comes first
  # Object: <source>             of all that reads the patched files, only this is compiled anew
  # Needs: <macro> | no <macro>  skipped unless the compiler defines it, or does not: __AVX512VNNI__

A test belongs to the test program, or to ctest. Kernels of the CPU are compiled for the processor of
this machine, or for --march (skylake has AVX2 and no more; what Highway asks for must all be there).
The copy and its build stay under build/mutants, so that a later run is quick. A patch of C++ or GLSL
leaves both as they are: what it changes is compiled and linked beside them (clang sees the patched
files in the place of those of the copy), so that several run at once. Other patches are applied, one
by one.
"""

import argparse
import concurrent.futures
import functools
import os
import re
import shutil
import sys
import tempfile

from beside import Beside, Built
from copied_tree import BUILD, TREE, copy_tree, run
from mutant import MUTANTS


def test_sources():
    """The files with an expected test. Suites registered at run time end in what they are of."""
    suites = {re.sub("_.*", "_", test.split(".")[0].split("/")[-1])
              for mutant in MUTANTS if not mutant.in_ctest for test in mutant.tests}
    defined = re.compile(rf"TEST\w*\(\s*({'|'.join(suites)})\b|\"({'|'.join(suites)})")
    return sorted(str(file.relative_to(TREE)) for file in TREE.glob("tests/**/*_test.cpp")
                  if defined.search(file.read_text()))


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("patches", nargs="*", help="all if there is none")
    parser.add_argument("--march", default="native")
    return parser.parse_args()


def macros_of(march):
    """What the compiler defines for a processor."""
    status, printed = run("clang++", "-march=" + march, "-dM", "-E", "-x", "c++", os.devnull)
    if status != 0:
        sys.exit(printed)
    return set(re.findall(r"^#define (\w+)", printed, re.MULTILINE))


def configure(march):
    # A source that has a patch is compiled alone, so that the patch costs no other, and kernels for
    # one instruction set instead of four; few tests run, so that only kernels are optimised.
    alone = sorted({file for mutant in MUTANTS for file in mutant.files})
    return run("cmake", "--preset", "dev", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
               "-DREPRISE_KERNELS_FOR=" + march, "-DREPRISE_ALONE=" + ";".join(alone),
               "-DREPRISE_TESTS=" + ";".join(test_sources()), "-S", TREE, "-B", BUILD)


def build(targets):
    return run("cmake", "--build", BUILD, "--target", *targets) if targets else (0, "")


def run_in_ctest(tests):
    """Returns how many passed, and what was printed."""
    pattern = "|".join(re.escape(test) for test in tests)
    _, printed = run("ctest", "--test-dir", BUILD, "-R", f"^({pattern})$", "--no-tests=error")
    return len(re.findall(r"^ *\d+/\d+ Test .* Passed ", printed, re.MULTILINE)), printed


def run_by(program, tests):
    """The same of a program, wherever it is."""
    if not program.name.endswith("_tests"):  # they are cases of tests/cli
        results = [run(sys.executable, TREE / "tests/cli/cases.py", BUILD, "run", test, program.parent)
                   for test in tests]
        return [status for status, _ in results].count(0), "".join(text for _, text in results)
    with tempfile.TemporaryDirectory() as own:  # two mutants may run the same test
        _, printed = run(program, "--gtest_brief=1", "--gtest_break_on_failure",  # by a signal
                         "--gtest_filter=" + ":".join(tests), TMPDIR=own, TEST_TMPDIR=own)
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


def judge_tests(tests, passes):
    for test in tests:
        passed, printed = passes([test])
        if passed:
            return f"SURVIVED: {test} passes", printed
    return "by " + ", ".join(tests), ""


def judge_beside(built, mutant):
    beside = Beside(built, mutant)
    status, printed = beside.build()
    if status != 0 or mutant.build_says:
        verdict = judge_stop("build", mutant.build_says, status, printed)
    elif (started := run(beside.program, "--help"))[0] != 0:
        verdict = "BROKEN: the program does not start", started[1]
    else:
        verdict = judge_tests(mutant.tests, functools.partial(run_by, beside.program))
    shutil.rmtree(beside.place)
    return verdict


def judge_applied(march, mutant):
    """Applies and takes back a mutant that stops the configuration, or tests of the sources."""
    status, printed = run("git", "apply", mutant.patch)
    if status != 0:
        return "BROKEN: the patch does not apply", printed
    try:
        if mutant.configuration_says:
            return judge_stop("configuration", mutant.configuration_says, *configure(march))
        return judge_tests(mutant.tests, run_in_ctest)
    finally:
        run("git", "apply", "-R", mutant.patch)


def pass_without_a_patch(march, mutants):
    """Builds every target, and returns whether every expected test passes."""
    status, printed = configure(march)
    if status == 0:
        status, printed = build(sorted({target for m in mutants for target in m.targets}))
    if status != 0:
        sys.exit(printed + "error: The tree does not build.")
    expected = {}
    for mutant in mutants:
        if mutant.tests:
            expected.setdefault(None if mutant.in_ctest else mutant.program, set()).update(mutant.tests)
    for program, tests in expected.items():
        passed, printed = (run_by(BUILD / "bin" / program, sorted(tests)) if program
                           else run_in_ctest(sorted(tests)))
        print(f"without a patch, {program or 'ctest'}: {passed} of {len(tests)} tests pass",
              flush=True)
        if passed != len(tests):
            sys.exit(printed + "error: A test fails without a patch, or is not there.")


def main():
    copy_tree()
    arguments = parse_arguments()
    macros = macros_of(arguments.march)
    chosen = [m for m in MUTANTS if not arguments.patches or m.name in arguments.patches]
    mutants = [m for m in chosen if m.runs_with(macros)]
    pass_without_a_patch(arguments.march, mutants)
    beside = [m for m in mutants if m.goes_beside()]
    built = Built({m.program for m in beside if m.program})
    caught = []

    def report(mutant, verdict, printed):
        if verdict.startswith("by "):
            caught.append(mutant)
            print(f"caught {mutant.name} {verdict}", flush=True)
            return
        last_lines = "".join(f"\n    {line}" for line in printed.splitlines()[-20:])
        print(f"{mutant.name} {verdict}{last_lines}", flush=True)

    # One more than there are processors: tests wait for devices.
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() + 1) as workers:
        judge = functools.partial(judge_beside, built)
        for mutant, verdict in zip(beside, workers.map(judge, beside)):
            report(mutant, *verdict)
    for mutant in mutants:
        if mutant not in beside:
            report(mutant, *judge_applied(arguments.march, mutant))
    for mutant in chosen:
        if mutant not in mutants:
            print(f"skipped {mutant.name}: it needs {mutant.needs}")
    print(f"{len(caught)} passed, {len(mutants) - len(caught)} failed, "
          f"{len(chosen) - len(mutants)} skipped")
    sys.exit(len(caught) != len(mutants))


if __name__ == "__main__":
    main()
