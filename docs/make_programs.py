#!/usr/bin/env python3
"""Prints docs/programs.md: every program with its options, as the program itself says.

  docs/make_programs.py [FOLDER_OF_PROGRAMS] > docs/programs.md
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/dev/bin")
PROGRAMS = ["reprise-llama", "reprise-debugger", "reprise", "reprise-bench", "reprise-golden"]
SAMPLES = [  # usage, source
    ("hello_session", "hello_session/hello_session.cpp"),
    ("decode_loop [DEVICE]", "decode_loop/decode_loop.cpp"),
    ("make_tensors [DEVICE]", "make_tensors/make_tensors.cpp"),
    ("devices", "devices/devices.cpp"),
    ("executable [DEVICE]", "executable/executable.cpp"),
    ("executable_llama MODEL DEVICE [PROMPT...]", "llama/executable_main.cpp"),
    ("prompt_buckets MODEL [DEVICE [DB]]", "llama/prompt_buckets.cpp"),
    ("moe [DEVICE [DB]]", "moe/moe.cpp"),
    ("custom_kernel [DEVICE]", "custom_kernel/custom_kernel.cpp"),
    ("graph_passes [DB]", "graph_passes/graph_passes.cpp"),
    ("pass_checks", "pass_checks/pass_checks.cpp"),
    ("watch_tensors [DEVICE [DB]]", "watch_tensors/watch_tensors.cpp"),
    ("query_profile [DB]", "query_profile/query_profile.cpp"),
]
HEAD = """# Programs

After this page you can call every program with its options. `docs/make_programs.py` prints it from what the programs
say of themselves.

Every program prints its options with `--help`. It exits with 0 if its output arrived, 1 after an error, 2 after a wrong
command line, and 3 if a check found something.

Environment:
- `REPRISE_VALIDATION=1` lets `reprise-llama` and `reprise-golden` open Vulkan devices with the validation layer; `0` or
  an empty value does not. Programs of your own set `OpenOptions::validation`.
- `REPRISE_PIPELINE_CACHE` names the file in which `reprise-llama` keeps compiled pipelines; a name that ends in `/` is
  a folder, an empty one keeps none. By default they are in `$XDG_CACHE_HOME/reprise` or `~/.cache/reprise`, in one file
  for each device and driver.

| sample | what it shows |
|---|---|"""


def about(source):
    """The comment that a source begins with."""
    lines = (ROOT / "samples" / source).read_text().splitlines()
    comment = " ".join(re.match("// ?(.*)", line).group(1) for line in lines[:next(
        i for i, line in enumerate(lines) if not line.startswith("//"))])
    return re.sub(r" *usage:.*", "", comment)


def help_of(words):
    """Of a program, then of its subcommands."""
    done = subprocess.run([BIN / words[0], *words[1:], "--help"], check=True, text=True, capture_output=True)
    yield words, done.stdout.rstrip()
    _, _, listed = done.stdout.partition("\nSubcommands:\n")
    for name in re.findall(r"^  ([\w-]+) ", listed, re.MULTILINE):
        yield from help_of([*words, name])


def main():
    print(HEAD)
    for usage, source in SAMPLES:
        print(f"| [`{usage}`](../samples/{source}) | {about(source)} |")
    for program in PROGRAMS:
        for words, text in help_of([program]):
            print(f"\n{'#' * min(len(words) + 1, 3)} {' '.join(words)}\n```\n{text}\n```")


main()
