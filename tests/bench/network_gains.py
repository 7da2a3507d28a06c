#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tuning gains in whole networks: `tw demo` some times, then networks tuned with few trials a task, on one thread and more, as a table.

    tests/bench/network_gains.py build/release/bin/tw --demos 10
    tests/bench/network_gains.py build/release/bin/tw --demos 0 --networks resnet18,bert_base --threads 1,2 --trials 24 --keep /tmp/gains

Each row stands beside a check that knows nothing of the finals: both compiled files run by turns as programs of their own. Ends with 1 if a network is slower
than the default one by more than its interval.
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


def seconds_text(s):
    return f"{s * 1e6:.3g} us" if s < 1e-3 else f"{s * 1e3:.3g} ms"


def gain_of(finals):
    """Times as fast with its interval; exactly 1 if the network stays as it was."""
    if finals["taken"] == 0:
        return 1.0, 1.0, 1.0
    n = finals["network"]
    return 1 / n["ratio"], 1 / n["high"], 1 / n["low"]


def by_turns(tw, default, tuned, rounds):
    """Median over rounds of default / tuned, each the median of its runs in a process of its own."""
    ratios = []
    for i in range(rounds):
        files = [default, tuned] if i % 2 == 0 else [tuned, default]
        times = {f: tw_json(tw, "run", f, "--random-input", "--repeat", "40")["latency"]["median_s"] for f in files}
        ratios.append(times[default] / times[tuned])
    return statistics.median(ratios)


def print_row(cells, widths):
    print("| " + " | ".join(str(c).rjust(w) for c, w in zip(cells, widths)) + " |", flush=True)


def demos(tw, count):
    titles = ("demo", "seconds", "default", "tuned", "gain", "interval", "taken", "checked")
    widths = (4, 7, 8, 8, 5, 12, 7, 7)
    print_row(titles, widths)
    bad = 0
    for i in range(count):
        begin = time.monotonic()
        report = tw_json(tw, "demo", "--seed", str(i + 1))
        gain, low, high = report["speedup"], report["speedup_low"], report["speedup_high"]
        bad += high < 1
        f = report["finals"]
        print_row((i + 1, f"{time.monotonic() - begin:.0f}", seconds_text(f["default_s"]), seconds_text(f["tuned_s"]), f"{gain:.2f}", f"{low:.2f} to {high:.2f}",
                   f"{f['taken']}/{f['tried']}", "passed" if report["passed"] else "WRONG"), widths)
    return bad


def networks(tw, options, folder):
    titles = ("network", "threads", "default", "tuned", "gain", "interval", "alone", "taken", "by turns", "tuning s", "finals s")
    widths = (14, 7, 8, 8, 5, 12, 5, 7, 8, 8, 8)
    print_row(titles, widths)
    bad = 0
    for name in options.networks.split(","):
        model = write_model(tw, folder, name)
        for threads in options.threads.split(","):
            target = ["--target", f"llvm -num-cores={threads}"]
            db = os.path.join(folder, f"{name}-{threads}.twdb")
            begin = time.monotonic()
            tw_json(tw, "tune", model, *target, "--trials-per-task", str(options.trials), "--tuner", options.tuner, "--db", db, "--network-finals", "never")
            tuned_after = time.monotonic()
            f = tw_json(tw, "finals", model, *target, "--db", db)
            finals_after = time.monotonic()
            default, tuned = os.path.join(folder, "default.twx"), os.path.join(folder, "tuned.twx")
            tw_json(tw, "compile", model, *target, "-o", default)
            tw_json(tw, "compile", model, *target, "--db", db, "-o", tuned)
            gain, low, high = gain_of(f)
            bad += high < 1
            print_row((name, threads, seconds_text(f["default_s"]), seconds_text(f["tuned_s"]), f"{gain:.2f}", f"{low:.2f} to {high:.2f}",
                       f"{f['default_estimate_s'] / f['tuned_estimate_s']:.2f}", f"{f['taken']}/{f['tried']}",
                       f"{by_turns(tw, default, tuned, options.rounds):.2f}", f"{tuned_after - begin:.0f}", f"{finals_after - tuned_after:.0f}"), widths)
    return bad


def write_model(tw, folder, name):
    path = os.path.join(folder, name + ".onnx")
    if not os.path.exists(path):
        subprocess.run([tw, "zoo", "write", name, "-o", path], check=True, stdout=subprocess.DEVNULL)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tw", help="the program")
    parser.add_argument("--demos", type=int, default=10)
    parser.add_argument("--networks", default="resnet18,mobilenet_v2,shufflenet_v2,bert_base", help="comma-separated; empty: none")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--trials", type=int, default=24, help="of each task")
    parser.add_argument("--tuner", default="random")
    parser.add_argument("--rounds", type=int, default=9, help="of the check by turns")
    parser.add_argument("--keep", help="folder for models and databases; a temporary one if absent")
    options = parser.parse_args()
    bad = demos(options.tw, options.demos) if options.demos > 0 else 0
    if options.networks:
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.keep or temporary
            os.makedirs(folder, exist_ok=True)
            bad += networks(options.tw, options, folder)
    if bad:
        sys.exit(f"{bad} of the networks above are slower than the default ones by more than their intervals")


if __name__ == "__main__":
    main()
