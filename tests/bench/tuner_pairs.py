#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two tuners on every task of a network with equal trials, and what each found timed inside the network by turns: ratios a kernel and their geomean.

    tests/bench/tuner_pairs.py build/release/bin/tw r18.onnx --tuners ansor,xgb --trials 500 --threads 1,2 --only conv2d,dense --keep /tmp/pairs
    for f in tests/bench/odd/*.te; do tests/bench/tuner_pairs.py build/release/bin/tw $f --tuners ansor,default --trials 200; done

The tuner `default` takes no trials: the schedule by rule. A ratio is the second tuner's time over the first's: above 1 the first found the faster kernel.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


def tw_json(tw, *arguments):
    done = subprocess.run([tw, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"tw {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def wanted_tasks(tw, options, target):
    """Keys of every so-manieth task whose name contains a wanted word, heaviest first."""
    wanted = [word for word in options.only.split(",") if word] or [""]
    keys = [task["key"] for task in tw_json(tw, "tasks", options.model, *target)["tasks"] if any(word in task["name"] for word in wanted)]
    return keys[options.first::options.every]


def tuned(tw, options, tuner, target, keys, folder):
    """A compiled network with the tuner's best, and the seconds that finding it took."""
    code, seconds, database = os.path.join(folder, f"{tuner}.twx"), 0.0, []
    if os.path.exists(code):  # kept by an earlier run
        return code, float("nan")
    if tuner != "default":
        db = os.path.join(folder, f"{tuner}.twdb")
        tasks = [word for key in keys for word in ("--task", key)]
        begin = time.monotonic()
        tw_json(tw, "tune", options.model, *target, *tasks, "--tuner", tuner, "--trials-per-task", str(options.trials), "--seed", str(options.seed), "--network-finals", "never", "--db", db)
        seconds, database = time.monotonic() - begin, ["--db", db]
    tw_json(tw, "compile", options.model, *target, *database, "-o", code)
    return code, seconds


def times_of(tw, code, repeat):
    """Name, seconds and origin of each kernel, by the nodes that it computes, and the latency between the processors before and after."""
    run = tw_json(tw, "run", code, "--random-input", "--profile", "--repeat", str(repeat))
    return {tuple(row["nodes"]): (row["name"], row["median_s"], row["origin"]) for row in run["profile"] if row["nodes"]}, run["core_latency_s"]


def states(runs):
    """Runs by the state that the machine was in: a host moves virtual processors, and with the latency between them kernels change by factors. A state holds
    latencies up to 1.8 times its least; runs during which it changed are left out. Its runs come in pairs, as many of either side."""
    least, found = [], {}
    for latency in sorted(s for _, _, latencies in runs for s in latencies):
        if not least or latency > 1.8 * least[-1]:
            least.append(latency)
    for side, times, latencies in runs:
        before, after = (sum(s >= first for first in least) for s in latencies)
        if before == after:
            found.setdefault(least[before - 1], ([], []))[side].append(times)
    return {state: sides for state, sides in found.items() if min(map(len, sides)) >= 3}


def compare(tw, options, threads, folder):
    target = ["--target", f"llvm -num-cores={threads}"]
    tuners = options.tuners.split(",")
    keys = wanted_tasks(tw, options, target)
    code, seconds = zip(*(tuned(tw, options, t, target, keys, folder) for t in tuners))
    runs = []
    for turn in range(options.turns):
        for side in ((0, 1) if turn % 2 == 0 else (1, 0)):
            runs.append((side, *times_of(tw, code[side], options.repeat)))
    print(f"{os.path.basename(options.model)}, {threads} threads, {len(keys)} tasks, {options.trials} trials each: {tuners[0]} {seconds[0]:.0f} s, {tuners[1]} {seconds[1]:.0f} s")
    for latency, sides in sorted(states(runs).items()):
        report(latency, sides)


def report(latency, sides):
    """Kernels that either side tuned, by their median times within one state of the machine."""
    if latency > 0:
        print(f"  processors {latency * 1e9:.0f} ns apart, {len(sides[0])} and {len(sides[1])} runs")
    ratios = []
    for nodes, (name, _, origin) in sides[0][0].items():
        if any(nodes not in times for side in sides for times in side) or all(side[0][nodes][2] == "default" for side in sides):
            continue
        a, b = (statistics.median(times[nodes][1] for times in side) for side in sides)
        ratios.append((b / a, name, nodes[0], a, b))
    for ratio, name, node, a, b in sorted(ratios):
        print(f"  {ratio:5.2f}  {name:40} {node[:30]:30}  {a * 1e6:9.1f} us  {b * 1e6:9.1f} us")
    print(f"  geomean {statistics.geometric_mean(r[0] for r in ratios):.3f}, least {min(ratios)[0]:.2f}, of {len(ratios)} kernels", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tw")
    parser.add_argument("model")
    parser.add_argument("--tuners", default="ansor,xgb", help="two; `default` for the schedule by rule")
    parser.add_argument("--trials", type=int, default=500, help="of each task")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="", help="only tasks whose names contain one of these")
    parser.add_argument("--every", type=int, default=1, help="a sample: only every so-manieth of these tasks, heaviest first")
    parser.add_argument("--first", type=int, default=0, help="where the sample begins, from 0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--keep", help="folder for databases and compiled networks; a temporary one if absent")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for threads in options.threads.split(","):
            folder = os.path.join(options.keep or temporary, threads)
            os.makedirs(folder, exist_ok=True)
            compare(options.tw, options, threads, folder)


if __name__ == "__main__":
    main()
