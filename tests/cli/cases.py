#!/usr/bin/env python3
"""The programs as a user runs them: registers and runs the cases of tests/cli/*.toml.

  cases.py BUILD run NAME                runs one case by its name in ctest, from anywhere
  cases.py BUILD register FILE [HAS...]  writes add_test() lines; HAS: what the cases' `if` asks for

A table has [variables], [defaults] of its cases, and [case]: short ones a line each, then longer ones.
  run       the command line, split as a shell does. A program is one of ours (BUILD/bin) or of SYSTEM
  exit      the exit status, 0 by default. 1: the output must end with one sentence "error: ..."
  stdout    a Python regular expression that is searched in the output; . matches ends of lines too.
  stderr    A list: each of them, in this order
  stdout_has, stdout_is, stderr_has, stderr_is   a text that the output contains, or is as a whole
  absent, present   a path that must, or must not, exist afterwards
  env       NAME=VALUE words, as in front of a command; --unset=NAME
  terminal  true: on a terminal. All output is stdout then, and none of it may control the terminal
  cwd, lock, timeout (300 seconds by default; 0: none), after (a case)   as in ctest
  needs, makes, cleans   fixtures of ctest
  suite     what the name in ctest begins with, "cli" by default
  if        the case exists where BUILD has this
  for       {axis = values}: a case for each value. {axis} is its label in the name of the case, its value
            elsewhere. Values: a list of labels, a table of label = value, or a pattern of file names
Variables: {source}, {build}, {bin}, {out} (a folder for files), {name} (of the case), those of shared.toml
and of the file. One that is a list or a table is an axis of each case that has it in its name.
{{x}} is the text {x}; braces around anything but a name are themselves.
"""
import glob
import itertools
import os
import pathlib
import pty
import re
import shlex
import subprocess
import sys
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent
SYSTEM = {"cat": "cat", "cmake": "cmake", "python3": sys.executable, "rm": "rm", "sh": "sh", "sqlite3": "sqlite3"}
KEYS = {"exit": int, "timeout": int, "terminal": bool, "for": dict, "stdout": (str, list), "stderr": (str, list)}
KEYS |= dict.fromkeys("run env cwd lock after needs makes cleans suite if absent present".split(), str)
KEYS |= dict.fromkeys(("stdout_has", "stdout_is", "stderr_has", "stderr_is"), str)


class Mistake(Exception):
    """A sentence about what is wrong in a table or on the command line."""


def expand(text, values):
    def value(match):
        if match[1]:
            return "{" + match[1] + "}"
        if match[2] not in values:
            raise Mistake(f"there is no variable {match[0]}; there are {', '.join(sorted(values))}")
        return expand(values[match[2]], values)
    return re.sub(r"\{\{(\w+)\}\}|\{([A-Za-z_]\w*)\}", value, text)


def require_keys(table, allowed):
    for key, value in table.items():
        if key not in allowed:
            raise Mistake(f"unknown key '{key}'; allowed: {', '.join(allowed)}")
        if not isinstance(value, allowed[key]):
            raise Mistake(f"'{key}' has a value of another type: {value!r}")


class Table:
    """The variables of one file, and its cases as they are written."""

    def __init__(self, file, build, shared):
        table = tomllib.loads(file.read_text())
        require_keys(table, {"variables": dict, "defaults": dict, "case": dict})
        # Paths come last, in words that are split already: they may hold blanks.
        self.paths = {"source": str(FOLDER.parents[1]), "build": build, "bin": f"{build}/bin",
                      "out": f"{build}/tests/cli"}
        self.texts = dict(shared.texts if shared else {path: "{{%s}}" % path for path in self.paths})
        self.axes = dict(shared.axes if shared else {})
        for name, value in table.get("variables", {}).items():
            if isinstance(value, str):
                self.texts[name] = value
            else:
                self.axes[name] = value
        self.defaults, self.written = table.get("defaults", {}), table.get("case", {})

    def with_paths(self, text):
        return re.sub(r"\{(\w+)\}", lambda match: self.paths.get(match[1], match[0]), text)

    def labelled(self, values):
        """(label, value) of each value of an axis."""
        if isinstance(values, str):
            files = [file for pattern in shlex.split(expand(values, self.texts))
                     for file in sorted(glob.glob(self.with_paths(pattern)))]
            return [(pathlib.Path(file).stem, file) for file in files]
        return list(values.items()) if isinstance(values, dict) else [(value, value) for value in values]

    def cases(self):
        for pattern, keys in self.written.items():
            try:
                require_keys(keys, KEYS)
                keys = self.defaults | keys
                require_keys(keys, KEYS)
                if "run" not in keys:
                    raise Mistake("the key 'run' is missing")
                axes = {name: values for name, values in self.axes.items() if "{%s}" % name in pattern}
                axes |= keys.pop("for", {})
                for point in itertools.product(*map(self.labelled, axes.values())):
                    name = expand(pattern, dict(zip(axes, (label for label, _ in point))))
                    yield Case(self, name, keys, dict(zip(axes, (value for _, value in point))))
            except Mistake as mistake:
                raise Mistake(f"{pattern}: {mistake}")


class Case:
    def __init__(self, table, name, keys, values):
        texts = table.texts | {"name": name} | values
        self.name = f"{keys.get('suite', 'cli')}.{name}"
        self.keys = {}
        for key, value in keys.items():
            if isinstance(value, list):
                value = ".*".join(value)
            if isinstance(value, str):
                value = expand(value, texts)
                value = value if key in ("run", "env") else table.with_paths(value)
            self.keys[key] = value
        program, *words = [table.with_paths(word) for word in shlex.split(self.keys["run"])]
        self.command = [SYSTEM.get(program, f"{table.paths['bin']}/{program}"), *words]
        self.environment = [table.with_paths(word) for word in shlex.split(self.keys.get("env", ""))]
        self.folder = self.keys.get("cwd", table.paths["out"])

    def properties(self):
        """Those of ctest."""
        names = {"timeout": "TIMEOUT", "lock": "RESOURCE_LOCK", "cwd": "WORKING_DIRECTORY", "after": "DEPENDS",
                 "needs": "FIXTURES_REQUIRED", "makes": "FIXTURES_SETUP", "cleans": "FIXTURES_CLEANUP"}
        keys = {"timeout": 300} | self.keys
        found = {property: str(keys[key]) for key, property in names.items() if keys.get(key)}
        for property in ("FIXTURES_REQUIRED", "FIXTURES_SETUP"):
            if property in found:
                found[property] = ";".join(found[property].split())
        return found

    def run(self):
        """(status, standard output, standard error)"""
        # Programs keep nothing of one test for the next.
        environment = os.environ | {"REPRISE_PIPELINE_CACHE": ""}
        for word in self.environment:
            name, _, value = word.removeprefix("--unset=").partition("=")
            environment[name] = value
            if word.startswith("--unset="):
                del environment[name]
        if self.keys.get("terminal"):
            return on_terminal(self.command, env=environment, cwd=self.folder)
        done = subprocess.run(self.command, env=environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True)
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def faults(self, status, out, err):
        """A sentence for everything that is not as the case says."""
        expected = self.keys.get("exit", 0)
        if status != expected:
            yield f"The exit status is {status}; expected {expected}."
        last = out if self.keys.get("terminal") else err
        if expected == 1 and not re.search(r"(^|\n)error: [^\n]*[.)]\n\Z", last):
            yield "No single line 'error: ...' ends the output."
        for stream, text in (("stdout", out), ("stderr", err)):
            wanted = self.keys.get(stream, "")
            if not re.search(wanted, text, re.DOTALL):
                yield f"{stream} does not match\n{wanted}"
            wanted = self.keys.get(f"{stream}_has", "")
            if wanted not in text:
                yield f"{stream} does not contain\n{wanted}"
            wanted = self.keys.get(f"{stream}_is", text)
            if wanted != text:
                yield f"{stream} is not\n{wanted}"
        for key, wanted in (("absent", False), ("present", True)):
            if key in self.keys and os.path.exists(self.keys[key]) != wanted:
                yield f"{self.keys[key]} {'is not there' if wanted else 'was left behind'}."
        controls = [c for c in out if c not in "\n\t" and (
            c < " " or "\x7f" <= c <= "\x9f" or "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069")]
        if self.keys.get("terminal") and controls:
            yield f"It prints what controls a terminal: {controls}."


def on_terminal(command, **options):
    ours, theirs = pty.openpty()
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, **options)
    os.close(theirs)
    printed = b""
    try:
        while piece := os.read(ours, 65536):
            printed += piece
    except OSError:  # the end of a terminal that nobody holds any more
        pass
    os.close(ours)
    return child.wait(), printed.decode().replace("\r\n", "\n"), ""  # what is not UTF-8 ends the test here


def all_cases(build):
    shared = Table(FOLDER / "shared.toml", build, None)
    cases = {}
    for file in sorted(FOLDER.glob("*.toml")):
        try:
            for case in Table(file, build, shared).cases():
                if case.name in cases:
                    raise Mistake(f"{case.name} is there twice")
                cases[case.name] = case
        except (Mistake, tomllib.TOMLDecodeError) as mistake:
            raise Mistake(f"{file}: {mistake}.")
    return cases


def register(cases, build, file, *has):
    with open(file, "w", encoding="utf-8") as out:
        for case in cases.values():
            if case.keys.get("if", "everywhere") not in ("everywhere", *has):
                continue
            words = " ".join(f"[[{word}]]" for word in (sys.executable, __file__, build, "run", case.name))
            out.write(f"add_test(NAME [[{case.name}]] COMMAND {words})\n")
            for property, value in case.properties().items():
                out.write(f"set_tests_properties([[{case.name}]] PROPERTIES {property} [[{value}]])\n")


def run(cases, build, name):
    if name not in cases:
        raise Mistake(f"There is no case '{name}'.")
    case = cases[name]
    status, out, err = case.run()
    faults = list(case.faults(status, out, err))
    if faults:
        said = f"$ {shlex.join(case.command)}\n--- stdout\n{out}\n--- stderr\n{err}"
        sys.exit("\n".join([*faults, said[:20000]]))


def main():
    try:
        build, command, *arguments = sys.argv[1:]
        {"register": register, "run": run}[command](all_cases(build), build, *arguments)
    except Mistake as mistake:
        sys.exit(f"error: {mistake}")
    except (KeyError, ValueError, TypeError):
        sys.exit(__doc__)


main()
