#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw campaign`: how speed follows from resources.

Usage: campaign_test.py TW [TEST...]
"""
import csv
import json
import os
import re
import shutil
import sys
import unittest

from cli_case import CliCase, tw, tw_json

SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "resources", "campaigns")


class Campaigns(CliCase):
    def plan(self, shapes="[[64, 64, 64], [128, 128, 128]]", head="points = 40", targets=("k80", "a100")):
        shutil.copy(os.path.join(SHIPPED, "matmul_gpu.te"), self.path("matmul_gpu.te"))
        text = f'{head}\n[[operators]]\nfile = "matmul_gpu.te"\nshapes = {shapes}\n'
        text += "".join(f'[[targets]]\ntarget = "cuda:{t}"\ndevice = "sim:{t}"\n' for t in targets)
        return self.write("small.toml", text.encode())

    def test_goes_on_where_it_was_and_reports_all(self):
        _, _, err = tw("campaign", self.plan(shapes="[[64, 64, 64]]"), check=0)
        self.assertEqual(len(re.findall(r"^Cell \d of 2: ", err, re.M)), 2)
        page, text, csv_file = self.path("page.html"), self.path("page.md"), self.path("page.csv")
        code, out, err = tw("campaign", self.plan(), "--json", "--html", page, "--markdown", text, "--csv", csv_file, check=0)
        self.assertEqual(len(re.findall(r"is done$", err, re.M)), 2, err)
        done = json.loads(out)
        self.assertEqual([(s["operator"], s["device"], s["times"]) for s in done["series"]], [("matmul_gpu", "k80", "simulated"), ("matmul_gpu", "a100", "simulated")])
        for s in done["series"]:
            self.assertEqual(s["trials"], 78)  # 40 of each shape, of which one is the default schedule
            names = [r["name"] for r in s["resources"]]
            self.assertEqual(names, ["K, M, N", "columns", "rows", "threads_x", "threads_y", "tile_k", "unroll_steps"])
            self.assertGreater(s["r_squared"], 0.5)
            self.assertLessEqual(sum(r["importance"] for r in s["resources"]) + sum(p["share"] for p in s["pairs"]), 1 + 1e-6)
            for r in s["resources"]:
                self.assertLessEqual(r["importance_low"], r["importance"])
                for curve in (r["partial"], r["slice"], r["best"]):
                    self.assertEqual(len(curve["flop_per_s"]), len(r["values"]))
                    for low, middle, high in zip(curve["low"], curve["flop_per_s"], curve["high"]):
                        self.assertTrue(low <= middle <= high)
            # The larger product keeps more of a GPU busy: by the best trial as by the mean.
            shape = s["resources"][0]
            self.assertGreater(shape["best"]["flop_per_s"][1], shape["best"]["flop_per_s"][0])
            self.assertGreater(shape["partial"]["flop_per_s"][1], shape["partial"]["flop_per_s"][0])
        with open(csv_file, newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual(len(rows), sum(len(r["values"]) for s in done["series"] for r in s["resources"]))
        first = done["series"][0]["resources"][0]
        self.assertEqual((rows[1]["resource"], rows[1]["value"]), (first["name"], first["values"][1]))
        for column, curve in (("mean", "partial"), ("slice", "slice"), ("best", "best")):
            self.assertAlmostEqual(float(rows[1][column]) / first[curve]["flop_per_s"][1], 1, places=6)
        with open(page) as f:
            html = f.read()
        self.assertIn("Campaign: small", html)
        self.assertEqual(html.count('class="title"'), 14)  # a chart for each resource of both
        self.assertTrue(re.search(r">1024</text>|>128</text>", html) and "FLOP/s</text>" in html)
        self.assertFalse(re.search(r"<(script|img|link)|(src|href)=|url\(", html))
        with open(text) as f:
            self.assertTrue(f.read().startswith("# Campaign: small"))
        # Two devices leave one to learn from: properties of the operator alone are tried.
        (study,) = done["studies"]
        self.assertEqual((study["operator"], study["times"], study["hardware_tried"], study["candidates"]), ("matmul_gpu", "simulated", False, 156))
        self.assertEqual([(w["kind"], w["group"]) for w in study["worths"]], [("operator", True)])
        for part in (study["knobs"], study["all"], study["left_out"][0]["all"]):
            self.assertTrue(0.5 < part["pairs"] <= 1 and 1 <= part["trials"] <= 40)
        for gain in ("pairs_alone", "pairs_beside", "trials_alone", "trials_beside"):
            w = study["worths"][0][gain]
            self.assertTrue(w["low"] <= w["mean"] <= w["high"])
        self.assertIn("what a cost model should be told", html)
        # A workspace answers alone, the same.
        self.assertEqual(tw_json("campaign", self.path("small.twdb")), done)

    def test_says_what_is_wrong(self):
        for head, why in (("points = -1", "Expected a whole number from 0 on for 'points', found -1"), ("pionts = 3", "Expected a campaign with name"), ("points = ", "Expected TOML, found an error in line 1")):
            self.assertIn(why, tw("campaign", self.plan(head=head), check=3)[2])
        self.assertIn("Expected at least one [[targets]]", tw("campaign", self.plan(targets=()), check=3)[2])
        self.assertIn("Expected a shape as a list of whole numbers", tw("campaign", self.plan(shapes='[["a"]]'), check=3)[2])
        wrong = self.write("wrong.toml", b'[[operators]]\noperator = "nothing"\n[[targets]]\n')
        self.assertIn("found 'nothing'", tw("campaign", wrong, check=3)[2])
        self.assertIn("nothing", tw("campaign", self.plan(targets=("nothing",)), check=3)[2])
        self.assertFalse(os.path.exists(self.path("wrong.twdb")))

    def test_what_fails_on_one_device_is_said_beside_the_others(self):
        # A product of single numbers has too few points to say anything of.
        plan = f'''points = 12\n[[operators]]\nfile = "matmul_gpu.te"\nshapes = [[64, 64, 64], [128, 128, 128]]\n[[operators]]\noperator = "matmul"\nshapes = [[1, 1, 1]]\n[[targets]]\ntarget = "cuda:t4"\ndevice = "sim:t4"\n'''
        shutil.copy(os.path.join(SHIPPED, "matmul_gpu.te"), self.path("matmul_gpu.te"))
        done = tw_json("campaign", self.write("two.toml", plan.encode()))
        self.assertEqual([s["operator"] for s in done["series"]], ["matmul_gpu"])
        self.assertTrue(any(re.match(r"matmul on t4: \d+ trials, \d+ of them failed. Expected at least", s) for s in done["sentences"]), done["sentences"])

    def test_those_that_come_along(self):
        for name, devices in (("matmul-cpu", 1), ("matmul-gpus", 4)):
            done = tw_json("campaign", os.path.join(SHIPPED, name + ".twz"))
            self.assertEqual((done["campaign"], len(done["series"])), (name, devices))
            if devices == 1:
                self.assertEqual(done["studies"], [])
                self.assertIn("found 1", done["unstudied"][0])
            else:
                (study,) = done["studies"]
                self.assertTrue(study["hardware_tried"])
                self.assertEqual([d["device"] for d in study["left_out"]], ["k80", "t4", "a100", "h200"])
                self.assertTrue({"hardware", "operator"} <= {w["kind"] for w in study["worths"]})
                self.assertTrue(all(w["surely"] in ("helps", "harms", "open") for w in study["worths"]))
                # What is said of them all is in the report that lies beside it.
                with open(os.path.join(SHIPPED, name + ".md")) as f:
                    report = f.read()
                for w in study["worths"]:
                    self.assertIn(f'| {w["told"]} | {w["kind"]} |', report)
            with open(os.path.join(SHIPPED, name + ".md")) as f:
                self.assertTrue(f.read().startswith(f"# Campaign: {name}"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
