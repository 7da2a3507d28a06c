#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw` as a program: exit codes, one sentence for each bad input, JSON, killing and going on, cancelling.

Usage: cli_test.py TW [TEST...]
"""
import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

from cli_case import CliCase, TW, tw, tw_json


class Usage(CliCase):
    def test_help_and_version(self):
        for arguments in (["--help"], ["--version"], ["tune", "--help"], ["records", "import", "--help"]):
            self.assertTrue(tw(*arguments, check=0)[1])

    def test_hidden_commands_stay_hidden(self):
        self.assertNotIn("worker", tw("--help", check=0)[1])

    def test_wrong_usage(self):
        self.assert_sentence(2)
        self.assert_sentence(2, "frobnicate")
        self.assert_sentence(2, "zoo", "write", "no_such_network", has="resnet18")
        self.assert_sentence(2, "tune", self.model, "--tuner", "no_such_tuner", has="random")
        self.assert_sentence(2, "tune", self.model, "--tuner-param", "bogus=1", has="bogus")
        self.assert_sentence(2, "tune", self.model, "--time", "soon", has="soon")
        self.assert_sentence(2, "tune", self.model, "--trials", "many")
        self.assert_sentence(2, "tune", self.model, "--task", "no_such_task", "--trials", "1", "--db", self.path("t.db"), has="no_such_task")
        self.assert_sentence(2, "import", self.model, "--dim", "N", has="--dim")
        self.assert_sentence(2, "import", self.model, "--target", "pdp11", has="pdp11")
        self.assert_sentence(2, "compile", self.model, "-o", self.path("m.twx"), "--disable-pass", "no_such_pass", has="no_such_pass")
        self.assert_sentence(2, "compile", self.model, "-o", self.path("m.twx"), "--enable-pass", "canonicalize", has="combine_parallel_conv2d")
        self.assert_sentence(2, "compile", self.model, "-o", self.path("m.twx"), "--emit", "poetry", has="poetry")

    def test_json_documents(self):
        self.assertTrue(tw_json("doctor")["checks"])
        self.assertIn("resnet18", [m["name"] for m in tw_json("zoo", "list")["models"]])
        summary = tw_json("import", self.model)
        self.assertGreater(summary["flops"], 0)
        self.assertGreater(summary["parameters"], 0)
        tasks = tw_json("tasks", self.model)["tasks"]
        self.assertTrue(tasks)
        self.assertAlmostEqual(sum(t["flops_share"] for t in tasks), 1, places=3)

    def test_programs_of_pytorch(self):
        programs = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "engine/frontends/torch/programs")
        model = os.path.join(programs, "convolutions/model.pt2")
        summary = tw_json("import", model, "--dim", "x.0=3")
        self.assertEqual(summary["inputs"][0]["shape"], [3, 3, 16, 16])
        self.assertEqual([(s["places"], s["least"], s["most"], s["value"]) for s in summary["sizes"]], [(["x.0"], 1, 16, 3)])
        self.assertIn("simplify_inference", [p["name"] for p in summary["passes"]])
        reading = {r["name"]: r for r in summary["reading"]}
        self.assertEqual((reading["aten.conv2d"]["uses"], reading["aten.conv2d"]["operators"]), (3, 3))
        self.assertGreater(reading["aten.upsample_bilinear2d"]["expanded"], 0)
        text = tw("import", model, check=0)[1]
        self.assertIn("from 1 to 16", text)
        self.assertRegex(text, r"operator of the file +uses +computed +left out +expanded +operators")
        self.assert_sentence(3, "import", model, "--dim", "x.0=17", has="from 1 to 16")
        # The whole way: opened, tuned, compiled from what was found, run and held to the reference.
        twx, db = self.path("p.twx"), self.path("p.db")
        report = tw_json("tune", model, "--trials-per-task", "2", "--db", db, "--network-finals", "never")
        self.assertTrue(report["tasks"] and all(t["trials"] >= 1 for t in report["tasks"]))
        tw("compile", model, "--db", db, "-o", twx, check=0)
        self.assertTrue(tw_json("run", twx, "--random-input", "--check")["check"]["passed"])
        checked = tw_json("check", programs, "--jobs", "1")
        self.assertEqual(checked["totals"], {"passed": 4, "wrong": 0, "unsupported": 0, "crashed": 0})
        self.assertLess(max(c["max_rel_error"] for c in checked["cases"]), 1e-5)
        self.assertEqual(tw("check", os.path.join(programs, "transformer"), "--rtol", "0", "--atol", "1e-30")[0], 1)

    def test_zoo_is_reproducible(self):
        for seed in ("1", "1", "2"):
            tw("zoo", "write", "mlp", "--tiny", "--seed", seed, "-o", self.path(f"m{len(os.listdir(self.folder))}"), check=0)
        a, b, c = (self.read(self.path(f"m{i}")) for i in range(3))
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)


class BadInput(CliCase):
    def test_models(self):
        good = self.read(self.model)
        self.assert_sentence(3, "import", self.path("missing.onnx"), has="missing.onnx")
        self.assert_sentence(3, "import", self.folder)
        self.assert_sentence(3, "import", self.write("empty.onnx", b""))
        self.assert_sentence(3, "import", self.write("text.onnx", b"this is no network\n" * 100))
        self.assert_sentence(3, "import", self.write("cut.onnx", good[: len(good) // 2]))
        self.assert_sentence(3, "tasks", self.write("cut.onnx", good[:-1]))
        self.assert_sentence(3, "compile", self.path("missing.onnx"), "-o", self.path("m.twx"))
        self.assertFalse(os.path.exists(self.path("m.twx")))

    def test_pipes_that_nobody_writes_into(self):
        """What waited for ever would run into the time limit of the case."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        tw("compile", self.model, "-o", self.path("pipe.twx"), check=0)
        self.assert_sentence(3, "import", pipe, has="found something else")
        self.assert_sentence(3, "records", "import", pipe, "--db", self.path("pipe.db"), has="found nobody")
        self.assert_sentence(3, "run", pipe, "--random-input", has="found nobody")
        name = tw_json("import", self.model)["inputs"][0]["name"]
        for kind in ("npy", "pb"):
            os.mkfifo(f"{pipe}.{kind}")
            self.assert_sentence(1, "run", self.path("pipe.twx"), "--input", f"{name}={pipe}.{kind}", has="found nobody")

    def test_models_have_limits(self):
        large = self.path("resnet18.onnx")
        tw("zoo", "write", "resnet18", "-o", large, check=0)
        self.assert_sentence(3, "import", large, "--import-memory", "0.02", has="--import-memory")
        self.assert_sentence(2, "import", self.model, "--import-seconds", "0")
        tw("import", self.model, "--import-memory", "1", "--import-seconds", "600", check=0)

    def test_databases(self):
        self.assert_sentence(3, "compile", self.model, "--db", self.path("missing.db"), "-o", self.path("m.twx"), has="missing.db")
        text = self.write("text.db", b"not a database " * 1000)
        self.assert_sentence(3, "tune", self.model, "--trials", "1", "--db", text, has="text.db")
        self.assertEqual(self.read(text), b"not a database " * 1000)
        foreign = self.path("foreign.db")
        with sqlite3.connect(foreign) as db:
            db.execute("create table t(x)")
        self.assert_sentence(3, "tune", self.model, "--trials", "1", "--db", foreign)
        newer = self.path("newer.db")
        tw("tune", self.model, "--trials", "2", "--db", newer, check=0)
        with sqlite3.connect(newer) as db:
            db.execute("pragma user_version = 9999")
        self.assert_sentence(3, "tune", self.model, "--trials", "1", "--db", newer, has="9999")

    def test_read_only_database(self):
        folder = self.path("locked")
        os.mkdir(folder, 0o555)
        if os.access(folder, os.W_OK):
            self.skipTest("this user may write everywhere")
        self.assert_sentence(1, "tune", self.model, "--trials", "1", "--db", os.path.join(folder, "t.db"))

    def test_database_in_missing_folder(self):
        self.assert_sentence(1, "tune", self.model, "--trials", "1", "--db", self.path("no/such/folder/t.db"), has="no/such/folder")

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        code, out, err = tw("tune", self.model, "--trials", "4", "--db", self.path("t.db"), "--log", "/dev/full")
        self.assertEqual((code, self.trials(self.path("t.db"))), (1, 4), err)  # the session goes on to its end
        self.assertIn("records export --db", err)
        self.assertIn("Sum over the network", out)

    def test_executables(self):
        twx = self.path("m.twx")
        tw("compile", self.model, "-o", twx, check=0)
        good = self.read(twx)
        self.assert_sentence(3, "run", self.path("missing.twx"), "--random-input", has="missing.twx")
        self.assert_sentence(3, "run", self.write("cut.twx", good[: len(good) // 2]), "--random-input")
        self.assert_sentence(3, "run", self.model, "--random-input")
        middle = len(good) // 2
        self.assert_sentence(3, "run", self.write("flipped.twx", good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1:]), "--random-input")
        self.assert_sentence(2, "run", twx, has="--random-input")
        self.assert_sentence(2, "run", twx, "--input", "no_such_input=x.npy")
        name = tw_json("import", self.model)["inputs"][0]["name"]
        self.assert_sentence(3, "run", twx, "--input", f"{name}={self.path('missing.npy')}")
        self.assert_sentence(2, "run", twx, "--input", f"{name}=x.txt")

    def test_seeds(self):
        for command in (["run", self.path("m.twx"), "--random-input"], ["finals", self.model], ["tune", self.model]):
            for seed in ("18446744073709551616", "-1", "1e3", "0x10"):
                self.assert_sentence(2, *command, "--seed", seed, has=seed)

    def test_messages_show_no_hidden_characters(self):
        code, out, err = tw("import", self.path("net\u202exnno\u009b31m\x1b[2J"))
        self.assertEqual(code, 3)
        for hidden in "\u202e\u009b\x1b":
            self.assertNotIn(hidden, err)
        self.assertIn("\\u{202e}xnno", err)

    def test_many_lines_of_no_use_are_not_all_listed(self):
        log = self.write("bad.log", b"not json\n" * 500)
        code, out, err = tw("records", "import", log, "--db", self.path("t.db"))
        self.assertEqual((code, len(err.splitlines())), (3, 21), err)
        self.assertIn("480 further lines", err)

    def test_logs(self):
        db = self.path("t.db")
        log = self.write("bad.json", b"{\n{}\nnot json\n[1, 2]\n")
        code, _, err = tw("records", "import", "--db", db, log)
        self.assertEqual(code, 3, err)
        self.assertGreaterEqual(err.count("skipped: "), 3, err)
        self.assert_sentence(3, "records", "import", "--db", db, self.path("missing.json"), has="missing.json")
        self.assert_sentence(3, "records", "export", "--db", self.path("missing.db"), has="missing.db")

    def test_cases(self):
        self.assert_sentence(3, "check", self.path("missing"), has="missing")
        self.assert_sentence(3, "check", self.folder)
        os.mkdir(self.path("case"))
        self.write("case/model.onnx", b"no network")
        totals = tw_json("check", self.folder)["totals"]
        self.assertEqual(totals, {"passed": 0, "wrong": 0, "unsupported": 1, "crashed": 0})


class MainJob(CliCase):
    def test_tune_compile_run(self):
        db, twx, log = self.path("t.db"), self.path("m.twx"), self.path("log.json")
        report = tw_json("tune", self.model, "--trials-per-task", "3", "--db", db, "--log", log)
        self.assertEqual(sum(t["trials"] for t in report["tasks"]), report["trials"])
        self.assertEqual(self.trials(db), report["trials"])
        self.assertGreaterEqual(len(self.read(log).splitlines()), report["trials"])  # winners of finals come twice
        best = tw_json("records", "best", "--db", db)["best"]
        self.assertTrue(best)
        compiled = tw_json("compile", self.model, "--db", db, "-o", twx)
        self.assertTrue(any(k["origin"] != "default" for k in compiled["kernels"]), compiled["kernels"])
        ran = tw_json("run", twx, "--random-input", "--check", "--profile", "--repeat", "3", "--output", self.path("out"))
        several = len(os.sched_getaffinity(0)) > 1
        self.assertTrue(all((s > 0) == several for s in ran["core_latency_s"]), ran["core_latency_s"])
        self.assertTrue(ran["check"]["passed"])
        self.assertLess(ran["check"]["max_rel_error"], ran["outputs"][0]["tolerance"])
        self.assertLess(ran["outputs"][0]["tolerance"], 1e-3)
        self.assertIn("above 0 relative", tw("run", twx, "--random-input", "--check", "--tolerance", "0", check=1)[1])
        self.assertEqual(len(ran["profile"]), len(compiled["kernels"]))
        self.assertEqual(len([n for n in os.listdir(self.path("out")) if n.endswith(".npy")]), len(ran["outputs"]))

        # Out as AutoTVM's lines, into another database, and the same best again.
        lines = tw("records", "export", "--db", db, check=0)[1]
        self.assertEqual(len(lines.splitlines()), report["trials"])
        other = self.path("other.db")
        done = tw_json("records", "import", "--db", other, "--model", self.model, self.write("all.json", lines.encode()))
        self.assertEqual((done["stored"], done["skipped"], done["skipped_by_reason"]), (report["trials"], 0, {}))
        self.assertEqual([b["best_s"] for b in tw_json("records", "best", "--db", other)["best"]], [b["best_s"] for b in best])

    def test_more_threads_than_processors(self):
        """Code for a larger machine runs on the processors that there are, and says so."""
        twx = self.path("many.twx")
        cores = len(os.sched_getaffinity(0)) + 3
        tw("compile", self.model, "--target", f"llvm -num-cores={cores}", "-o", twx, check=0)
        said = tw("run", twx, "--random-input", "--check", "--repeat", "2", check=0)
        self.assertIn(f"the code is for {cores} threads", said[2])
        tw("compile", self.model, "-o", twx, check=0)
        self.assertNotIn("the code is for", tw("run", twx, "--random-input", check=0)[2])

    def kernels_of(self, db):
        return {k["task"]: k for k in tw_json("compile", self.model, "--db", db, "-o", self.path("m.twx"))["kernels"]}

    def test_what_does_not_hold_in_the_network_is_not_compiled(self):
        db = self.path("t.db")
        report = tw_json("tune", self.model, "--trials-per-task", "6", "--db", db)["network"]
        self.assertTrue(report["measured"])
        self.assertGreater(report["default_s"], 0)
        self.assertEqual(report["taken"], sum(k["standing"] == "taken" for k in report["kernels"]))
        self.assertEqual(report["tried"], sum(k["tried"] for k in report["kernels"]))
        if report["taken"] > 0:
            self.assertLessEqual(report["network"]["low"], 1)
        else:
            self.assertEqual(report["tuned_s"], report["default_s"])
        kernels = self.kernels_of(db)
        for k in report["kernels"]:
            if k["tried"]:
                self.assertEqual(k["standing"] != "taken", "not in this network" in kernels[k["task"]]["origin"], k)
        # Asked for by itself, and whatever it says: what the last one says counts.
        again = tw_json("finals", self.model, "--db", db, "--time", "1s")
        self.assertEqual([k["task"] for k in again["kernels"]], [k["task"] for k in report["kernels"]])
        with sqlite3.connect(db) as c:
            self.assertEqual(c.execute("select count(session_id), count(*) from network_final").fetchone(), (1, 2))
            self.assertEqual({w for (w,) in c.execute("select distinct weights from trial")}, {"warm"})
            last = c.execute("select max(id) from network_final").fetchone()
            for taken in (0, 1):
                c.execute("update network_verdict set taken = ? where final_id = ?", (taken, *last))
                c.commit()
                kernels = self.kernels_of(db)
                for k in again["kernels"]:
                    if k["tried"]:
                        self.assertEqual("not in this network" in kernels[k["task"]]["origin"], taken == 0, kernels[k["task"]])
        stored = tw_json("finals", self.model, "--db", db, "--stored")["finals"]
        self.assertEqual([(f["default_s"], f["tried"]) for f in stored], [(f["default_s"], f["tried"]) for f in (report, again)])
        self.assertEqual(len(tw("finals", self.model, "--db", db, "--stored", check=0)[1].splitlines()), 3)
        for words in ("Sum of the kernels alone", "in its place"):
            self.assertIn(words, tw("finals", self.model, "--db", db, "--time", "1s", check=0)[1])

    def test_networks_are_tried_only_where_it_says_something(self):
        db = self.path("t.db")
        self.assertIsNone(tw_json("tune", self.model, "--task", "dense", "--trials", "2", "--db", db)["network"])
        self.assertIsNone(tw_json("tune", self.model, "--trials", "2", "--db", db, "--network-finals", "never")["network"])
        self.assertTrue(tw_json("tune", self.model, "--task", "dense", "--trials", "2", "--db", db, "--network-finals", "always")["network"]["measured"])
        simulated = tw_json("tune", self.model, "--target", "cuda:a100", "--device", "sim:a100", "--trials-per-task", "2", "--db", db)["network"]
        self.assertFalse(simulated["measured"])
        self.assertEqual(simulated["launches"], 0)
        self.assert_sentence(2, "tune", self.model, "--trials", "2", "--db", db, "--network-finals", "sometimes", has="never")
        self.assert_sentence(3, "finals", self.model, "--db", self.path("none.db"), has="none.db")
        self.assert_sentence(2, "finals", self.model, "--db", db, "--time", "soon", has="soon")
        with open(db + ".lock", "r+") as lock:  # another program writes
            fcntl.flock(lock, fcntl.LOCK_EX)
            with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as c:
                before = c.execute("select count(*) from network_final").fetchone()
                code, out, err = tw("finals", self.model, "--db", db, "--time", "1s", check=0)
                self.assertIn("not stored", err)
                self.assertIn("Sum of the kernels alone", out)
                self.assertEqual(c.execute("select count(*) from network_final").fetchone(), before)

    def test_demo_says_what_it_gained(self):
        report = tw_json("demo", "--model", "lenet5", "--tiny", "--trials-per-task", "4")
        self.assertTrue(report["passed"])
        self.assertLessEqual(report["speedup_low"], report["speedup"])
        self.assertLessEqual(report["speedup"], report["speedup_high"])
        self.assertGreaterEqual(report["speedup_high"], 1)
        text = tw("demo", "--model", "lenet5", "--tiny", "--trials-per-task", "2", check=0)[1]
        self.assertRegex(text, r"tuned / default  (1\.00x: the rules|\d+\.\d\dx \()")

    def test_models_are_judged_by_records(self):
        db, model = self.path("t.db"), self.path("learned.model")
        tw("tune", self.model, "--task", "conv2d", "--trials-per-task", "24", "--finalists", "0", "--target", "cuda:a100", "--device", "sim:a100", "--db", db, check=0)
        judged = tw_json("models", "--db", db, "--feature", "itervar", "--feature", "ansor", "--test", "0.5")
        self.assertEqual(judged["target"].split()[0].split(":")[0], "cuda")
        self.assertEqual([m["model"].split("/")[1].rsplit("-", 1)[0] for m in judged["models"]], ["itervar", "ansor"])
        for m in judged["models"]:
            self.assertGreater(m["tested"], 8)
            self.assertGreater(m["pairs_in_order"], 0.5)  # better than chance on a machine whose times are a formula
            self.assertLessEqual(m["best_of_1"], m["best_of_8"])
        speeds = tw_json("models", "--db", db, "--feature", "itervar", "--model-param", "loss=reg")["models"][0]
        self.assertLess(speeds["rmse"], 1)
        self.assertIsNone(judged["models"][0]["rmse"])  # it learned orders
        self.assert_sentence(2, "models", "--db", db, "--model-param", "loss=hope", has="reg")
        self.assertIn("best of 8", tw("models", "--db", db, "--feature", "itervar", "--save", model, check=0)[1])
        self.assertGreater(os.path.getsize(model), 0)
        self.assert_sentence(2, "models", "--db", db, "--feature", "dreams", has="itervar")
        self.assert_sentence(2, "models", "--db", db, "--model", "oracle", has="boosted-trees")
        self.assert_sentence(2, "models", "--db", db, "--save", model, has="--feature")
        self.assert_sentence(3, "models", "--db", db, "--target", "cuda:v100", has="cuda:v100")
        self.assert_sentence(3, "models", "--db", self.path("none.db"), has="none.db")

    def test_what_was_said_before_measuring_stands_beside_times(self):
        db = self.path("s.db")
        for seed in ("1", "2"):
            tw("tune", self.model, "--target", "cuda:a100", "--device", "sim:a100", "--tuner", "ansor", "--tuner-param", "draft=true", "--tuner-param", "population=64", "--tuner-param",
               "draft_size=16", "--tuner-param", "first_fit=8", "--trials", "40", "--batch", "8", "--seed", seed, "--finalists", "0", "--network-finals", "never", "--db", db, check=0)
        scores = tw_json("records", "scores", "--db", db)["trials"]
        self.assertEqual({s["session"] for s in scores}, {2})
        self.assertTrue(all(s["draft"] is not None or s["verified"] is not None for s in scores))
        drafted, judged = [s for s in scores if s["draft"] is not None], [s for s in scores if s["verified"] is not None]
        self.assertTrue(drafted and judged and all(s["model"] for s in judged), scores)
        for s in scores:
            self.assertEqual((s["status"] == "ok", s["round"] > 0), (s["seconds"] is not None, True), s)
        older = tw_json("records", "scores", "--db", db, "--session", "1", "--task", scores[0]["key"])["trials"]
        self.assertEqual({(s["session"], s["key"]) for s in older}, {(1, scores[0]["key"])})
        self.assertIn("verified", tw("records", "scores", "--db", db, check=0)[1].splitlines()[0])
        self.assert_sentence(3, "records", "scores", "--db", db, "--session", "9", has="session 9")

    def test_recorded_trials_are_replayed(self):
        db, other = self.path("t.db"), self.path("replay.db")
        report = tw_json("tune", self.model, "--trials-per-task", "4", "--finalists", "0", "--db", db)
        self.assertFalse(report["replayed"])
        again = tw_json("tune", self.model, "--trials-per-task", "9", "--finalists", "0", "--tuner", "genetic", "--device", f"recorded:{db}", "--db", other)
        self.assertTrue(again["replayed"])
        self.assertFalse(again["simulated"])
        self.assertEqual(again["trials"], report["trials"])  # every recorded trial once, and nothing else
        self.assertEqual([(t["best_s"], t["default_s"]) for t in again["tasks"]], [(t["best_s"], t["default_s"]) for t in report["tasks"]])
        self.assertIn("not measured", tw("tune", self.model, "--trials", "2", "--device", f"recorded:{db}", "--db", other, check=0)[1])
        self.assertEqual(tw("records", "export", "--db", other, check=0)[1], "")  # the trials are in the other workspace once already
        self.assert_sentence(3, "tune", self.model, "--trials", "1", "--device", "recorded:" + self.path("none.db"), "--db", other, has="none.db")
        empty = self.path("empty.db")
        tw("tune", self.model, "--task", "dense", "--trials", "1", "--db", empty, check=0)
        with sqlite3.connect(empty) as c:
            c.execute("delete from sample")
            c.execute("delete from trial")
        self.assert_sentence(3, "tune", self.model, "--trials", "1", "--device", "recorded:" + empty, "--db", other, has="empty.db")

    def test_plain_kernels_know_no_templates(self):
        spaces = lambda *options: {k["space"] for k in tw_json("compile", self.model, *options, "-o", self.path("m.twx"))["kernels"]}
        self.assertIn("conv2d_nchwc.cpu", spaces())
        self.assertEqual(spaces("--plain"), {"rule"})
        self.assertTrue(tw_json("run", self.path("m.twx"), "--random-input", "--check", "--repeat", "1")["check"]["passed"])

    def test_spaces_of_autotvm_are_searched(self):
        db, log = self.path("t.db"), self.path("log.json")
        self.assert_sentence(2, "tune", self.model, "--space", "no_such_space", "--trials", "1", "--db", db, has="no_such_space")
        tw("tune", self.model, "--space", "dense_nopack.x86", "--trials-per-task", "4", "--finalists", "0", "--db", db, "--log", log, check=0)
        lines = [json.loads(line) for line in self.read(log).decode().splitlines()]
        self.assertEqual({line["input"][1] for line in lines}, {"dense_nopack.x86", "tilewright.default"})
        for line in lines:
            if line["input"][1] == "dense_nopack.x86":
                self.assertEqual([k[0] for k in line["config"]["entity"]], ["tile_y", "tile_x", "tile_k"])
                self.assertEqual((line["result"][1], line["tilewright"]["result"]["status"]), (0, "ok"))

        best = [json.loads(line) for line in tw("records", "pick", log, check=0)[1].splitlines()]
        self.assertEqual(len(best), len({line["tilewright"]["task"] for line in lines}))
        for b in best:
            same = [line for line in lines if line["tilewright"]["task"] == b["tilewright"]["task"]]
            self.assertEqual(min(min(line["result"][0]) for line in same), min(b["result"][0]))
        files = tw_json("records", "split", log)["files"]
        self.assertEqual(len(files), len(best))
        self.assertEqual(sum(f["records"] for f in files), len(lines))
        self.assertEqual(sorted(line for f in files for line in self.read(f["file"]).splitlines() if not line.startswith(b"#")), sorted(self.read(log).splitlines()))
        self.assert_sentence(3, "records", "pick", self.path("missing.json"), has="missing.json")

    def test_same_seed_gives_the_same_inputs(self):
        twx = self.path("m.twx")
        tw("compile", self.model, "-o", twx, check=0)
        for name in ("a", "b"):
            tw("run", twx, "--random-input", "--repeat", "1", "--output", self.path(name), check=0)
        for f in os.listdir(self.path("a")):
            self.assertEqual(self.read(self.path(f"a/{f}")), self.read(self.path(f"b/{f}")))

    def test_listings_and_passes(self):
        done = tw_json("compile", self.model, "-o", self.path("net.twx"), "--emit", "steps,loops,tir,llvm-ir,asm,graph-json,object,c-header",
                       "--dump-passes", self.path("passes"))
        emitted = {os.path.basename(path) for path in done["emitted"]}
        self.assertLessEqual({"graph.json", "net.o", "net_data.o", "net.h", "tilewright_runtime.c"}, emitted)
        for kernel in done["kernels"]:
            self.assertTrue(kernel["symbol"].startswith("net_k"))
            for form in ("steps", "loops", "tir", "llvm-ir", "asm"):
                self.assertIn(f"{kernel['symbol']}.{form}", emitted)
        for path in done["emitted"]:
            self.assertGreater(os.path.getsize(path), 0, path)
        with open(self.path("net.twx.d/graph.json"), encoding="utf-8") as f:
            self.assertEqual(sum(node["op"] == "tvm_op" for node in json.load(f)["nodes"]), len(done["kernels"]))
        with open(self.path("passes/index.json"), encoding="utf-8") as f:
            index = json.load(f)
        self.assertEqual(index["graph"][0]["pass"], "imported")
        self.assertEqual({k["symbol"] for k in index["kernels"]}, {k["symbol"] for k in done["kernels"]})
        for passes in [index["graph"]] + [k["passes"] for k in index["kernels"]]:
            self.assertTrue(any(p["changed"] for p in passes[1:]) and not all(p["changed"] for p in passes))
            for p in passes:
                self.assertGreaterEqual(p["seconds"], 0)
                self.assertTrue(os.path.exists(self.path("passes/" + p["file"])))

    def test_profile_stands_against_the_roofline(self):
        tw("compile", self.model, "-o", self.path("m.twx"), check=0)
        ran = tw_json("run", self.path("m.twx"), "--random-input", "--profile", "--repeat", "2")
        self.assertGreater(ran["roofline"]["flop_per_s"], 0)
        self.assertGreater(min(level["bytes_per_s"] for level in ran["roofline"]["levels"]), 0)
        self.assertAlmostEqual(sum(row["share"] for row in ran["profile"]), 1, places=6)
        for row in ran["profile"]:
            self.assertGreater(row["bytes"], 0)
            self.assertAlmostEqual(row["roofline_fraction"] * row["median_s"], row["roofline_s"], places=12)
            self.assertIn(row["bound"], ("memory", "arithmetic"))
        text = tw("run", self.path("m.twx"), "--random-input", "--profile", "--repeat", "1", check=0)[1]
        self.assertIn("roofline", text)

    def assert_no_duplicates(self, db):
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as c:
            columns = [r[1] for r in c.execute("pragma table_info(trial)")]
            self.assertIn("number", columns)
            rows = c.execute("select task_id, session_id, number from trial").fetchall()
            self.assertEqual(len(rows), len(set(rows)))
        points = [json.loads(line) for line in tw("records", "export", "--db", db, check=0)[1].splitlines()]
        configs = [json.dumps([p["input"], p["config"]], sort_keys=True) for p in points if p["config"].get("index", -1) is not None and p["config"].get("index", -1) >= 0]
        self.assertEqual(len(configs), len(set(configs)))

    def test_kill_and_resume(self):
        db, trials = self.path("t.db"), 40
        for at_least in (1, 10):
            process = self.start_tuning(db, trials) if at_least == 1 else self.resume(db, trials)
            self.wait_for_trials(db, process, at_least)
            process.kill()
            process.communicate()
        before = self.trials(db)
        self.assertGreater(before, 0)
        report = tw_json("tune", self.model, "--trials", str(trials), "--batch", "4", "--db", db, "--resume")
        self.assertEqual(report["resumed_trials"], before)
        self.assertEqual(report["trials"], trials)
        self.assertEqual(self.trials(db), trials)
        self.assert_no_duplicates(db)
        # Once more: nothing is left to do, nothing is added.
        again = tw_json("tune", self.model, "--trials", str(trials), "--batch", "4", "--db", db, "--resume")
        self.assertEqual(self.trials(db), trials)
        self.assertEqual([t["best_s"] for t in again["tasks"]], [t["best_s"] for t in report["tasks"]])

    def resume(self, db, trials):
        command = [TW, "tune", self.model, "--trials", str(trials), "--batch", "4", "--db", db, "--resume", "--json"]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_cancel(self):
        db = self.path("t.db")
        process = self.start_tuning(db, 100000)
        self.wait_for_trials(db, process, 1)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertLess(time.monotonic() - start, 2.5)  # a second, on a machine that may be busy
        self.assertGreater(self.trials(db), 0)

    def test_bench_tunes_once_and_measures_again(self):
        db = self.path("b.twdb")
        arguments = ["bench", "cpu", "--suite", "dense", "--only", "dense 1x768x768", "--trials", "4", "--db", db]
        for _ in range(2):
            section, = tw_json(*arguments)["sections"]
            case, = section["cases"]
            self.assertEqual((case["trials"], case["tuned"], self.trials(db)), (4, True, 4))
            self.assertGreater(case["ours_s"], 0)
            self.assertGreater(case["share_of_peak"], 0)
        self.assertIn("| dense 1x768x768 |", tw(*arguments, check=0)[1])
        self.assert_sentence(2, "bench", "cpu", "--only", "no such case", has="no such case")
        self.assert_sentence(2, "bench", "cpu", "--threads", "0", has="--threads")
        self.assert_sentence(2, "bench", "cpu", "--suite", "dense", "--model", self.model, has="--suite networks")

    def test_bench_of_a_network_of_ones_own(self):
        db, log = self.path("b.twdb"), self.path("runs.jsonl")
        arguments = ["bench", "cpu", "--suite", "networks", "--model", self.model, "--trials", "2", "--db", db, "--threads", "1", "--append", log,
                     "--python", "/nonexistent/python3"]
        section, = tw_json(*arguments)["sections"]
        case, = section["cases"]
        self.assertEqual((case["name"], case["peers"], case["ratio"]), (os.path.splitext(os.path.basename(self.model))[0], {"ONNX Runtime": None, "OpenVINO": None}, None))
        for time_s in (case["tuned"]["least_s"], case["default"]["median_s"], case["plain_s"]):
            self.assertGreater(time_s, 0)
        self.assertLessEqual(case["tuned"]["least_s"], case["tuned"]["median_s"])
        self.assertIn("does not run", section["notes"])
        self.assertEqual(len(tw_json("finals", self.model, "--target", "llvm -num-cores=1", "--stored", "--db", db)["finals"]), 1)
        self.assertIn("| best peer / tuned |", tw(*arguments, check=0)[1].replace(">", ""))
        lines = self.read(log).decode().splitlines()
        self.assertEqual([json.loads(line)["suite"] for line in lines], ["networks"] * 2)
        self.assert_sentence(3, *arguments[:-4], "--append", self.path("absent/runs.jsonl"), has="absent")

    def test_networks_on_gpus(self):
        """Without a GPU: compiled for one, run in the interpreter, with simulated times; and one sentence where a real one is asked for."""
        db, twx = self.path("g.twdb"), self.path("g.twx")
        no_gpu = {"TW_CUDA_DRIVER": "/nonexistent/libcuda.so.1"}
        report = tw_json("tune", self.model, "--target", "cuda:a100", "--device", "sim:a100", "--trials-per-task", "2", "--db", db)
        self.assertTrue(report["simulated"])
        compiled = tw_json("compile", self.model, "--target", "cuda:a100", "--db", db, "-o", twx)
        self.assertTrue(any("simulated" in k["origin"] or k["record"] for k in compiled["kernels"]), compiled["kernels"])
        ran = tw_json("run", twx, "--device", "sim:a100", "--random-input", "--check", "--profile")
        self.assertTrue(ran["check"]["passed"] and ran["simulated"])
        self.assertGreater(ran["latency"]["min_s"], 0)
        self.assertEqual(ran["core_latency_s"], [0, 0])
        self.assertEqual(len(ran["profile"]), len(compiled["kernels"]))
        emitted = tw_json("compile", self.model, "--target", "cuda:a100", "--emit", "cuda,ptx,sass,tir", "-o", self.path("e.twx"))["emitted"]
        self.assertEqual({os.path.splitext(path)[1] for path in emitted}, {".cuda", ".ptx", ".sass", ".tir"})
        self.assertIn(b"__global__", self.read(next(path for path in emitted if path.endswith(".cuda"))))
        self.assert_sentence(2, "compile", self.model, "--target", "cuda:a100", "--emit", "asm", "-o", self.path("e.twx"), has="for a GPU")
        self.assert_sentence(2, "compile", self.model, "--emit", "ptx", "-o", self.path("e.twx"), has="for a processor")
        host = tw_json("compile", self.model, "--target", "cuda:a100", "--on-host", "dense", "-o", twx)["kernels"]
        self.assertTrue(any(k["on_host"] for k in host) and any(not k["on_host"] for k in host), host)
        self.assertTrue(tw_json("run", twx, "--device", "sim:a100", "--random-input", "--check")["check"]["passed"])
        found, out, err = tw("compile", self.model, "--target", "cuda:a100", "-o", self.path("n.twx"), env={"TW_NVRTC": "/nonexistent/libnvrtc.so"})
        self.assertEqual(found, 0, err)
        self.assertIn("no machine code: Expected NVIDIA's compiler NVRTC", err)
        self.assertTrue(tw_json("run", self.path("n.twx"), "--device", "sim:a100", "--random-input", "--check")["check"]["passed"])
        for arguments in (["run", twx, "--random-input"], ["tune", self.model, "--target", "cuda", "--device", "cuda:0"], ["check", self.folder, "--device", "cuda:0"],
                          ["bench", "gpu"]):
            code, out, err = tw(*arguments, env=no_gpu)
            self.assertIn(code, (1, 2, 3))
            self.assertEqual((out, err.count("error: ")), ("", 1), err)
            self.assertIn("Expected NVIDIA's driver (/nonexistent/libcuda.so.1) on this machine, found none", err)
        self.assert_sentence(3, "run", twx, "--random-input", "--device", "sim:gtx9", has="a100")

    def test_bench_on_a_simulated_gpu(self):
        section, = tw_json("bench", "gpu", "--device", "sim:h200", "--suite", "dense", "--only", "dense 1024x1024x1024", "--quick", "--trials", "3")["sections"]
        self.assertTrue(section["simulated"])
        self.assertGreater(section["cases"][0]["ours_s"], 0)
        self.assertIn("simulated", section["notes"])
        self.assert_sentence(2, "bench", "gpu", "--device", "sim:h200", "--validate-sim", has="simulated device")
        self.assert_sentence(2, "bench", "cpu", "--device", "cuda:0", has="--device")

    def test_second_writer_is_refused(self):
        db = self.path("t.db")
        process = self.start_tuning(db, 100000)
        try:
            self.wait_for_trials(db, process, 1)
            self.assert_sentence(1, "tune", self.model, "--trials", "1", "--db", db)
            tw("records", "best", "--db", db, check=0)
        finally:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
