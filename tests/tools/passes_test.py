#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw passes`: what passes do to a network and what leaving them out costs; `tw compile --disable-pass`.

Usage: passes_test.py TW [TEST...]
"""
import signal
import subprocess
import sys
import time
import unittest

from cli_case import CliCase, TW, tw, tw_json


class Passes(CliCase):
    def test_what_each_pass_does(self):
        document = tw_json("passes", self.model)
        passes = {p["name"]: p for p in document["passes"]}
        self.assertEqual(document["costs"], [])
        self.assertGreater(passes["fuse_operators"]["nodes"]["changed"], 0)
        self.assertGreater(passes["simplify"]["kernels"]["changed"], 0)
        self.assertTrue(all(p["summary"] and p["source"] for p in passes.values()))
        self.assertIsNone(passes["simplify"]["needed"])
        self.assertTrue(passes["insert_barriers"]["needed"])
        self.assertFalse(passes["insert_barriers"]["ran"])  # that is for GPUs
        text = tw("passes", self.model, check=0)[1]
        for words in ("no: " + passes["insert_barriers"]["needed"], passes["fuse_operators"]["summary"], "runs only where it is asked for"):
            self.assertIn(words, text)
        task = tw_json("tasks", self.model)["tasks"][0]
        one = tw_json("passes", self.model, "--kernel", task["name"])["passes"]
        self.assertTrue(all(p["of"] == "kernels" and p["kernels"]["all"] <= 1 for p in one))

    def test_what_a_pass_is_worth(self):
        db = self.path("t.db")
        tw("tune", self.model, "--trials", "8", "--db", db, "--network-finals", "never", check=0)
        before, content = self.trials(db), self.read(db)
        command = ["passes", self.model, "--db", db, "--without", "fuse_operators", "--without", "vectorize_loops", "--without", "widen_sums"]
        compiled = {c["pass"]: c for c in tw_json(*command)["costs"]}
        self.assertEqual(compiled["fuse_operators"]["verdict"], "not_measured")
        self.assertGreater(compiled["fuse_operators"]["without"]["calls"], compiled["fuse_operators"]["with"]["calls"])
        self.assertEqual(compiled["widen_sums"]["verdict"], "same_program")
        costs = tw_json(*command, "--measure", "--time", "1s")["costs"]
        self.assertEqual([c["verdict"] for c in costs if c["pass"] == "widen_sums"], ["same_program"])
        measured = [c for c in costs if c["measured"]]
        self.assertEqual({c["pass"] for c in measured}, {"fuse_operators", "vectorize_loops"})
        self.assertEqual([c["ratio"]["ratio"] for c in measured], sorted((c["ratio"]["ratio"] for c in measured), reverse=True))
        for c in measured:
            self.assertIn(c["verdict"], ("slower", "faster", "no_difference"))
            self.assertLessEqual(c["ratio"]["low"], c["ratio"]["high"])
            self.assertGreater(min(c["with_s"], c["without_s"], c["launches"]), 0)
        self.assertEqual((self.trials(db), self.read(db)), (before, content))

    def test_wrong_usage(self):
        self.assert_sentence(2, "passes", self.model, "--without", "no_such_pass", has="fuse_operators")
        self.assert_sentence(2, "passes", self.model, "--without", "insert_barriers", has="may be left out")
        self.assert_sentence(2, "passes", self.model, "--kernel", "no_such_task", has="no_such_task")
        self.assert_sentence(2, "passes", self.model, "--kernel", tw_json("tasks", self.model)["tasks"][0]["name"], "--without", "fuse_operators", has="fuse_operators")
        self.assert_sentence(2, "passes", self.model, "--measure", "--time", "soon", has="soon")
        self.assert_sentence(2, "compile", self.model, "-o", self.path("m.twx"), "--disable-pass", "insert_barriers", has="shared memory")

    def test_networks_compile_without_passes(self):
        twx = self.path("m.twx")
        with_all = tw_json("compile", self.model, "-o", twx)
        tw("compile", self.model, "-o", twx, "--disable-pass", "vectorize_loops", "--disable-pass", "fuse_operators", "--dump-passes", self.path("dump"), check=0)
        index = self.read(self.path("dump/index.json")).decode()
        self.assertNotIn("vectorize_loops", index)
        self.assertNotIn("fuse_operators", index)
        ran = tw_json("run", twx, "--random-input", "--check", "--repeat", "1")
        self.assertTrue(ran["check"]["passed"])
        self.assertGreater(len(tw_json("compile", self.model, "-o", twx, "--disable-pass", "fuse_operators")["kernels"]), len(with_all["kernels"]))

    def test_simulated_networks_are_not_run(self):
        costs = tw_json("passes", self.model, "--target", "cuda:a100", "--device", "sim:a100", "--measure", "--without", "fuse_operators")["costs"]
        self.assertEqual([c["verdict"] for c in costs], ["not_measured"])
        self.assertIn("formula", costs[0]["says"])

    def test_measuring_stops_within_a_second(self):
        model = self.path("m.onnx")
        tw("zoo", "write", "mobilenet_v2", "--tiny", "-o", model, check=0)
        process = subprocess.Popen([TW, "passes", model, "--measure"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)  # of the half minute that it takes
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertLess(time.monotonic() - begin, 2.5)  # a second, and what a busy machine takes


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
