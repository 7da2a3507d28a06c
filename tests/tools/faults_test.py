#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw` as a program where something is wrong around it: nothing that was stored is lost, nothing foreign is replaced, and it says what happened.

Usage: faults_test.py TW [TEST...]
"""
import os
import shutil
import sys
import unittest

from cli_case import CliCase, tw, tw_json


class Outputs(CliCase):
    """An output takes the place of an earlier output of its kind, and of nothing else."""

    def tuned(self):
        db = self.path("t.db")
        tw("tune", self.model, "--trials", "6", "--batch", "3", "--db", db, check=0)
        return db

    def assert_refused(self, kept, *arguments):
        before = {path: self.read(path) for path in kept}
        self.assert_sentence(2, *arguments, has="never replaced")
        for path, content in before.items():
            self.assertEqual(self.read(path), content, path)

    def test_the_database_is_no_output(self):
        db, log = self.tuned(), self.path("a.log")
        tw("records", "export", "--db", db, log, check=0)
        link, hard = self.path("link"), self.path("hard")
        os.symlink(db, link)
        os.link(db, hard)
        for output in (db, link, hard):
            self.assert_refused([db], "records", "export", "--db", db, output)
            self.assert_refused([db], "records", "best", "--db", db, output)
            self.assert_refused([db], "compile", self.model, "--db", db, "-o", output)
            self.assert_refused([db, log], "records", "pick", log, output)
            self.assert_refused([db], "compile", self.model, "-o", output)  # without being an input
            self.assert_refused([db], "zoo", "write", "mlp", "--tiny", "-o", output)
            self.assert_refused([db], "tune", self.model, "--trials", "6", "--db", db, "--log", output)
        os.unlink(hard)
        self.assertEqual(len(tw("records", "export", "--db", db, check=0)[1].splitlines()), 6)

    def test_inputs_are_no_outputs(self):
        db, log, twx = self.tuned(), self.path("a.log"), self.path("m.twx")
        tw("records", "export", "--db", db, log, check=0)
        tw("compile", self.model, "-o", twx, check=0)
        self.assert_refused([self.model], "compile", self.model, "-o", self.model)
        self.assert_refused([log], "records", "pick", log, log)
        self.assert_refused([log], "compile", self.model, "--log", log, "-o", log)
        os.symlink(log, self.path("again"))
        self.assert_refused([log], "records", "pick", log, self.path("again"))

    def test_foreign_files_stay(self):
        db, letter = self.tuned(), self.write("letter.txt", b"Dear reader\n")
        foreign = self.write("foreign.log", b'{"input": ["llvm", "dense", [], {}], "config": {}, "result": [[1e-3], 0, 1, 1], "version": 0.2}\n')
        self.assert_refused([letter], "compile", self.model, "-o", letter)
        self.assert_refused([letter], "records", "export", "--db", db, letter)
        self.assert_refused([foreign], "records", "export", "--db", db, foreign)
        self.assert_refused([letter], "zoo", "write", "mlp", "--tiny", "-o", letter)
        self.assert_refused([letter], "tune", self.model, "--trials", "1", "--db", db, "--log", letter)
        model = self.write("other.onnx", b"\x08\x08\x12\x07pytorch")
        self.assert_refused([model], "zoo", "write", "mlp", "--tiny", "-o", model)
        self.assert_sentence(2, "compile", self.model, "-o", self.folder, has="found a folder")

    def test_folders_keep_what_others_put_there(self):
        twx, outputs = self.path("m.twx"), self.path("out")
        os.makedirs(twx + ".d")
        header = self.write("m.twx.d/m.h", b"// mine\n")
        arguments = ["compile", self.model, "--emit", "c-header", "-o", twx]
        self.assert_sentence(2, *arguments, has="not written by this command")
        self.assertEqual(self.read(header), b"// mine\n")
        os.unlink(header)
        for _ in range(2):  # its own files it writes again
            tw(*arguments, check=0)
            tw("run", twx, "--random-input", "--repeat", "1", "--output", outputs, check=0)
            tw("compile", self.model, "-o", twx, "--dump-passes", self.path("dump"), check=0)
        array = next(name for name in os.listdir(outputs) if name.endswith(".npy"))
        os.unlink(os.path.join(outputs, ".tilewright"))
        self.assert_sentence(2, "run", twx, "--random-input", "--repeat", "1", "--output", outputs, has=array)

    def test_its_own_outputs_are_replaced(self):
        db, log, best, twx, onnx = self.tuned(), self.path("a.log"), self.path("best.log"), self.path("m.twx"), self.path("m.onnx")
        for _ in range(2):
            tw("records", "export", "--db", db, log, check=0)
            tw("records", "best", "--db", db, best, check=0)
            tw("records", "pick", log, self.path("picked.log"), check=0)
            tw("records", "split", log, check=0)
            tw("compile", self.model, "-o", twx, check=0)
            tw("zoo", "write", "mlp", "--tiny", "-o", onnx, check=0)
        os.symlink(twx, self.path("link.twx"))
        tw("compile", self.model, "-o", self.path("link.twx"), check=0)
        self.assertTrue(os.path.islink(self.path("link.twx")))
        self.assertTrue(self.write("empty.twx", b""))
        tw("compile", self.model, "-o", self.path("empty.twx"), check=0)
        self.assertFalse([name for name in os.listdir(self.folder) if ".tmp" in name])
        self.assertEqual(tw("records", "export", "--db", db, "/dev/stdout", check=0)[1].encode(), self.read(log))

    def test_a_database_that_goes_away_ends_the_session(self):
        for replaced in (False, True):
            db = self.path(f"t{replaced}.db")
            process = self.start_tuning(db, 100000)
            self.wait_for_trials(db, process, 1)
            if replaced:
                shutil.copy(db, db + ".other")
                os.rename(db + ".other", db)
            else:
                os.unlink(db)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, err)
            self.assertIn("replaced by another file" if replaced else "was deleted", err)
            kept, = [self.path(name) for name in os.listdir(self.folder) if name.startswith(os.path.basename(db) + ".rescued-")]
            self.assertIn(kept, err)
            self.assertGreater(self.trials(kept), 0)
            self.assertGreater(len(tw("records", "export", "--db", kept, check=0)[1].splitlines()), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
