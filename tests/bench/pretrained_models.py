#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a pretrained cost model: schedules of bundled networks timed on one device, a network fitted to them, and its data card.

Usage: pretrained_models.py TW OUT.model [--target cuda:k80] [--device sim:k80] [--model pam] [--networks squeezenet1_1,densenet121] [--per-task 48] [--tuned 33] [--keep FOLDER]

    pretrained_models.py TW pam-avx512.model --target llvm --device local --keep FOLDER
    pretrained_models.py TW tenset-mlp-avx512.model --target llvm --device local --model tenset-mlp --keep FOLDER   # the same trials

Schedules are drawn at random (--per-task) and found by the tuner ansor (--tuned, which adds good ones, that chance hardly draws). The card, OUT.md, says what the model learned from and how well it
knows samples, whole tasks and a whole network that were held out. The networks that tuners are compared on, resnet50 and its kin, mobilenet_v2 and bert_base, belong to none of it.
`resources/models` holds what this made, as NAME-DEVICE.model.
"""
import argparse
import json
import os
import subprocess
import tempfile

FEATURES = {"pam": "pam", "tenset-mlp": "pam", "felix": "felix"}  # what each model sees of a candidate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tw")
    parser.add_argument("out")
    parser.add_argument("--target", default="cuda:k80")
    parser.add_argument("--device", default="sim:k80")
    parser.add_argument("--model", default="pam", choices=FEATURES)
    parser.add_argument("--networks", default="squeezenet1_1,densenet121")
    parser.add_argument("--per-task", default="48")
    parser.add_argument("--tuned", default="33")
    parser.add_argument("--epochs", default="50")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep", help="folder for databases and datasets: an interrupted run goes on, and another model learns from the same trials")
    o = parser.parse_args()

    def tw(*arguments):
        return subprocess.run([o.tw, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    with tempfile.TemporaryDirectory() as temporary:
        folder = o.keep or temporary
        os.makedirs(folder, exist_ok=True)
        datasets = []
        for network in o.networks.split(","):
            onnx, db, unfinished, data = (os.path.join(folder, network + end) for end in (".onnx", ".db", ".unfinished.db", f".{FEATURES[o.model]}.twds"))
            datasets.append(data)
            if os.path.exists(data):
                continue
            if not os.path.exists(db):
                tw("zoo", "write", network, "-o", onnx)
                tw("dataset", "make", onnx, "--target", o.target, "--device", o.device, "--db", unfinished, "--per-task", o.per_task, "--seed", o.seed)
                if int(o.tuned) > 0:
                    tw("tune", onnx, "--target", o.target, "--device", o.device, "--tuner", "ansor", "--scheduler", "round-robin", "--trials-per-task", o.tuned, "--batch", "16", "--finalists", "0",
                       "--network-finals", "never", "--seed", o.seed, "--db", unfinished)
                os.replace(unfinished, db)
            times = "simulated" if o.device.startswith("sim:") else "measured"
            tw("dataset", "featurise", db, "--target", o.target, "--times", times, "--feature", FEATURES[o.model], "-o", data)
        rows = []
        common = ("dataset", "train", *datasets, "--model", o.model, "--model-param", "epochs=" + o.epochs, "--seed", o.seed, "--json")
        ways = [("a tenth of the tasks", ("--split", "tasks")), ("a twentieth of the samples; this one is kept", ("--split", "samples", "--test", "0.05", "--save", o.out))]
        if len(datasets) > 1:
            ways.insert(0, (o.networks.split(",")[0], ("--hold-out", o.networks.split(",")[0])))
        for held_out, options in ways:
            rows.append((held_out, json.loads(tw(*common, *options))["judged"]))
        about = [json.loads(tw("dataset", "info", d, "--json")) for d in datasets]

    name = os.path.splitext(os.path.basename(o.out))[0]
    with open(os.path.splitext(o.out)[0] + ".md", "w") as card:
        card.write(f"# {name}\n\nThe cost model `{o.model}` for {about[0]['target']}, fitted to {about[0]['times']} times (`--device {o.device}`) by `tests/bench/pretrained_models.py`: "
                   f"{o.per_task} schedules of each task drawn at random, and {o.tuned} found by the tuner `ansor`, seed {o.seed}, {o.epochs} passes. Features: {about[0]['feature']}, version {about[0]['feature_version']}.\n\n")
        card.write("| network | tasks | samples | failed |\n|---|---:|---:|---:|\n")
        for network, a in zip(o.networks.split(","), about):
            card.write(f"| {network} | {len(a['tasks'])} | {a['samples']} | {sum(t['failed'] for t in a['tasks'])} |\n")
        card.write("\n| held out | learned from | tested on | pairs in order | best of 1 | best of 8 |\n|---|---:|---:|---:|---:|---:|\n")
        for held_out, j in rows:
            card.write(f"| {held_out} | {j['learned']} | {j['tested']} | {100 * j['pairs_in_order']:.1f} % | {j['best_of_1']:.3f} | {j['best_of_8']:.3f} |\n")
        if about[0]["times"] == "simulated":
            card.write("\nTimes of a simulated device are a formula's: the model knows that formula, not the device.\n")
    print(f"{o.out}: {os.path.getsize(o.out)} bytes")


if __name__ == "__main__":
    main()
