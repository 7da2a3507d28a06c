#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What rounds cost: a network tuned in small batches that change the task, against the same trials task by task.

    tests/bench/rounds.py build/release/bin/tw network.onnx [--pairs 3] [--batches 10,33] [--trials-per-task 33]

Sessions are equal but for the size of a batch; they take turns, the first one alternates, and each begins with a new database. Printed are the wall times, what
of them was building, measuring and neither, the ratio of each pair with the median of all, and the ratio of the fastest of each. Wants a machine that does nothing else.
"""
import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tw")
parser.add_argument("network")
parser.add_argument("--pairs", type=int, default=3)
parser.add_argument("--batches", default="10,33", help="small,large")
parser.add_argument("--repeats", type=int, default=5, help="samples a trial; 0: until they agree, which varies")
parser.add_argument("--trials-per-task", type=int, default=33)
options = parser.parse_args()
small, large = (int(b) for b in options.batches.split(","))


def session(batch, seed):
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        done = subprocess.run([options.tw, "tune", options.network, "--tuner", "random", "--scheduler", "round-robin", "--trials-per-task", str(options.trials_per_task), "--batch", str(batch),
                               "--seed", str(seed), "--finalists", "0", "--repeats", str(options.repeats), "--network-finals", "never", "--db", os.path.join(folder, "t.db")],
                              check=True, capture_output=True, text=True)
        seconds = time.monotonic() - start
    shares = re.search(r"^Time .*$", done.stdout, re.M).group(0)
    epochs = (done.stdout + done.stderr).count("The machine's speed changed")
    print(f"  batch {batch:3}: {seconds:6.1f} s   {shares}; {epochs} changes of the machine's speed", flush=True)
    return seconds


print(f"{options.trials_per_task} trials a task, random, round-robin, no finals")
ratios, fastest = [], {}
for pair in range(options.pairs):
    order = (small, large) if pair % 2 == 0 else (large, small)
    took = {batch: session(batch, pair) for batch in order}
    for batch, seconds in took.items():
        fastest[batch] = min(fastest.get(batch, seconds), seconds)
    ratios.append(took[small] / took[large])
    print(f"batches of {small} / batches of {large}: {ratios[-1]:.3f}", flush=True)
print(f"median {statistics.median(ratios):.3f}, fastest against fastest {fastest[small] / fastest[large]:.3f}")
