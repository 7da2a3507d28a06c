#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw race` and `tw compare`: tuners against each other.

Usage: compare_test.py TW [TEST...]
"""
import csv
import json
import os
import re
import sys
import unittest
from xml.etree import ElementTree

from cli_case import CliCase, tw, tw_json


class Races(CliCase):
    def plan(self, **other):
        plan = {"networks": [{"model": self.model, "tasks": ["dense"]}], "target": "cuda:a100", "device": "sim:a100",
                "tuners": ["random", {"tuner": "genetic", "params": {"population": 4}}], "seeds": 5, "options": {"trials_per_task": 8, "batch": 4, "finalists": 0}, **other}
        return self.write("race.json", json.dumps(plan).encode())

    def test_a_race_goes_on_where_it_was(self):
        code, _, err = tw("race", self.plan(seeds=2), "--json", check=0)
        self.assertEqual(len(re.findall(r"^Session \d of 4: ", err, re.M)), 4)
        db = self.path("race.twdb")
        before = self.trials(db)
        code, out, err = tw("race", self.plan(), "--json", check=0)
        self.assertEqual(len(re.findall(r"seed [12] is done$", err, re.M)), 4, err)
        self.assertEqual(len(re.findall(r"seed [345]$", err, re.M)), 6, err)
        self.assertGreater(self.trials(db), before)
        done = json.loads(out)
        self.assertEqual((done["times"], len(done["sessions"])), ("simulated", 10))
        for task in done["tasks"]:
            self.assertEqual([g["sessions"] for g in task["groups"]], [5, 5])
            for g in task["groups"]:
                self.assertTrue(0 < g["area"] <= 1 and g["best_s"] <= g["median_s"], g)
        self.assertEqual(len(done["verdicts"]), len(done["tasks"]))
        for v in done["verdicts"]:
            self.assertTrue(v["decided"] and (v["p"] < 0.05 or v["sessions_to_settle"] is None or v["sessions_to_settle"] > 0), v)
        self.assertEqual(done["overall"][0]["pairs"], 5 * len(done["tasks"]))
        # What stands in the database is what the race said, and trials are not made again.
        trials = self.trials(db)
        self.assertEqual(tw_json("compare", db), done)
        tw("race", self.plan(), check=0)
        self.assertEqual(self.trials(db), trials)

    def test_files_of_a_comparison(self):
        files = {kind: self.path(f"c.{kind}") for kind in ("markdown", "csv", "svg", "html")}
        options = [text for kind, path in files.items() for text in (f"--{kind}", path)]
        code, out, err = tw("race", self.plan(seeds=2), "--db", self.path("r.db"), *options, check=0)
        self.assertIn("The times are simulated, not measured.", out)
        self.assertIn("a verdict needs 5 sessions", out)
        done = tw_json("compare", self.path("r.db"), "--race", "race")
        with open(files["csv"], newline="") as f:
            rows = list(csv.DictReader(f))
        told = [(t["task"], g["tuner"], g["trials"]) for t in done["tasks"] for g in t["groups"]]
        self.assertEqual([(r["task"], r["tuner"], int(r["trials"])) for r in rows], told)
        self.assertEqual([float(r["best_s"]) for r in rows], [float(f"{g['best_s']:.9g}") for t in done["tasks"] for g in t["groups"]])
        svg = ElementTree.parse(files["svg"]).getroot()
        titles = [e.text for e in svg.iter("{http://www.w3.org/2000/svg}text") if e.get("class") == "title"]
        self.assertEqual(titles, [t["task"] for t in done["tasks"]])
        page = self.read(files["html"]).decode()
        self.assertNotRegex(page.replace("http://www.w3.org/2000/svg", ""), r"https?:|src=|href=")
        self.assertIn(re.sub(r"(\d) us\b", "\\1 \u00b5s", done["winner"]).replace("&", "&amp;"), page)
        self.assertIn(done["winner"], self.read(files["markdown"]).decode())
        tw("compare", self.path("r.db"), "--svg", files["svg"], check=0)  # an earlier one is replaced
        self.assert_sentence(2, "compare", self.path("r.db"), "--svg", self.model, has="Expected")

    def test_the_table_of_a_paper(self):
        """One row of it, which the same command does not run again; rows by name."""
        db, page, picture = self.path("p.db"), self.path("p.md"), self.path("p.svg")
        command = ("bench", "tuners", "--paper", "pruner", "--model", self.model, "--trials", "24", "--batch", "4", "--only", "Ansor, boosted trees", "--db", db)
        code, out, err = tw(*command, "--markdown", page, "--svg", picture, "--trial-seconds", "3", "--json", check=0)
        done = json.loads(out)
        row = done["rows"][0]
        self.assertEqual((done["charged_s"], row["tuner"], row["sessions"]), (3, "ansor", 1))
        self.assertGreaterEqual(row["clock_s"], 24 * 3)
        self.assertLess(row["search_s"], row["clock_s"])
        self.assertTrue(0 < row["trials_to_first"] <= 24 and 0 < row["clock_to_first_s"] <= row["clock_s"], row)
        self.assertGreater(row["network_s"], 0)
        self.assertIsNone(row["published"]["estimate_s"])
        self.assertIn("| Ansor, boosted trees |", self.read(page).decode())
        self.assertEqual(len([e for e in ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}text") if e.get("class") == "title"]), 2)
        trials = self.trials(db)
        code, out, err = tw(*command, check=0)
        self.assertEqual(len(re.findall(r" is done$", err, re.M)), 1, err)
        self.assertEqual(self.trials(db), trials)
        self.assertIn("modelled time, s", out)
        self.assert_sentence(2, "bench", "tuners", "--only", "AutoTVM", has="'MoA-Pruner'")
        self.assert_sentence(2, "bench", "tuners", "--paper", "none", has="pruner")

    def test_sessions_that_say_nothing_against_each_other(self):
        db = self.path("t.db")
        common = ("tune", self.model, "--task", "dense", "--trials-per-task", "4", "--finalists", "0", "--network-finals", "never", "--db", db)
        tw(*common, "--target", "cuda:a100", "--device", "sim:a100", check=0)
        self.assert_sentence(3, "compare", db, has="Expected two sessions or more, found 1")
        tw(*common, "--target", "cuda:a100", "--device", "sim:a100", "--tuner", "genetic", check=0)
        tw(*common, check=0)
        code, out, err = tw("compare", db, check=0)
        self.assertIn("2 sessions with simulated times", err)
        self.assertIn("In these two sessions", out)
        self.assertEqual(tw_json("compare", db, "--session", "1", "2")["sessions"], [1, 2])
        self.assert_sentence(3, "compare", db, "--session", "7", has="Expected session 7")
        self.assert_sentence(3, "compare", db, "--race", "none", has="race 'none'")
        self.assert_sentence(3, "compare", self.path("none.db"), has="Expected a database")

    def test_bad_race_files(self):
        for other, has in (({"tuners": ["fastest"]}, "fastest"), ({"tuners": []}, "'tuners' as a list"), ({"seeds": 0}, "'seeds'"), ({"seeds": [-1]}, "'seeds'"),
                           ({"options": {"seed": 3}}, "'seed'"), ({"options": {"batch": 4}}, "trials_per_task"), ({"options": {"trials": "many"}}, "trials"),
                           ({"networks": [{"file": "x"}]}, "'file'"), ({"networks": ["none.onnx"]}, "none.onnx"), ({"prize": 1}, "'prize'"),
                           ({"tuners": [{"tuner": "genetic", "params": {"population": "big"}}]}, "population"), ({"device": 3}, "'device'")):
            with self.subTest(other=other):
                self.assert_sentence(3, "race", self.plan(**other), has=has)
                self.assertFalse(os.path.exists(self.path("race.twdb")))
        self.assert_sentence(3, "race", self.write("cut.json", b'{"networks": ['), has="cut.json")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
