#!/usr/bin/env python3
"""`reprise model info` on every file of an index.tsv: agrees with its expectation, prints JSON or one
line that names the file, and takes less than 2 s of a processor and 64 MB beyond an empty run.
usage: model_info.py REPRISE FOLDER [SUFFIX]   SUFFIX completes the names of the index"""
import json
import os
import subprocess
import sys
import tempfile

MOST_SECONDS = 2
MOST_KIB = 64 * 1024
# As ./check runs them; they take several times as much of both.
SANITIZED = {"ASAN_OPTIONS", "TSAN_OPTIONS"} & os.environ.keys()


def run(*command):
    """(status, standard output, standard error, seconds, peak KiB)"""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return (child.returncode, out.read(), err.read().decode(errors="replace"),
                usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def fault(program, path, expectation, empty_kib):
    status, out, err, seconds, kib = run(program, "model", "info", path, "--json")
    if status not in (0, 1):
        return f"status {status}: {err}"
    if expectation in ("ok", "reject") and (status == 0) != (expectation == "ok"):
        return f"status {status}, but {expectation}: {err}"
    if status == 0:
        json.loads(out)
    elif not err.startswith("error: ") or err.count("\n") != 1 or os.path.dirname(path) not in err:
        return f"no single line that names the file: {err}"
    if not SANITIZED and (seconds > MOST_SECONDS or kib > empty_kib + MOST_KIB):
        return f"{seconds} s, {kib} KiB; an empty run has {empty_kib} KiB"
    return None


def main():
    program, folder = sys.argv[1:3]
    suffix = "".join(sys.argv[3:4])
    empty_kib = run(program, "--version")[4]
    with open(os.path.join(folder, "index.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    assert rows
    faults = 0
    for name, _, expectation, _ in rows:
        found = fault(program, os.path.join(folder, name + suffix), expectation, empty_kib)
        if found:
            print(f"{name}: {found}")
            faults += 1
    print(f"{len(rows)} files, {faults} faults")
    sys.exit(1 if faults else 0)


main()
