#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw space`, and searches in recorded spaces.

Usage: spaces_test.py TW [TEST...]
"""
import json
import math
import os
import shutil
import subprocess
import sys
import unittest

from cli_case import TW, CliCase, tw, tw_json

TEXT = b"""A: float32[64, 64] = placeholder()
B: float32[64, 64] = compute(i, j)
    A[i, j] + float32(1)
outputs(B)

schedule
define_knob(threads, [32, 64, 128, 256])
define_knob(rows, [1, 2, 4])
f = fuse(B.i, B.j)
b, t, r = split(f, [threads, rows])
bind(b, blockIdx.x)
bind(t, threadIdx.x)
"""
GPU = ("--target", "cuda:a100", "--device", "sim:a100")


class Spaces(CliCase):
    def recorded(self):
        model, db = self.write("add.te", TEXT), self.path("r.db")
        done = tw_json("space", "record", model, *GPU, "--db", db)
        self.assertEqual([(t["points"], t["failures"]) for t in done["tasks"]], [(12, 0)])
        return model, db, done

    def test_recorded_written_and_searched(self):
        model, db, done = self.recorded()
        again = tw_json("space", "record", model, *GPU, "--db", db)
        self.assertEqual((again["session"], again["tasks"][0]["trials"]), (done["session"], done["tasks"][0]["trials"]))
        file = self.path("add.twspace")
        tw("space", "write", "--db", db, "--name", "added", "-o", file, check=0)
        shown = tw_json("space", "show", file)
        self.assertEqual((shown["name"], shown["points"], shown["recorded"], shown["opaque"]), ("added", 12, 12, False))
        self.assertAlmostEqual(shown["best_s"] / done["tasks"][0]["best_s"], 1, places=3)
        # A search of the whole space ends at its best point, without a GPU and without being told of one.
        tuned = tw_json("tune", file, "--tuner", "genetic", "--trials", "100", "--db", self.path("t.db"))
        self.assertEqual(tuned["device"], "recorded:" + file)
        self.assertAlmostEqual(tuned["tasks"][0]["best_s"] / shown["best_s"], 1, places=6)
        self.assertIn("replayed", tw("tune", file, "--trials", "3", "--db", self.path("t2.db"), check=0)[1])
        # The network itself against the file, and the file against the workspace.
        for trial in (("tune", model, "--target", "cuda:a100", "--device", "recorded:" + file), ("tune", file, "--device", "recorded:" + db)):
            same = tw_json(*trial, "--trials", "100", "--db", self.path("t3.db"))
            self.assertAlmostEqual(same["tasks"][0]["best_s"] / shown["best_s"], 1, places=3)

    def test_part_of_a_space(self):
        model, db = self.write("add.te", TEXT), self.path("p.db")
        done = tw_json("space", "record", model, *GPU, "--points", "5", "--db", db)
        self.assertEqual(done["tasks"][0]["trials"], 5)
        file = self.path("p.twspace")
        tw("space", "write", "--db", db, "-o", file, check=0)
        shown = tw_json("space", "show", file)
        self.assertTrue(0 < shown["recorded"] <= 5 and shown["points"] == 12, shown)
        tuned = tw_json("tune", file, "--trials", "100", "--db", self.path("t.db"))
        self.assertLessEqual(tuned["tasks"][0]["trials"], 6)
        self.assertIn("no further candidate", tw("tune", file, "--trials", "100", "--db", self.path("t4.db"), check=0)[1])

    def test_a_race_in_spaces_that_come_with_the_program(self):
        names = [s["name"] for s in tw_json("space", "list")["spaces"]]
        self.assertGreaterEqual(len(names), 3)
        plan = {"networks": ["space:" + names[0]], "tuners": ["random", "genetic"], "seeds": 5, "options": {"trials": 40, "finalists": 0}}
        race = tw_json("race", self.write("race.json", json.dumps(plan).encode()))
        self.assertEqual((race["times"], len(race["sessions"])), ("replayed", 10))
        self.assertTrue(race["verdicts"][0]["decided"])

    def test_why_one_point_is_faster(self):
        model, db, done = self.recorded()
        # Every other point against one; trial 1 is the default schedule, which is no point of the space.
        shares = {}
        times, two = {}, 0
        for n in range(3, 14):
            why = tw_json("explain", db, "1:2", f"1:{n}")
            product = 1
            for c in why["choices"]:
                product *= c["factor"]
            self.assertAlmostEqual(product, why["first_s"] / why["second_s"], places=9)
            self.assertEqual((why["orders"], why["missing"]), (why["all_orders"], []))
            key = json.dumps(sorted((c["choice"], c["second"]) for c in why["choices"]))
            times[key], shares[key] = why["second_s"], {c["choice"]: c["factor"] for c in why["choices"]}
            first = why["first_s"]
            order = [abs(math.log(c["factor"])) for c in why["choices"]]
            self.assertEqual(order, sorted(order, reverse=True))
        # Of two knobs each has the geometric mean of what it does before and after the other.
        for key, changed in shares.items():
            both = json.loads(key)
            if len(both) != 2:
                continue
            two += 1
            alone = [times[json.dumps([one])] for one in both]
            for k in (0, 1):
                expected = math.sqrt(first / alone[k] * alone[1 - k] / times[key])
                self.assertAlmostEqual(changed[both[k][0]] / expected, 1, places=9)
        self.assertEqual((len(times), two), (11, 6))
        # The formula asked anew says the same, and texts name both.
        again, stored = (tw_json("explain", db, "1:2", "1:9", *device) for device in ((), ("--device", "sim:a100")))
        for key in ("first_s", "second_s"):
            self.assertAlmostEqual(again[key] / stored[key], 1, places=6)
        self.assertIn("1:9 takes", tw("explain", db, "1:2", "1:9", check=0)[1])
        self.assertTrue(any(f["name"].startswith("blocks") for f in stored["facts"]), stored["facts"])
        # A part of the space lacks points on the way: said, and measured if there is something that does.
        part = self.path("part.db")
        tw_json("space", "record", model, *GPU, "--points", "8", "--db", part)
        ways = set()
        for a in range(2, 9):
            for b in range(a + 1, 9):
                found, out, err = tw("explain", part, f"1:{a}", f"1:{b}", "--json")
                self.assertEqual((found, err), (0, ""))
                why = json.loads(out)
                if why["undivided"]:
                    self.assertIn("no trial of it is in the workspace", why["undivided"])
                    self.assertEqual(why["choices"], [])
                else:
                    self.assertEqual(why["orders"] < why["all_orders"], bool(why["missing"]))
                way = "none" if why["undivided"] else "some" if why["missing"] else "all"
                if way in ways:
                    continue
                ways.add(way)
                measured = tw_json("explain", part, f"1:{a}", f"1:{b}", "--device", "sim:a100")
                self.assertEqual((measured["missing"], measured["orders"]), ([], measured["all_orders"]))
        self.assertTrue(ways & {"none", "some"}, ways)
        self.assert_sentence(2, "explain", db, "1-1", "1:2", has="SESSION:NUMBER")
        self.assert_sentence(3, "explain", db, "1:1", "1:99", has="Expected a task that has trial 1")
        self.assert_sentence(3, "explain", db, "1:1", "9:1", has="Expected session 9")
        self.assert_sentence(3, "explain", db, "1:2", "1:2", has="two candidates that differ")
        # The default schedule is no point of the space: steps are exchanged, and as nothing between was recorded the numbers stand alone.
        page = self.path("why.html")
        why = tw_json("explain", db, "1:1", "1:2", "--html", page)
        self.assertTrue(why["undivided"] or len(why["choices"]) == 1, why)
        self.assertTrue(why["facts"] and why["features"] and why["steps_of_second_only"])
        with open(page, encoding="utf-8") as f:
            text = f.read()
        self.assertIn("Beside each other", text)
        self.assertIn("1:1 against 1:2", text)

    def test_kernel_tuners_cache(self):
        cache = {"device_name": "A GPU", "kernel_name": "k", "problem_size": 8, "tune_params_keys": ["a", "b"], "tune_params": {"a": [1, 2, 3], "b": [False, True]}, "objective": "time",
                 "cache": {f"{a},{b}": {"a": a, "b": b, "time": a + 0.5 * b if a < 3 else "InvalidConfig"} for a in (1, 2, 3) for b in (False, True)}}
        file = self.write("kt.json", json.dumps(cache).encode())
        shown = tw_json("space", "show", file)
        self.assertEqual((shown["recorded"], shown["failures"], shown["best_s"], shown["opaque"]), (6, 2, 1e-3, True))
        tuned = tw_json("tune", file, "--tuner", "xgb", "--trials", "20", "--db", self.path("t.db"))
        self.assertEqual(tuned["tasks"][0]["best_s"], 1e-3)
        entered = tw_json("space", "import", file, "--db", self.path("w.db"))
        self.assertEqual((entered["stored"], entered["failures"]), (6, 2))
        self.assertEqual(tw_json("space", "import", file, "--db", self.path("w.db"))["stored"], 0)
        # A sketch is no point of a space of which only the knobs are known.
        found, out, err = tw("tune", file, "--tuner", "ansor", "--trials", "5", "--db", self.path("a.db"))
        self.assertEqual(found, 1)
        self.assertIn("not_recorded", err)

    def test_a_tuner_of_sketches_has_nothing_to_search_in_a_template(self):
        plan = {"networks": ["space:matmul-znver5"], "tuners": ["random", "grid", "ansor"], "seeds": 5, "options": {"trials": 40, "finalists": 0}}
        race = tw_json("race", self.write("race.json", json.dumps(plan).encode()))
        self.assertRegex(race["winner"], r"^(random|grid) is ahead .*\. ansor had nothing to search on matmul_znver5\.$")
        self.assertEqual([(v["a"], v["b"]) for v in race["verdicts"]], [("random", "grid")])

    def test_a_program_without_its_spaces_says_so(self):
        alone = self.path("bin")
        os.mkdir(alone)
        shutil.copy(TW, alone)
        found = subprocess.run([os.path.join(alone, "tw"), "space", "show", "space:matmul-znver5"], capture_output=True, text=True)
        self.assertEqual(found.returncode, 2)
        self.assertIn("found none", found.stderr)

    def test_what_is_wrong_is_said(self):
        model, db, _ = self.recorded()
        file = self.path("add.twspace")
        tw("space", "write", "--db", db, "-o", file, check=0)
        self.assert_sentence(2, "tune", "space:nothing", "--db", self.path("x.db"), has="'nothing'")
        self.assert_sentence(2, "tune", file, "--target", "cuda:t4", "--db", self.path("x.db"), has="--target")
        self.assert_sentence(2, "space", "record", file, "--db", self.path("x.db"), has="recorded space")
        self.assert_sentence(3, "space", "show", model, has="JSON")
        self.assert_sentence(3, "space", "show", self.write("e.json", b"{}"), has="Expected a recorded space")
        self.assert_sentence(2, "space", "write", "--db", db, "--task", "nothing", "-o", self.path("y.twspace"), has="found 0")
        other = self.write("other.te", TEXT.replace(b"64, 64", b"128, 64"))
        self.assert_sentence(3, "tune", other, "--target", "cuda:a100", "--device", "recorded:" + file, "--trials", "3", "--db", self.path("x.db"), has="Expected trials of the chosen tasks")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
