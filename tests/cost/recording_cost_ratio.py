"""Instructions per node of recording and finishing a large graph, against a small one.

usage: recording_cost_ratio.py <recording_cost> <valgrind> <callgrind output file>
Prints a line per set of passes and shape of graph; exits with 1 where a node of the large graph costs over a tenth
more. Instructions, unlike times, do not depend on who else uses the machine.
"""
import itertools
import re
import subprocess
import sys

SMALL, LARGE = 1_000, 100_000
MOST = 1.1


def instructions(program, valgrind, out, nodes, passes, shape):
    run = subprocess.run(
        [valgrind, "--tool=callgrind", "--toggle-collect=count_this", f"--callgrind-out-file={out}",
         program, str(nodes), passes, shape],
        capture_output=True, text=True, check=False)
    counted = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or counted is None:
        sys.exit(f"error: {' '.join(run.args)} exits with {run.returncode}:\n{run.stderr}")
    return int(counted[1])


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    too_much = False
    for passes, shape in itertools.product(("none", "exact"), ("layers", "wide")):
        per_node = [instructions(*sys.argv[1:], nodes, passes, shape) / nodes
                    for nodes in (SMALL, LARGE)]
        ratio = per_node[1] / per_node[0]
        print(f"{shape}, passes {passes}: {per_node[0]:.0f} instructions per node of {SMALL}, "
              f"{per_node[1]:.0f} of {LARGE}, ratio {ratio:.3f}")
        too_much = too_much or ratio > MOST
    return 1 if too_much else 0


if __name__ == "__main__":
    sys.exit(main())
