#!/usr/bin/env python3
"""Reprise and llama.cpp in turn on the same models: medians, quartiles and ratios as markdown.

usage: compare.py --peer DIR/pb [--models 260k=/path/stories260K-{format}.gguf,15m,110m,0.5b] ...

bench/peers/setup.sh makes the peer. A model is a preset of bench/peers/gen_gguf.py, generated into
--cache at its first use, or NAME=PATTERN with {format} in the pattern. On the CPU every thread count
and precision is compared; on Vulkan each side is shown at its best LP_NUM_THREADS of --workers.
bench/README.md says how it is measured."""
import argparse
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


class Refused(Exception):
    """A program ended with an error; the message is its own."""


def quartiles(values):
    """(q1, median, q3), linear between neighbours."""
    if len(values) == 1:
        return (values[0],) * 3
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def run(command, workers=None):
    environment = dict(os.environ)
    if workers is not None:
        environment["LP_NUM_THREADS"] = str(workers)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        raise Refused(said[-1][len("error: "):] if said
                      else "exit status %d of %s" % (done.returncode, shlex.join(command)))
    return json.loads(done.stdout)


def run_ours(options, model, device, threads, precision, workers):
    """Rates by test, and the first row as reprise-bench printed it."""
    command = [options.bench, "llm", "-m", model, "-p", str(options.prompt), "-n", str(options.generate),
               "-r", str(options.repetitions), "-t", str(threads), "--device", device,
               "--precision", precision, "-o", "json"]
    if options.profile:
        command += ["--profile", options.profile]
    rows = run(command, workers)
    return {test: row["samples_ts"] for test, row in zip(TESTS, rows)}, rows[0]


def run_peer(options, model, device, threads, workers):
    printed = run([options.peer, "llm", model, "cpu" if device == "cpu" else "vk", str(threads),
                   str(options.prompt), str(options.generate), str(options.repetitions)], workers)
    return {test: printed[test + "_ts"] for test in TESTS}


def store_peer(options, facts, device, threads, rates):
    """Rows of the peer beside ours, in the same table."""
    database = sqlite3.connect(options.profile, timeout=30)
    with database:
        for test, tokens in (("pp", options.prompt), ("tg", options.generate)):
            ts = rates[test]
            ns = [round(1e9 * tokens / t) for t in ts]
            spread = statistics.stdev if len(ts) > 1 else lambda values: 0
            row = {"run_id": database.execute("SELECT max(id) FROM runs").fetchone()[0],
                   "test": test + str(tokens), "n_prompt": tokens if test == "pp" else 0,
                   "n_gen": tokens if test == "tg" else 0, "n_depth": 0, "n_threads": threads,
                   "backend": device, "model_type": facts["model_type"],
                   "model_size_bytes": facts["model_size"], "model_n_params": facts["model_n_params"],
                   "reps": len(ts), "avg_ns": round(statistics.mean(ns)), "stddev_ns": round(spread(ns)),
                   "avg_ts": statistics.mean(ts), "stddev_ts": spread(ts),
                   "median_ts": statistics.median(ts), "samples_ns_json": json.dumps(ns),
                   "peer": options.peer_name, "test_time": now()}
            database.execute("INSERT INTO benchmarks(%s) VALUES(%s)"
                             % (",".join(row), ",".join("?" * len(row))), list(row.values()))
    database.close()


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def best(series, test):
    """The worker count whose runs have the highest median."""
    return max(series, key=lambda workers: statistics.median(
        statistics.median(rates[test]) for rates in series[workers]))


def compare(options, name, format_, device, threads, precision):
    """Rows of one model on one device: `rounds` pairs, ours first, then the peer."""
    rows = [{"model": name, "format": format_, "device": device, "threads": threads,
             "precision": precision, "test": test} for test in TESTS]
    settings = options.workers if device != "cpu" else [None]
    ours = {workers: [] for workers in settings}
    peer = {workers: [] for workers in settings}
    try:
        model = path_of(options, name, format_)
        for _ in range(options.rounds):
            for workers in settings:
                rates, facts = run_ours(options, model, device, threads, precision, workers)
                ours[workers].append(rates)
                peer[workers].append(run_peer(options, model, device, threads, workers))
                if options.profile:
                    store_peer(options, facts, device, threads, peer[workers][-1])
    except Refused as refused:
        return [dict(rows[0], test="both", not_supported=str(refused))]
    for row in rows:
        test = row["test"]
        at = {"ours": best(ours, test), "peer": best(peer, test)}
        runs = {"ours": ours[at["ours"]], "peer": peer[at["peer"]]}
        for side in runs:
            samples = [rate for rates in runs[side] for rate in rates[test]]
            row[side + "_ts"] = quartiles(samples)
            row[side + "_samples_ts"] = samples
            row[side + "_workers"] = at[side]
        row["ratio"] = quartiles([statistics.median(a[test]) / statistics.median(b[test])
                                  for a, b in zip(runs["ours"], runs["peer"])])
        row["driver"] = facts["driver"]
    return rows


def path_of(options, name, format_):
    if name in options.patterns:
        return options.patterns[name].replace("{format}", format_)
    path = os.path.join(options.cache, "%s-%s.gguf" % (name, format_))
    if not os.path.exists(path):
        os.makedirs(options.cache, exist_ok=True)
        say("generating %s" % path)
        part = path + ".part"
        done = subprocess.run([options.python, os.path.join(ROOT, "bench/peers/gen_gguf.py"), "synth",
                               name, part, "--type", format_], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Refused("gen_gguf.py: " + done.stderr.strip().splitlines()[-1])
        os.rename(part, path)
    return path


def say(text):
    print(text, file=sys.stderr, flush=True)


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
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
    return row["device"] + (", %d thread%s, %s" % (row["threads"], "s" if row["threads"] > 1 else "",
                                                   row["precision"]) if row["device"] == "cpu" else "")


def rates_text(row, side):
    q1, median, q3 = row[side + "_ts"]
    workers = row[side + "_workers"]
    return "%.4g (%.4g-%.4g)" % (median, q1, q3) + ("" if workers is None else ", %s" % workers)


def print_rows(rows, options):
    cells = []
    for row in rows:
        tests = {"pp": "pp%d" % options.prompt, "tg": "tg%d" % options.generate}
        start = [row["model"], row["format"], way_of(row), tests.get(row["test"], row["test"])]
        if "not_supported" in row:
            cells.append(start + ["not supported: " + row["not_supported"], "", ""])
        else:
            q1, median, q3 = row["ratio"]
            cells.append(start + [rates_text(row, "ours"), rates_text(row, "peer"),
                                  "%.3g (%.3g-%.3g)" % (median, q1, q3)])
    table(["model", "format", "way", "test", "Reprise tok/s (quartiles), LP_NUM_THREADS",
           options.peer_name + ", the same", "ratio (quartiles)"], cells)


def print_means(rows, options):
    """Geometric means of the ratios: over all, of each model over formats, of each format over models."""
    groups = [("all", lambda row: True)]
    groups += [(name, lambda row, name=name: row["model"] == name) for name in options.models]
    groups += [(name, lambda row, name=name: row["format"] == name) for name in options.formats]
    cells = []
    for way in dict.fromkeys(way_of(row) for row in rows):
        for test in TESTS:
            line = [way, test]
            for _, belongs in groups:
                ratios = [row["ratio"][1] for row in rows if "ratio" in row and way_of(row) == way
                          and row["test"] == test and belongs(row)]
                line.append("%.3g (%d)" % (geometric_mean(ratios), len(ratios)) if ratios else "-")
            cells.append(line)
    print("Geometric means of the median ratios, and of how many rows:\n")
    table(["way", "test"] + [name for name, _ in groups], cells)


def parse(arguments):
    def words(text):
        return [word for word in text.split(",") if word]

    def numbers(text):
        return [int(word) for word in words(text)]

    def positive(text):
        number = int(text)
        if number < 1:
            raise argparse.ArgumentTypeError("(%s) is less than 1" % text)
        return number

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="the program bench/peers/setup.sh made")
    parser.add_argument("--bench", default=os.path.join(ROOT, "build/release/bin/reprise-bench"))
    parser.add_argument("--cache", default=os.path.join(ROOT, "build/models"), help="folder of generated models")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with numpy, to generate models")
    parser.add_argument("--models", type=words, default="15m,110m,0.5b", help="presets and NAME=PATTERN")
    parser.add_argument("--formats", type=words, default="f32,f16,q8_0,q4_0")
    parser.add_argument("--devices", type=words, default="cpu,vulkan")
    parser.add_argument("--cpu-only", type=words, default="0.5b", help="models that Vulkan leaves out")
    parser.add_argument("--threads", type=numbers, default="1,2", help="of the CPU")
    parser.add_argument("--precisions", type=words, default="exact,fast", help="on the CPU; Vulkan: exact")
    parser.add_argument("--workers", type=numbers, default="0,2", help="LP_NUM_THREADS on Vulkan")
    parser.add_argument("-p", "--prompt", type=positive, default=128)
    parser.add_argument("-n", "--generate", type=positive, default=32)
    parser.add_argument("-r", "--repetitions", type=positive, default=3, help="in one process")
    parser.add_argument("--rounds", type=positive, default=5, help="pairs of processes")
    parser.add_argument("--json", help="file for every sample and the environment")
    parser.add_argument("--profile", help="profiling database whose table benchmarks gets all rows")
    options = parser.parse_args(arguments)
    options.patterns = dict(word.split("=", 1) for word in options.models if "=" in word)
    options.models = [word.split("=", 1)[0] for word in options.models]
    version = os.path.join(os.path.dirname(os.path.abspath(options.peer)), "version")
    options.peer_name = open(version).read().strip() if os.path.exists(version) else "peer"
    return options


def main(arguments):
    options = parse(arguments)
    about = environment(options)
    rows = []
    for device in options.devices:
        ways = ([(threads, precision) for threads in options.threads for precision in options.precisions]
                if device == "cpu" else [(1, "exact")])
        for name in options.models:
            if device != "cpu" and name in options.cpu_only:
                continue
            for format_ in options.formats:
                for threads, precision in ways:
                    rows += compare(options, name, format_, device, threads, precision)
                    say("%s %s %s" % (name, format_, way_of(rows[-1])))
                    about["load"].append(os.getloadavg())
    for key, value in about.items():
        if key != "load":
            print("- %s: %s" % (key, value))
    print("- load, 1 minute: %.1f to %.1f\n" % (min(l[0] for l in about["load"]), max(l[0] for l in about["load"])))
    print_rows(rows, options)
    print_means(rows, options)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"environment": about, "rows": rows}, file, indent=1)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Refused, OSError) as error:
        print("error: %s" % error, file=sys.stderr)
        sys.exit(1)
