#!/usr/bin/env python3
"""Stands for reprise-bench and for the peer in the tests of bench/compare.py: fixed rates, by model and
by LP_NUM_THREADS, and models that one of them fails on. Who was called is appended to FAKE_LOG."""
import json
import os
import sqlite3
import sys


def log(who):
    with open(os.environ["FAKE_LOG"], "a") as file:
        file.write(who + "\n")


def calls():
    with open(os.environ["FAKE_LOG"]) as file:
        return len(file.readlines())


def bench(model, workers):
    log("bench")
    if "q4_0" in model:
        sys.exit("error: unsupported: The type (q4_0) cannot be run.")
    if "missing" in model:
        sys.exit("error: There is no file (%s)." % model)
    if "garbled" in model:
        return "42 tokens per second"
    if "late" in model and calls() > 2:
        sys.exit("error: The device is lost.")
    scale = (1 + workers) * (4 if "large" in model else 1)
    facts = {"model_type": "fake", "model_size": 1, "model_n_params": 1, "driver": "none",
             "samples_ns": [1, 2, 3]}
    return json.dumps([dict(facts, samples_ts=[10 * scale, 30 * scale, 20 * scale]),
                       dict(facts, samples_ts=[9 * scale, 9 * scale, 9 * scale])])


def peer(workers):
    log("peer")
    if "FAKE_OTHER_RUN" in os.environ:  # of somebody else, in the same profiling database
        with sqlite3.connect(os.environ["FAKE_OTHER_RUN"]) as database:
            database.execute("INSERT INTO runs(run_uuid, host_id, build_id, app, t_start_ns, start_utc)"
                             " SELECT run_uuid || '+', host_id, build_id, 'other', t_start_ns, start_utc"
                             " FROM runs ORDER BY id DESC LIMIT 1")
    return json.dumps({"pp_ts": [5 - workers, 5 - workers], "tg_ts": [4 + workers, 4 + workers]})


words = sys.argv[1:]
if words == ["--version"]:
    open(os.environ["FAKE_LOG"], "w").close()
    print("fake 1.0")
elif words[1] == "-m":
    print(bench(words[2], int(os.environ["LP_NUM_THREADS"])))
else:
    print(peer(int(os.environ["LP_NUM_THREADS"])))
