#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw` and the logs of other programs: what it reads, applies and writes.

Usage: cli_logs_test.py TW [TEST...]
"""
import json
import os
import sys
import unittest

from cli_case import CliCase, tw, tw_json


class Logs(CliCase):
    def test_a_log_gives_the_same_kernels(self):
        """What `tw tune --log` wrote makes the same network as the database that it was written beside."""
        db, log, other = self.path("t.db"), self.path("log.json"), self.path("other.db")
        tw("tune", self.model, "--trials-per-task", "4", "--network-finals", "never", "--db", db, "--log", log, check=0)  # logs know nothing of networks
        done = tw_json("records", "import", log, "--db", other)
        # A point may come twice: with the time that it got in the finals.
        self.assertEqual((done["stored"], set(done["skipped_by_reason"]) - {"duplicate"}), (self.trials(db), set()))
        compiled = {}
        for name, source in (("a", db), ("b", other)):
            os.mkdir(self.path(name))
            compiled[name] = tw_json("compile", self.model, "--db", source, "-o", self.path(f"{name}/net.twx"), "--emit", "object,steps")
        fields = ("name", "symbol", "task", "space", "origin")
        kernels = {name: [[k[f] for f in fields] for k in c["kernels"]] for name, c in compiled.items()}
        self.assertEqual(kernels["a"], kernels["b"])
        self.assertTrue(any(k["record"] for k in compiled["a"]["kernels"]))
        for k in compiled["b"]["kernels"]:
            self.assertRegex(k["record"] or "session 1 (import), trial 1", r"^session \d+ \(import\), trial \d+$")
        for path in compiled["a"]["emitted"]:
            self.assertEqual(self.read(path), self.read(path.replace("/a/", "/b/")), path)

    def test_import_counts_bad_lines_by_reason(self):
        db, log = self.path("t.db"), self.path("log.json")
        tw("tune", self.model, "--task", "dense", "--trials-per-task", "2", "--finalists", "0", "--db", db, "--log", log, check=0)
        good = self.read(log).decode().splitlines()
        foreign = {"input": ["llvm -keys=cpu", "conv3d_ncdhw.x86", [["TENSOR", [1, 7], "float32"], ["TENSOR", [9, 7], "float32"], None, "float32"], {}],
                   "config": {"index": 0, "code_hash": None, "entity": []}, "result": [[0.1], 0, 1.0, 1.0], "version": 0.2, "tvm_version": "0.9.0"}
        args = json.loads(good[0])["input"][2]
        here = {**foreign, "input": ["llvm", "dense_nopack.x86", args, {}]}
        lines = ["# a comment", *good, good[0], "nonsense", json.dumps({**foreign, "version": 0.1}), json.dumps({**foreign, "input": 3}),
                 "llvm\tgASV\tgASV\tgASV\t0.2\t0.9.0", json.dumps(foreign), json.dumps({**here, "config": {"entity": [["tile_y", "sp", [-1, 1]]]}}),
                 json.dumps({"i": [["[]", "llvm"], [[], []]], "r": [[1], 0, 1, 1], "v": "v0.6"}), json.dumps(foreign)[:60]]
        done = tw_json("records", "import", self.write("all.json", "\n".join(lines).encode()), "--db", self.path("other.db"))
        reasons = done["skipped_by_reason"]
        self.assertEqual(done["stored"], len(good) + 1)  # the foreign line names no computation, but its time is kept
        self.assertEqual(done["foreign_tasks"], 1)
        self.assertEqual(done["comments"], 1)
        self.assertEqual(done["skipped"], sum(reasons.values()))
        for reason in ("duplicate", "not_json", "protocol", "malformed", "pickled", "other_format", "cut_off"):
            self.assertEqual(reasons.pop(reason), 1, reason)
        self.assertEqual(sum(reasons.values()), 1, reasons)  # the point that is in no space

    def test_logs_of_ansor_are_read(self):
        line = {"i": [["[\"f4380bb1dc62422a69ad4a1a9771f927\", 1, 28, 28, 512]", "llvm -keys=cpu", [8, 64, 64, 0, 0, 0, 0, 0], "", 2], [[], [["SP", 3, 0, 1, [1, 1, 1], 1]]]],
                "r": [[2e-4, 3e-4], 0, 0.2, 1606961782], "v": "v0.6"}
        slower = {**line, "i": [line["i"][0], [[], [["SP", 3, 0, 1, [2, 1, 1], 1]]]], "r": [[4e-4], 0, 0.2, 1606961783]}
        failed = {**line, "i": [line["i"][0], [[], [["SP", 3, 0, 1, [4, 1, 1], 1]]]], "r": [[1e10], 6, 0.2, 1606961784]}
        db, log = self.path("t.db"), self.write("ansor.json", "\n".join(json.dumps(x) for x in (line, slower, failed, line)).encode() + b"\nnonsense\n")
        done = tw_json("records", "import", log, "--db", db)
        self.assertEqual((done["format"], done["stored"], done["stored_failures"], done["foreign_tasks"]), ("ansor", 3, 1, 1))
        self.assertEqual(done["skipped_by_reason"], {"duplicate": 1, "not_json": 1})
        best = tw_json("records", "best", "--db", db)["best"]
        self.assertEqual([(b["task"].split()[0], b["best_s"]) for b in best], [("ansor", 2e-4)])
        self.assertIn("skipped", tw("records", "export", "--db", db, check=0)[2])

    def test_folders_of_logs_as_tenset_keeps_them(self):
        """One file for each task, named by its key; what they claim can be learned from."""
        published = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "engine", "records", "ansor", "resnet-50-NHWC-B1-llvm.json")
        records = [json.loads(line) for line in self.read(published).decode().splitlines() if line.startswith("{")][:4]
        folder, db = self.path("measure_records"), self.path("t.db")
        os.makedirs(os.path.join(folder, "e5-2673"))
        for r in records:
            r["i"][0][1] = "llvm -keys=cpu -link-params=0 -mcpu=core-avx2 -model=e5-2673"
            name = "([" + ",".join(str(x) for x in json.loads(r["i"][0][0])) + "],llvm).json"
            failed = {**r, "i": [r["i"][0], [[], r["i"][1][1][:1]]], "r": [[1e10], 4, 5.0, 1606961784]}
            self.write(os.path.join(folder, "e5-2673", name), (json.dumps(r) + "\n" + json.dumps(failed) + "\n").encode())
        self.write(os.path.join(folder, "broken.json"), b"nonsense\n")
        self.write(os.path.join(folder, "README.md"), b"not a log\n")
        os.symlink("nowhere", os.path.join(folder, "gone.json"))
        done = tw_json("records", "import", folder, "--db", db)
        self.assertEqual((done["files"], done["tasks"], done["foreign_tasks"], done["stored"], done["stored_failures"]), (5, 4, 0, 8, 4))
        self.assertEqual(done["skipped_by_reason"], {"not_json": 1})
        self.assertEqual(tw_json("records", "import", folder, published, "--db", db)["already_there"], 12)  # four stand in the published file, too
        data = self.path("tenset.twds")
        tw("dataset", "featurise", db, "--target", "llvm", "--times", "claimed", "-o", data, check=0)
        self.assertEqual(len(tw_json("dataset", "info", data)["tasks"]), 25)  # one published trial is a failure
        os.mkdir(self.path("empty"))
        self.assert_sentence(3, "records", "import", self.path("empty"), "--db", db, has="'.json'")

    def test_images_with_channels_last(self):
        twx, db = self.path("last.twx"), self.path("t.db")
        kernels = tw_json("compile", self.model, "--layout", "nhwc", "-o", twx)["kernels"]
        self.assertEqual(sum("conv2d_nhwc" in k["name"] for k in kernels), 2)
        self.assertTrue(tw_json("run", twx, "--random-input", "--check", "--repeat", "1")["check"]["passed"])
        keys = lambda *options: {t["key"] for t in tw_json("tasks", self.model, *options)["tasks"]}
        self.assertEqual(keys("--layout", "nchw"), keys())
        self.assertNotEqual(keys("--layout", "nhwc"), keys())
        tw("tune", self.model, "--layout", "nhwc", "--task", "conv2d_nhwc", "--tuner", "ansor", "--tuner-param", "population=32", "--trials-per-task", "4", "--finalists", "0", "--db", db, check=0)
        lines = [json.loads(line) for line in tw("records", "export", "--db", db, "--format", "ansor", check=0)[1].splitlines()]
        self.assertTrue(any(line["i"][0][4] == 2 for line in lines))  # constants that were laid out are TVM's layout rewrite
        self.assertTrue(all(len(json.loads(line["i"][0][0])[0]) == 32 for line in lines))
        applied = tw_json("compile", self.model, "--layout", "nhwc", "--log", self.write("ansor.json", "\n".join(map(json.dumps, lines)).encode()), "-o", twx)
        self.assertTrue(any(k["claimed"] and "ansor.json, line" in k["record"] for k in applied["kernels"]))
        self.assertTrue(tw_json("run", twx, "--random-input", "--check", "--repeat", "1")["check"]["passed"])
        self.assert_sentence(2, "import", self.model, "--layout", "chwn", has="nhwc")

    def autotvm_line(self, name, args, entity, cost):
        return json.dumps({"input": ["llvm -keys=cpu -link-params=0", name, args, {}], "config": {"index": 0, "code_hash": None, "entity": entity},
                           "result": [[cost], 0, 0.5, 1.6e9], "version": 0.2, "tvm_version": "0.9.0"})

    def test_logs_of_autotvm_are_applied(self):
        conv = ["conv2d_NCHWc.x86", [["TENSOR", [1, 1, 16, 16], "float32"], ["TENSOR", [8, 1, 5, 5], "float32"], [1, 1], [2, 2, 2, 2], [1, 1], "NCHW", "NCHW", "float32"]]
        entity = [["tile_ic", "sp", [-1, 1]], ["tile_oc", "sp", [-1, 4]], ["tile_ow", "sp", [-1, 8]], ["unroll_kw", "ot", True]]
        worse = [["tile_ic", "sp", [1, 1]], ["tile_oc", "sp", [8, 1]], ["tile_ow", "sp", [-1, 2]], ["unroll_kw", "ot", 0]]
        log = self.write("theirs.log", "\n".join(["# TopHub", self.autotvm_line(*conv, worse, 2e-3), self.autotvm_line(*conv, entity, 1e-3)]).encode())
        task = next(t for t in tw_json("tasks", self.model)["tasks"] if t["space"] == "conv2d_nchwc.cpu")
        self.assertEqual([s["space"] for s in task["other_spaces"]], ["conv2d_NCHWc.x86"])

        applied = tw_json("compile", self.model, "--log", log, "-o", self.path("m.twx"))
        found = [k for k in applied["kernels"] if k["space"] == "conv2d_NCHWc.x86"]
        self.assertEqual([k["record"] for k in found], [f"{log}, line 3"])
        self.assertTrue(tw_json("run", self.path("m.twx"), "--random-input", "--check", "--repeat", "1")["check"]["passed"])
        nearest = tw_json("compile", self.model, "--log", log, "--nearest", "-o", self.path("m.twx"))
        self.assertEqual(sum(k["space"] == "conv2d_NCHWc.x86" for k in nearest["kernels"]), 2)
        self.assertTrue(tw_json("run", self.path("m.twx"), "--random-input", "--check", "--repeat", "1")["check"]["passed"])

        db = self.path("t.db")
        done = tw_json("records", "import", log, "--db", db, "--model", self.model)
        self.assertEqual((done["stored"], done["skipped"], done["comments"]), (2, 0, 1))
        imported = tw_json("compile", self.model, "--db", db, "-o", self.path("m.twx"))
        self.assertEqual([k["origin"] for k in imported["kernels"] if k["record"]], [k["origin"] for k in found])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
