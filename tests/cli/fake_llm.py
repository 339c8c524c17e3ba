#!/usr/bin/env python3
"""Stands for reprise-bench and for the peer in the test of bench/compare.py: fixed rates, by model and
by LP_NUM_THREADS, and a format that one of them refuses."""
import json
import os
import sys

words = sys.argv[1:]
workers = int(os.environ["LP_NUM_THREADS"])
if words == ["--version"]:
    print("fake 1.0")
elif words[1] == "-m":
    if "q4_0" in words[2]:
        sys.exit("error: The type (q4_0) cannot be run.")
    scale = (1 + workers) * (4 if "large" in words[2] else 1)
    facts = {"model_type": "fake", "driver": "none"}
    print(json.dumps([dict(facts, samples_ts=[10 * scale, 30 * scale, 20 * scale]),
                      dict(facts, samples_ts=[9 * scale, 9 * scale, 9 * scale])]))
else:
    print(json.dumps({"pp_ts": [5 - workers, 5 - workers], "tg_ts": [4 + workers, 4 + workers]}))
