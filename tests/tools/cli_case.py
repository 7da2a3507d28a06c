#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw` as a program: what its tests share. The program is the first argument of the script that imports this."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TW = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "tw"


def tw(*arguments, check=None, env=None):
    """Runs tw and returns (exit code, standard output, standard error)."""
    p = subprocess.run([TW, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, env={**os.environ, **(env or {})})
    if check is not None and p.returncode != check:
        raise AssertionError(f"tw {' '.join(arguments)}: exit code {p.returncode}, expected {check}\n{p.stdout}\n{p.stderr}")
    return p.returncode, p.stdout, p.stderr


def tw_json(*arguments):
    return json.loads(tw(*arguments, "--json", check=0)[1])


class CliCase(unittest.TestCase):
    """A folder of its own for every test, and one small network for all."""

    @classmethod
    def setUpClass(cls):
        cls.models = tempfile.TemporaryDirectory()
        cls.model = os.path.join(cls.models.name, "lenet5.onnx")
        tw("zoo", "write", "lenet5", "--tiny", "-o", cls.model, check=0)

    @classmethod
    def tearDownClass(cls):
        cls.models.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def read(self, path):
        with open(path, "rb") as f:
            return f.read()

    def assert_sentence(self, code, *arguments, has=""):
        """Fails with the code and says one sentence on standard error, nothing on standard output."""
        found, out, err = tw(*arguments)
        self.assertEqual(found, code, err)
        self.assertEqual(out, "")
        lines = [line for line in err.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(lines), 1, err)
        self.assertFalse(lines[0].endswith("."), lines[0])
        self.assertIn(has, err)

    def trials(self, db):
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as c:
            return c.execute("select count(*) from trial").fetchone()[0]

    def start_tuning(self, db, trials, *options):
        command = [TW, "tune", self.model, "--trials", str(trials), "--batch", "4", "--db", db, "--json", *options]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for_trials(self, db, process, at_least):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            try:
                if self.trials(db) >= at_least:
                    return
            except sqlite3.Error:
                pass
            time.sleep(0.02)
        self.fail("no trials within a minute")
