#!/usr/bin/env python3
"""Where the time of decoding goes: direct against recorded, cpu and vulkan, interleaved.
usage: decode_times.py [ROUNDS]   prints medians as a markdown table; needs build/release (./demo)."""
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROMPT = "Nell was a brave fox who lived by the sea. Nell could not swim."
# device, mode, LP_NUM_THREADS (workers of the software Vulkan driver; None: its default)
WAYS = [("cpu", "direct", None), ("cpu", "recorded", None), ("vulkan", "direct", "0"),
        ("vulkan", "recorded", "0"), ("vulkan", "direct", None), ("vulkan", "recorded", None)]


def run(device, mode, workers):
    environment = dict(os.environ)
    if workers is not None:
        environment["LP_NUM_THREADS"] = workers
    command = [ROOT + "/build/release/bin/reprise-llama", "-m", ROOT + "/samples/models/tales-f16.gguf",
               "-p", PROMPT, "-n", "100", "--device", device, "--mode", mode, "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    results = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            results[way].append(run(*way))
    print("| device | mode | LP_NUM_THREADS | record µs | plan µs | submit µs | wait µs | device µs | tok/s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for way in WAYS:
        def median(key, scale=1.0):
            return statistics.median(r[key] for r in results[way]) * scale
        times = [median(k, 1e-3) for k in
                 ("record_ns", "plan_ns", "submit_ns_p50", "wait_ns_p50", "device_ns_p50")]
        print("| %s | %s | %s | " % (way[0], way[1], way[2] or "default")
              + " | ".join("%.1f" % t for t in times) + " | %.0f |" % median("decode_tok_s"))


main()
