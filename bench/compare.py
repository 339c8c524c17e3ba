#!/usr/bin/env python3
"""Reprise and llama.cpp in turn on the same models: medians, quartiles and ratios as markdown.

usage: compare.py --peer DIR/pb [--models 260k=/path/stories260K-{format}.gguf,15m,110m,0.5b] ...

bench/peers/setup.sh makes the peer. A model is a preset of bench/peers/gen_gguf.py, generated into
--cache at its first use, or NAME=PATTERN with {format} in the pattern. On the CPU every thread
count and precision is compared; on Vulkan each side is shown at its best LP_NUM_THREADS of
--workers. bench/README.md says how it is measured."""
import argparse
import contextlib
import json
import math
import os
import platform
import shlex
import sqlite3
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = ("pp", "tg")
CACHE = "f16"  # of keys and values, the peer's own choice
FACTS = ("driver", "model_type", "model_size", "model_n_params", "samples_ns")


class Failure(Exception):
    """A program did not do what it was asked for; the message is its own."""


class Unsupported(Failure):
    """It says that this is beyond its device or version."""


def quartiles(values):
    """(q1, median, q3), linear between neighbours."""
    if len(values) == 1:
        return (values[0],) * 3
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def call(command, workers=None):
    """What the program prints."""
    environment = dict(os.environ)
    if workers is not None:
        environment["LP_NUM_THREADS"] = str(workers)
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    except (OSError, UnicodeDecodeError) as error:
        raise Failure("%s: %s" % (command[0], error)) from error
    if done.returncode == 0:
        return done.stdout
    lines = done.stderr.strip().splitlines()
    said = [line[len("error: "):] for line in lines if line.startswith("error: ")] or lines
    if not said:
        raise Failure("exit status %d of %s" % (done.returncode, shlex.join(command)))
    mark = "unsupported: "
    if said[-1].startswith(mark):
        raise Unsupported(said[-1][len(mark):])
    raise Failure(said[-1])


def call_for_json(command, workers, read):
    """What `read` takes out of the JSON that the program prints."""
    printed = call(command, workers)
    try:
        return read(json.loads(printed))
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise Failure("%s does not print the rows asked for (%s: %s): %.60r"
                      % (command[0], type(error).__name__, error, printed)) from error


def rates_of(samples):
    """Checks what a program calls its samples."""
    if not samples or not all(rate > 0 for rate in samples):
        raise ValueError("the samples are %r" % (samples,))
    return samples


def run_ours(options, model, device, threads, precision, workers):
    """Rates by test, and FACTS as reprise-bench printed them in the first row."""
    command = [options.bench, "llm", "-m", model, "-p", str(options.prompt),
               "-n", str(options.generate), "-r", str(options.repetitions), "-t", str(threads),
               "--device", device, "--precision", precision, "--cache", CACHE, "-o", "json"]
    if options.profile:
        command += ["--profile", options.profile]
    return call_for_json(command, workers, lambda rows: (
        {test: rates_of(rows[i]["samples_ts"]) for i, test in enumerate(TESTS)},
        {fact: rows[0][fact] for fact in FACTS}))


def run_peer(options, model, device, threads, workers):
    command = [options.peer, "llm", model, "cpu" if device == "cpu" else "vk", str(threads),
               str(options.prompt), str(options.generate), str(options.repetitions)]
    return call_for_json(command, workers, lambda printed: {
        test: rates_of(printed[test + "_ts"]) for test in TESTS})


def run_pair(options, model, way, workers, ours_first):
    """Rates of both sides, and what store_peer needs."""
    device, threads, precision = way
    peer = None if ours_first else run_peer(options, model, device, threads, workers)
    ours, facts = run_ours(options, model, device, threads, precision, workers)
    peer = peer or run_peer(options, model, device, threads, workers)
    if options.profile:
        store_peer(options, facts, device, threads, peer)
    return ours, peer, facts["driver"]


def run_of(database, facts):
    """The run that holds these very samples: others may be written to the same file."""
    for run, samples in database.execute("SELECT run_id, samples_ns_json FROM benchmarks"
                                         " WHERE peer IS NULL ORDER BY id DESC"):
        if json.loads(samples) == facts["samples_ns"]:
            return run
    raise Failure("the database holds no run of the samples that were printed")


def store_peer(options, facts, device, threads, rates):
    """Rows of the peer beside ours, in the same table."""
    try:
        with contextlib.closing(sqlite3.connect(options.profile, timeout=30)) as database, database:
            run = run_of(database, facts)
            for test, tokens in (("pp", options.prompt), ("tg", options.generate)):
                row = dict(peer_row(facts, test, tokens, rates[test]), run_id=run, backend=device,
                           n_threads=threads, peer=options.peer_name, test_time=now())
                database.execute("INSERT INTO benchmarks(%s) VALUES(%s)"
                                 % (",".join(row), ",".join("?" * len(row))), list(row.values()))
    except sqlite3.Error as error:
        raise Failure("%s: %s" % (options.profile, error)) from error


def peer_row(facts, test, tokens, ts):
    ns = [round(1e9 * tokens / t) for t in ts]
    spread = statistics.stdev if len(ts) > 1 else lambda values: 0
    return {"test": "%s%d %s cache" % (test, tokens, CACHE), "n_prompt": tokens if test == "pp" else 0,
            "n_gen": tokens if test == "tg" else 0, "n_depth": 0,
            "model_type": facts["model_type"], "model_size_bytes": facts["model_size"],
            "model_n_params": facts["model_n_params"], "reps": len(ts),
            "avg_ns": round(statistics.mean(ns)), "stddev_ns": round(spread(ns)),
            "avg_ts": statistics.mean(ts), "stddev_ts": spread(ts),
            "median_ts": statistics.median(ts), "samples_ns_json": json.dumps(ns)}


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def best(series, test):
    """The worker count whose runs have the highest median."""
    return max(series, key=lambda workers: statistics.median(
        statistics.median(rates[test]) for rates in series[workers]))


def compare(options, name, format_, way):
    """Rows of one model on one device: `rounds` pairs, each side first in every other one. What was
    measured before a failure stays; the failure is a row of its own."""
    device, threads, precision = way
    about = {"model": name, "format": format_, "device": device, "threads": threads,
             "precision": precision}
    settings = options.workers if device != "cpu" else [None]
    pairs = {workers: [] for workers in settings}
    failed = []
    driver = None
    try:
        model = path_of(options, name, format_)
        for number in range(options.rounds):
            for workers in settings:
                ours, peer, driver = run_pair(options, model, way, workers, number % 2 == 0)
                pairs[workers].append({"ours": ours, "peer": peer})
    except (Failure, OSError) as failure:
        done = any(pairs.values())
        kind = "unsupported" if isinstance(failure, Unsupported) and not done else "failed"
        failed = [dict(about, test="both", outcome=kind, message=str(failure))]
    pairs = {workers: list_ for workers, list_ in pairs.items() if list_}
    return [measured(dict(about, test=test, driver=driver), pairs)
            for test in TESTS if pairs] + failed


def measured(row, pairs):
    """The row with what its pairs, by worker count, say of its test."""
    runs = {}
    for side in ("ours", "peer"):
        series = {workers: [pair[side] for pair in list_] for workers, list_ in pairs.items()}
        at = best(series, row["test"])
        runs[side] = [rates[row["test"]] for rates in series[at]]
        samples = [rate for rates in runs[side] for rate in rates]
        row.update({side + "_ts": quartiles(samples), side + "_samples_ts": samples,
                    side + "_workers": at})
    row["rounds"] = min(len(rounds) for rounds in runs.values())
    row["ratio"] = quartiles([statistics.median(a) / statistics.median(b)
                              for a, b in zip(runs["ours"], runs["peer"])])
    return row


def path_of(options, name, format_):
    pattern = options.models[name]
    if pattern is not None:
        return pattern.replace("{format}", format_)
    path = os.path.join(options.cache, "%s-%s.gguf" % (name, format_))
    if not os.path.exists(path):
        os.makedirs(options.cache, exist_ok=True)
        say("generating %s" % path)
        part = path + ".part"
        call([options.python, os.path.join(ROOT, "bench/peers/gen_gguf.py"), "synth", name, part,
              "--type", format_])
        os.rename(part, path)
    return path


def say(text):
    print(text, file=sys.stderr, flush=True)


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True,
                              cwd=ROOT).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def environment(options):
    with open("/proc/cpuinfo") as file:
        cpus = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return {"time": now(), "cpu": cpus[0] if cpus else platform.machine(),
            "cores": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "reprise": "%s, commit %s" % (output_of(options.bench, "--version"),
                                          output_of("git", "describe", "--always", "--dirty")),
            "bench": options.bench, "peer": options.peer_name, "prompt": options.prompt,
            "generate": options.generate, "repetitions": options.repetitions,
            "rounds": options.rounds, "LP_NUM_THREADS": options.workers,
            "load": [os.getloadavg()]}


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)


def way_of(row):
    if row["device"] != "cpu":
        return row["device"]
    plural = "s" if row["threads"] > 1 else ""
    return "cpu, %d thread%s, %s" % (row["threads"], plural, row["precision"])


def rates_text(row, side):
    q1, median, q3 = row[side + "_ts"]
    workers = row[side + "_workers"]
    return "%.4g (%.4g-%.4g)" % (median, q1, q3) + ("" if workers is None else ", %s" % workers)


def print_rows(rows, options):
    tests = {"pp": "pp%d" % options.prompt, "tg": "tg%d" % options.generate, "both": "both"}
    outcomes = {"unsupported": "not supported: ", "failed": "failed: "}
    cells = []
    for row in rows:
        start = [row["model"], row["format"], way_of(row), tests[row["test"]]]
        if "outcome" in row:
            cells.append(start + [outcomes[row["outcome"]] + row["message"], "", "", ""])
        else:
            q1, median, q3 = row["ratio"]
            cells.append(start + [rates_text(row, "ours"), rates_text(row, "peer"),
                                  "%.3g (%.3g-%.3g)" % (median, q1, q3), row["rounds"]])
    table(["model", "format", "way", "test", "Reprise tok/s (quartiles), LP_NUM_THREADS",
           options.peer_name + ", the same", "ratio (quartiles)", "pairs"], cells)


def print_means(rows, options):
    """Geometric means of the ratios: of all, per model over formats, per format over models."""
    groups = [("all", lambda row: True)]
    groups += [(name, lambda row, name=name: row["model"] == name) for name in options.models]
    groups += [(name, lambda row, name=name: row["format"] == name) for name in options.formats]
    cells = []
    for way in dict.fromkeys(way_of(row) for row in rows):
        for test in TESTS:
            line = [way, test]
            for _, belongs in groups:
                ratios = [row["ratio"][1] for row in rows if "ratio" in row
                          and way_of(row) == way and row["test"] == test and belongs(row)]
                line.append("%.3g (%d)" % (geometric_mean(ratios), len(ratios)) if ratios
                            else "-")
            cells.append(line)
    print("Geometric means of the median ratios, and of how many rows:\n")
    table(["way", "test"] + [name for name, _ in groups], cells)


def words_of(text):
    words = [word for word in text.split(",") if word]
    if not words:
        raise argparse.ArgumentTypeError("the list is empty")
    if len(set(words)) != len(words):
        raise argparse.ArgumentTypeError("(%s) names something twice" % text)
    return words


def words_among(*allowed):
    def parse_words(text):
        words = words_of(text)
        for word in words:
            if word not in allowed:
                raise argparse.ArgumentTypeError("(%s) is none of %s" % (word, ", ".join(allowed)))
        return words
    return parse_words


def number_from(least):
    def parse_number(text):
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError("(%s) is no number from %d on" % (text, least))
        return int(text)
    return parse_number


def numbers_from(least):
    return lambda text: [number_from(least)(word) for word in words_of(text)]


def models_of(text):
    """Patterns by name; None for a preset."""
    models = {}
    for word in words_of(text):
        name, equals, pattern = word.partition("=")
        if name in models:
            raise argparse.ArgumentTypeError("(%s) is the name of two models" % name)
        models[name] = pattern if equals else None
    return models


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--peer", required=True, help="the program bench/peers/setup.sh made")
    add("--bench", default=os.path.join(ROOT, "build/release/bin/reprise-bench"))
    add("--cache", default=os.path.join(ROOT, "build/models"), help="folder of generated models")
    add("--python", default=sys.executable, help="an interpreter with numpy, to generate models")
    add("--models", type=models_of, default="15m,110m,0.5b", help="presets and NAME=PATTERN")
    add("--formats", type=words_of, default="f32,f16,q8_0,q4_0")
    add("--devices", type=words_among("cpu", "vulkan"), default="cpu,vulkan")
    add("--cpu-only", type=lambda text: words_of(text) if text else [], default="0.5b",
        help="models that Vulkan leaves out")
    add("--threads", type=numbers_from(1), default="1,2", help="of the CPU")
    add("--precisions", type=words_among("exact", "fast"), default="exact,fast",
        help="on the CPU; Vulkan: exact")
    add("--workers", type=numbers_from(0), default="0,2", help="LP_NUM_THREADS on Vulkan")
    add("-p", "--prompt", type=number_from(1), default=128)
    add("-n", "--generate", type=number_from(1), default=32)
    add("-r", "--repetitions", type=number_from(1), default=3, help="in one process")
    add("--rounds", type=number_from(1), default=5, help="pairs of processes")
    add("--json", help="file for every sample and the environment")
    add("--profile", help="profiling database whose table benchmarks gets all rows")
    options = parser.parse_args(arguments)
    options.peer_name = "peer"
    version = os.path.join(os.path.dirname(os.path.abspath(options.peer)), "version")
    if os.path.exists(version):
        with open(version) as file:
            options.peer_name = file.read().strip()
    return options


def ways_of(options, device):
    if device != "cpu":
        return [(device, 1, "exact")]
    return [(device, threads, precision) for threads in options.threads
            for precision in options.precisions]


def main(arguments):
    options = parse(arguments)
    about = environment(options)
    rows = []
    for device in options.devices:
        for name in options.models:
            if device != "cpu" and name in options.cpu_only:
                continue
            for format_ in options.formats:
                for way in ways_of(options, device):
                    rows += compare(options, name, format_, way)
                    say("%s %s %s" % (name, format_, way_of(rows[-1])))
                    about["load"].append(os.getloadavg())
    for key, value in about.items():
        if key != "load":
            print("- %s: %s" % (key, value))
    loads = [load[0] for load in about["load"]]
    print("- load, 1 minute: %.1f to %.1f\n" % (min(loads), max(loads)))
    print_rows(rows, options)
    print_means(rows, options)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"environment": about, "rows": rows}, file, indent=1)
    failures = sum(row.get("outcome") == "failed" for row in rows)
    if failures:
        raise Failure("%d of the comparisons failed; their rows say why" % failures)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (Failure, OSError) as error:
        print("error: %s." % error, file=sys.stderr)
        sys.exit(1)
