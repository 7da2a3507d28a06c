#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Datasets and neural cost models of `tw`: what is drawn, what models learn from it, and what becomes of a session whose learner is killed.

Usage: learning_test.py TW [CASE...]
"""
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

from cli_case import TW, CliCase, tw, tw_json

LEARNER = os.path.join(os.path.dirname(TW), "tw-learner")
A100 = ("--target", "cuda:a100", "--device", "sim:a100")


class Datasets(CliCase):
    def test_from_trials_to_a_judged_model(self):
        db, data, model = self.path("d.db"), self.path("d.twds"), self.path("trees.model")
        made = tw("dataset", "make", self.model, *A100, "--db", db, "--per-task", "24", "--batch", "8", check=0)[1]
        self.assertIn("trials of", made)
        tw("dataset", "featurise", db, "--target", "cuda:a100", "--times", "simulated", "--feature", "ansor", "-o", data, check=0)
        about = tw_json("dataset", "info", data)
        self.assertEqual((about["times"], about["feature"], about["columns"]), ("simulated", "ansor", 164))
        self.assertEqual(about["samples"], sum(t["samples"] for t in about["tasks"]))
        self.assertGreater(about["samples"], 50)
        self.assertIn("fastest", tw("dataset", "info", data, check=0)[1])
        for split in ("samples", "tasks"):
            judged = tw_json("dataset", "train", data, "--model", "boosted-trees", "--test", "0.4", "--split", split, "--save", model)["judged"]
            self.assertEqual(judged["learned"] + judged["tested"], about["samples"])
            self.assertGreater(judged["tested"], 0)
        again = tw_json("dataset", "evaluate", model, data)
        self.assertEqual(again["judged"]["tested"], about["samples"])
        self.assertGreater(again["judged"]["pairs_in_order"], 0.5)
        self.assertEqual(len(again["networks"]), 1)
        self.assertEqual(again["networks"][0]["tested"], about["samples"])

    def test_networks_are_held_out(self):
        """Of two networks with a task in common, which counts for the one that is held out."""
        other, db, data = self.path("mlp.onnx"), self.path("d.db"), self.path("d.twds")
        tw("zoo", "write", "mlp", "-o", other, "--tiny", check=0)
        for model in (self.model, other):
            tw("dataset", "make", model, *A100, "--db", db, "--per-task", "12", "--batch", "6", check=0)
        tw("dataset", "featurise", db, "--target", "cuda:a100", "--times", "simulated", "--feature", "ansor", "-o", data, check=0)
        about = tw_json("dataset", "info", data)
        names = [n["name"] for n in about["networks"]]
        self.assertEqual(len(names), 2)
        samples = {t["key"]: t["samples"] for t in about["tasks"]}
        for n in about["networks"]:
            judged = tw_json("dataset", "train", data, "--model", "boosted-trees", "--hold-out", n["name"])
            self.assertEqual(judged["judged"]["tested"], sum(samples[key] for key in n["weights"]))
            self.assertIn(n["name"], [row["network"] for row in judged["networks"]])
        self.assert_sentence(3, "dataset", "train", data, "--model", "boosted-trees", "--hold-out", "alexnet", has="alexnet")

    def test_what_does_not_fit_is_refused(self):
        db, simulated, measured = self.path("d.db"), self.path("s.twds"), self.path("m.twds")
        tw("dataset", "make", self.model, *A100, "--db", db, "--per-task", "4", "--batch", "4", check=0)
        target = tw_json("tasks", self.model, "--target", "cuda:a100")["target"]
        self.assert_sentence(3, "dataset", "featurise", db, "--target", target, "-o", measured, has="measured")  # nothing was
        self.assert_sentence(2, "dataset", "featurise", db, "--target", target, "--feature", "dreams", "-o", measured, has="ansor")
        tw("dataset", "featurise", db, "--target", target, "--times", "simulated", "-o", simulated, check=0)
        self.assert_sentence(3, "dataset", "train", simulated, "--model", "symbols", has="symbols")
        self.assert_sentence(3, "dataset", "info", db)
        self.assert_sentence(3, "dataset", "evaluate", simulated, simulated, has="cost model")
        whole = self.read(simulated)
        self.assert_sentence(3, "dataset", "info", self.write("cut.twds", whole[:-5]), has="Expected the bytes that were saved")
        self.assert_sentence(3, "dataset", "info", self.write("new.twds", whole.replace(b'"version":1', b'"version":9', 1)), has="format 9")
        old = whole.replace(b'"feature_version":1', b'"feature_version":7', 1)
        self.assert_sentence(3, "dataset", "info", self.write("old.twds", old), has="featurise")
        self.assert_sentence(3, "tune", self.model, *A100, "--tuner", "pruner-offline", "--trials", "4", "--db", db, "--tuner-param", "model_file=" + simulated, has="cost model")


@unittest.skipUnless(os.path.exists(LEARNER), "tw-learner is not built: libtorch is not here")
class Learner(CliCase):
    SMALL = ("--tuner-param", "population=64", "--tuner-param", "draft_size=16", "--tuner-param", "first_fit=8", "--batch", "8", "--finalists", "0", "--network-finals", "never")

    def test_every_tuner_from_trials_to_trials(self):
        """A model from another device's trials, then each of the tuners with it."""
        db, data, source = self.path("k80.db"), self.path("k80.twds"), self.path("k80.model")
        tw("dataset", "make", self.model, "--target", "cuda:k80", "--device", "sim:k80", "--db", db, "--per-task", "16", "--batch", "16", check=0)
        target = tw_json("tasks", self.model, "--target", "cuda:k80")["target"]
        tw("dataset", "featurise", db, "--target", target, "--times", "simulated", "-o", data, check=0)
        judged = tw_json("dataset", "train", data, "--model", "pam", "--model-param", "epochs=5", "--save", source)["judged"]
        self.assertEqual(judged["model"], "pam/pam-1")
        self.assertGreater(tw_json("dataset", "train", data, "--model", "pam", "--from", source, "--test", "0.2")["judged"]["tested"], 0)
        for tuner in ("tenset-mlp", "pruner", "moa-pruner", "pruner-offline"):
            curve = self.path(tuner + ".tsv")
            pretrained = ("--tuner-param", "model_file=" + source) if tuner in ("moa-pruner", "pruner-offline") else ()
            report = tw_json("tune", self.model, *A100, "--tuner", tuner, "--trials", "60", "--log-latency", curve, "--db", self.path("t.db"), *self.SMALL, *pretrained)
            self.assertEqual(sum(t["trials"] for t in report["tasks"]), 60)
            self.assertGreater(report["models"]["trials"], 0, tuner)
            self.assertIn("EstimatedLatency(ms)", self.read(curve).decode())

    def test_killed_in_mid_run(self):
        """Every learner that comes up is killed: the session ends as always, and says what it did instead."""
        over = threading.Event()

        def kill(parent):
            while not over.is_set():
                for pid in filter(str.isdigit, os.listdir("/proc")):
                    try:
                        with open(f"/proc/{pid}/stat") as f:
                            name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
                        if name == "tw-learner" and int(rest.split()[1]) == parent:
                            os.kill(int(pid), signal.SIGKILL)
                    except (OSError, IndexError):
                        pass
                time.sleep(0.05)

        p = subprocess.Popen([TW, "tune", self.model, *A100, "--tuner", "pruner", "--trials", "80", "--db", self.path("t.db"), "--tuner-param", "epochs=10000", *self.SMALL],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        killer = threading.Thread(target=kill, args=(p.pid,))
        killer.start()
        try:
            out, err = p.communicate(timeout=240)
        finally:
            over.set()
            killer.join()
        self.assertEqual(p.returncode, 0, err)
        self.assertIn("SIGKILL", err)
        self.assertIn("by the draft's formula", err)
        self.assertIn("'boosted-trees' stands in for 'pam'", err)

    def test_missing(self):
        """Without the program trees stand in, and how to add it is said once."""
        folder = self.path("bin")
        os.mkdir(folder)
        for name in ("tw", "tw-worker"):
            shutil.copy(os.path.join(os.path.dirname(TW), name), folder)
        p = subprocess.run([os.path.join(folder, "tw"), "tune", self.model, *A100, "--tuner", "pruner", "--trials", "48", "--db", self.path("t.db"), *self.SMALL],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertEqual(p.stderr.count("installers/learner"), 1, p.stderr)
        self.assertIn("'boosted-trees' stands in for 'pam'", p.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
