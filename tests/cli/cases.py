#!/usr/bin/env python3
"""The programs as a user runs them: registers and runs the cases of tests/cli/*.toml.

  cases.py BUILD run NAME [BIN]          runs one case by its name in ctest, from anywhere; our programs are
                                         those of BIN, by default of BUILD/bin
  cases.py BUILD register FILE [HAS...]  writes add_test() lines; HAS: what the cases' `if` asks for

A table has [variables], [defaults] of its cases, and [case], a row or more each:
  run       the command line, split as a shell does. A program is one of ours (BUILD/bin) or of SYSTEM
  exit      the exit status, 0 by default. 1: the output must end with one sentence "error: ..."
  stdout    a Python regular expression that is searched in the output; . matches ends of lines too,
  stderr    \\Z the end. A list: each of them, in this order
  stdout_has, stderr_has   a text that the output contains
  stdout_is, stderr_is     the whole output but for the last end of line
  shown_in  a file that has the whole output in it; there must be some
  absent, present   a path that must not, or must, exist afterwards; the second is removed before
  env       NAME=VALUE words, as in front of a command; --unset=NAME
  terminal  true: on a terminal. All output is stdout then, and none of it may control the terminal
  cwd, lock, timeout (300 seconds by default; 0: none), after (a case)   as in ctest
  needs, makes, cleans   fixtures of ctest
  suite     what the name in ctest begins with, "cli" by default
  if        the case exists where BUILD has this
  for       {axis = values}: a case for each value. {axis} is its label in the name of the case, its value
            elsewhere. Values: a list (blanks are _ in labels), a table of label = value, or patterns of files
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
SYSTEM = {"bash": "bash", "cat": "cat", "cmake": "cmake", "python3": sys.executable, "rm": "rm", "sh": "sh", "sqlite3": "sqlite3"}
KEYS = {"exit": int, "timeout": int, "terminal": bool, "for": dict, "stdout": (str, list), "stderr": (str, list)}
KEYS |= dict.fromkeys("run env cwd lock after needs makes cleans suite if absent present shown_in "
                      "stdout_has stdout_is stderr_has stderr_is".split(), str)
PROPERTIES = {"timeout": "TIMEOUT", "lock": "RESOURCE_LOCK", "cwd": "WORKING_DIRECTORY", "after": "DEPENDS",
              "needs": "FIXTURES_REQUIRED", "makes": "FIXTURES_SETUP", "cleans": "FIXTURES_CLEANUP"}


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
            raise Mistake(f"the value of '{key}' has a wrong type: {value!r}")


def label(value):
    """Itself, or of several words what they have in common with names of tests."""
    return re.sub(r"\W+", "_", re.sub("[{}]", "", value)) if " " in value else value


class Table:
    """The variables of one file, and its cases as they are written."""

    def __init__(self, file, build, shared):
        table = tomllib.loads(file.read_text())
        require_keys(table, {"variables": dict, "defaults": dict, "case": dict})
        self.defaults, self.written = table.get("defaults", {}), table.get("case", {})
        self.variables = (shared.variables if shared else {}) | table.get("variables", {})
        self.paths = {"source": str(FOLDER.parents[1]), "build": build, "bin": f"{build}/bin",
                      "out": f"{build}/tests/cli"}
        # Paths come last, in words that are split already: they may hold blanks.
        self.texts = {path: "{{%s}}" % path for path in self.paths}
        self.texts |= {name: value for name, value in self.variables.items() if isinstance(value, str)}

    def with_paths(self, text):
        return re.sub(r"\{(\w+)\}", lambda match: self.paths.get(match[1], match[0]), text)

    def labelled(self, values):
        """(label, value) of each value of an axis."""
        if isinstance(values, str):
            files = [file for pattern in shlex.split(expand(values, self.texts))
                     for file in sorted(glob.glob(self.with_paths(pattern)))]
            return [(pathlib.Path(file).stem, file.replace(self.paths["source"], "{source}", 1)) for file in files]
        return list(values.items()) if isinstance(values, dict) else [(label(value), value) for value in values]

    def cases(self):
        for pattern, keys in self.written.items():
            try:
                require_keys({pattern: keys}, {pattern: dict})
                keys = self.defaults | keys
                require_keys(keys, KEYS)
                axes = {name: values for name, values in self.variables.items()
                        if name not in self.texts and "{%s}" % name in pattern} | keys.pop("for", {})
                for point in itertools.product(*map(self.labelled, axes.values())):
                    name = expand(pattern, dict(zip(axes, (text for text, _ in point))))
                    yield Case(self, name, keys, dict(zip(axes, (value for _, value in point))))
            except Mistake as mistake:
                raise Mistake(f"{pattern}: {mistake}")


class Case:
    def __init__(self, table, name, keys, values):
        if "run" not in keys:
            raise Mistake("the key 'run' is missing")
        texts = table.texts | {"name": name} | values
        self.name = f"{keys.get('suite', 'cli')}.{name}"
        self.table = table
        self.keys = {"exit": 0, "timeout": 300, "cwd": "{out}"} | keys
        for key, value in self.keys.items():
            if isinstance(value, list):
                value = ".*".join(value)
            if isinstance(value, str):
                value = expand(value, texts)
                self.keys[key] = value if key in ("run", "env") else table.with_paths(value)

    def words(self, key):
        return [self.table.with_paths(word) for word in shlex.split(self.keys.get(key, ""))]

    def command(self):
        program, *words = self.words("run")
        return [SYSTEM.get(program, f"{self.table.paths['bin']}/{program}"), *words]

    def run(self):
        """(status, standard output, standard error)"""
        if "present" in self.keys:  # of an earlier run
            pathlib.Path(self.keys["present"]).unlink(missing_ok=True)
        # Programs keep nothing of one test for the next.
        environment = os.environ | {"REPRISE_PIPELINE_CACHE": ""}
        for word in self.words("env"):
            name, _, value = word.removeprefix("--unset=").partition("=")
            environment[name] = value
            if word.startswith("--unset="):
                del environment[name]
        options = {"env": environment, "cwd": self.keys["cwd"]}
        if self.keys.get("terminal"):
            return on_terminal(self.command(), options)
        done = subprocess.run(self.command(), stdin=subprocess.DEVNULL, capture_output=True, **options)
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def faults(self, status, out, err):
        """A sentence for everything that is not as the case says."""
        terminal = self.keys.get("terminal")
        if status != self.keys["exit"]:
            yield f"The exit status is {status}; expected {self.keys['exit']}."
        if self.keys["exit"] == 1 and not re.search(r"(^|\n)error: [^\n]*[.)]\n\Z", out if terminal else err):
            yield "No single line 'error: ...' ends the output."
        for stream, text in (("stdout", out), ("stderr", err)):
            for key, verb, fits in ((stream, "match", lambda wanted: re.search(wanted, text, re.DOTALL)),
                                    (f"{stream}_has", "contain", lambda wanted: wanted in text),
                                    (f"{stream}_is", "equal", lambda wanted: wanted == text.removesuffix("\n"))):
                if key in self.keys and not fits(self.keys[key]):
                    yield f"{stream} does not {verb}\n{self.keys[key]}"
        if "shown_in" in self.keys and (not out or out not in pathlib.Path(self.keys["shown_in"]).read_text()):
            yield f"{self.keys['shown_in']} does not show the output, or there is none."
        for key, fault in (("absent", "was left behind"), ("present", "is not there")):
            if key in self.keys and os.path.exists(self.keys[key]) == (key == "absent"):
                yield f"{self.keys[key]} {fault}."
        controls = re.findall("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", out)
        if terminal and controls:
            yield f"It prints what controls a terminal: {controls}."


def on_terminal(command, options):
    ours, theirs = pty.openpty()
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, **options)
    os.close(theirs)
    printed = b""
    try:
        while piece := os.read(ours, 65536):
            printed += piece
    except OSError:  # the end of a terminal that nobody holds any more
        pass
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


def register(build, file, *has):
    with open(file, "w", encoding="utf-8") as out:
        for case in all_cases(build).values():
            if case.keys.get("if") not in (None, *has):
                continue
            words = " ".join(f"[[{word}]]" for word in (sys.executable, __file__, build, "run", case.name))
            out.write(f"add_test(NAME [[{case.name}]] COMMAND {words})\n")
            for key, name in PROPERTIES.items():
                if case.keys.get(key):
                    value = str(case.keys[key]) if key == "cwd" else ";".join(str(case.keys[key]).split())
                    out.write(f"set_tests_properties([[{case.name}]] PROPERTIES {name} [[{value}]])\n")


def run(build, name, *programs):
    case = all_cases(build).get(name)
    if not case:
        raise Mistake(f"There is no case '{name}'.")
    case.table.paths.update(zip(["bin"], programs))
    status, out, err = case.run()
    if faults := list(case.faults(status, out, err)):
        said = f"$ {shlex.join(case.command())}\n--- stdout\n{out[:20000]}\n--- stderr\n{err[:20000]}"
        sys.exit("\n".join([*faults, said]))


if len(sys.argv) < 4 or sys.argv[2] not in ("register", "run"):
    sys.exit(__doc__)
try:
    {"register": register, "run": run}[sys.argv[2]](sys.argv[1], *sys.argv[3:])
except (Mistake, OSError, ValueError, re.error) as mistake:
    sys.exit(f"error: {mistake}")
