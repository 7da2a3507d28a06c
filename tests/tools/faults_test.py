#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw` as a program where something is wrong around it: nothing that was stored is lost, nothing foreign is replaced, and it says what happened.

Usage: faults_test.py TW [TEST...]
"""
import ctypes
import errno
import json
import os
import platform
import pty
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
import unittest

from cli_case import CliCase, TW, tw, tw_json


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


class Claims(CliCase):
    """What a log says was not measured here: it is looked at, and never comes before what was."""

    def lines(self, trials=2):
        db, log = self.path("own.db"), self.path("own.log")
        tw("tune", self.model, "--task", "dense", "--trials-per-task", str(trials), "--finalists", "0", "--db", db, "--log", log, check=0)
        return db, [json.loads(line) for line in self.read(log).decode().splitlines()]

    def imported(self, lines, db="claims.db"):
        text = "\n".join(json.dumps(line) for line in lines).encode()
        return tw_json("records", "import", self.write("claims.log", text), "--db", self.path(db))

    def with_times(self, line, *seconds):
        line = json.loads(json.dumps(line))
        line["result"][0] = list(seconds)
        line["tilewright"]["result"].update(samples_s=list(seconds), flagged_samples=[], flagged=0)
        return line

    def test_impossible_times_are_failures(self):
        _, lines = self.lines()
        point = next(line for line in lines if line["tilewright"]["index"] >= 0)
        for seconds in (-1, 0, 1e-300, 1e-12, 1e-9):
            done = self.imported([self.with_times(point, seconds)], f"t{seconds}.db")
            self.assertEqual((done["stored"], done["stored_failures"]), (1, 1), seconds)
            self.assertEqual(tw_json("records", "best", "--db", self.path(f"t{seconds}.db"))["best"], [])
            foreign = {key: value for key, value in self.with_times(point, seconds).items() if key != "tilewright"}
            log = self.write("foreign.log", json.dumps(foreign).encode())
            self.assertEqual([k["claimed"] for k in tw_json("compile", self.model, "--log", log, "-o", self.path("m.twx"))["kernels"]].count(True), 0)

    def test_steps_must_be_those_of_the_point(self):
        _, lines = self.lines(3)
        points = [line for line in lines if line["tilewright"]["index"] >= 0]
        a, b = next((a, b) for a in points for b in points if a["tilewright"]["task"] == b["tilewright"]["task"] and a is not b)
        default = next(line for line in lines if line["tilewright"]["index"] < 0)
        for line, steps in ((a, b["tilewright"]["steps"]), (a, []), (default, [])):
            forged = json.loads(json.dumps(line))
            forged["tilewright"]["steps"] = steps
            log = self.write("forged.log", json.dumps(forged).encode())
            code, out, _ = tw("records", "import", log, "--db", self.path(f"t{len(os.listdir(self.folder))}.db"), "--json")
            done = json.loads(out)
            self.assertEqual((code, done["stored"], done["skipped_by_reason"]), (3, 0, {"other_steps": 1}))
            forged = self.with_times(forged, 1e-5)
            compiled = tw_json("compile", self.model, "--log", self.write("forged.log", json.dumps(forged).encode()), "-o", self.path("m.twx"))
            self.assertFalse(any(k["claimed"] for k in compiled["kernels"]))

    def test_own_trials_are_best_before_claims(self):
        db, lines = self.lines()
        before = {b["key"]: b for b in tw_json("records", "best", "--db", db)["best"]}
        self.assertFalse(any(b["claimed"] for b in before.values()))
        points = [self.with_times(line, 0.5 * min(line["result"][0])) for line in lines if line["tilewright"]["index"] >= 0]
        done = tw_json("records", "import", self.write("faster.log", "\n".join(json.dumps(p) for p in points).encode()), "--db", db)
        self.assertEqual((done["stored"], done["stored_failures"]), (len(points), 0))
        self.assertEqual({b["key"]: b for b in tw_json("records", "best", "--db", db)["best"]}, before)

    def test_compile_says_what_rests_on_a_claim(self):
        db, lines = self.lines()
        self.imported(lines)
        for options in (["--db", self.path("claims.db")], ["--log", self.path("claims.log")]):
            code, out, err = tw("compile", self.model, *options, "-o", self.path("m.twx"))
            self.assertEqual(code, 0, err)
            self.assertIn("rest on times that were measured elsewhere", err)
            self.assertIn(", elsewhere", out)
            kernels = tw_json("compile", self.model, *options, "-o", self.path("m.twx"))["kernels"]
            self.assertTrue(any(k["claimed"] for k in kernels))
            self.assertTrue(all(k["claimed"] == bool(k["record"]) for k in kernels))
        self.assertTrue(all(b["claimed"] for b in tw_json("records", "best", "--db", self.path("claims.db"))["best"]))
        code, _, err = tw("compile", self.model, "--db", db, "-o", self.path("m.twx"))
        self.assertNotIn("elsewhere", err)


class Storage(CliCase):
    """One damaged row is one row less, and it can be had again."""

    def tuned(self, db="t.db"):
        tw("tune", self.model, "--task", "dense", "--trials", "30", "--batch", "10", "--network-finals", "never", "--db", self.path(db), check=0)
        return self.path(db)

    def damage(self, db, rows=10):
        with sqlite3.connect(db) as c:
            ids = [row[0] for row in c.execute("select id from trial where status = 'ok' order by seconds limit ?", (rows,))]
            for i, id in enumerate(ids):
                c.execute("update trial set final_s = 1e-9 where id = ?" if i % 2 else "update trial set seconds = 1e-9 where id = ?", (id,))
        return ids

    def test_damaged_rows_are_left_out_named_removed_and_restored(self):
        db, copy = self.tuned(), self.path("copy.db")
        total = tw_json("db", "check", db)["trials"]
        self.assertEqual(tw("db", "backup", db, copy, check=0)[1].strip(), copy)
        ids = self.damage(db)
        for command in (["records", "export", "--db", db], ["records", "best", "--db", db], ["compile", self.model, "--db", db, "-o", self.path("m.twx")],
                        ["tune", self.model, "--task", "dense", "--trials", "30", "--batch", "10", "--network-finals", "never", "--db", db, "--resume"]):
            self.assertIn("damaged row", tw(*command, check=0)[2])
        lines = tw("records", "export", "--db", db, check=0)[1].splitlines()
        self.assertEqual(len(lines), total)  # the session that went on measured anew what it could not read
        code, out, err = tw("db", "check", db)
        self.assertEqual(code, 0, out)
        ids = self.damage(db)
        code, out, err = tw("db", "check", db)
        self.assertEqual(code, 1)
        for id in ids:
            self.assertIn(f"trial {id} (", out)
        report = tw_json("db", "repair", db)
        self.assertEqual((report["removed"], report["sound"], report["trials"]), (len(ids), True, total - len(ids)))
        self.assertTrue(os.path.exists(report["kept"]))
        report = tw_json("db", "repair", db, "--backup", copy)
        self.assertTrue(report["sound"])
        self.assertGreaterEqual(report["trials"], total - len(ids))
        self.assertTrue(tw_json("db", "check", db)["sound"])

    def test_a_destroyed_file_comes_back_from_its_backup(self):
        db = self.tuned()
        total = tw_json("db", "check", db)["trials"]
        backup = tw_json("db", "backup", db)["backup"]
        data = bytearray(self.read(db))
        data[8192:8192 * 6] = os.urandom(8192 * 5)
        with open(db, "wb") as f:
            f.write(data)
        code, out, err = tw("db", "check", db)
        self.assertNotEqual(code, 0)
        report = tw_json("db", "repair", db)
        self.assertEqual((report["sound"], report["trials"]), (True, total), report)
        self.assertIn(backup, " ".join(report["steps"]))

    def test_the_other_commands(self):
        db, other = self.tuned(), self.tuned("u.db")
        merged = tw_json("db", "merge", db, other)["merged"][0]
        self.assertEqual(merged["trials"], tw_json("db", "check", other)["trials"])
        self.assertEqual(tw_json("db", "merge", db, other)["merged"][0]["trials"], 0)
        self.assertGreater(tw_json("db", "vacuum", db)["bytes_after"], 0)
        stats = tw_json("db", "stats", db)
        self.assertEqual({t["name"]: t["rows"] for t in stats["tables"]}["session"], 2)
        for command in ("check", "repair", "backup", "vacuum", "stats"):
            self.assert_sentence(3, "db", command, self.path("none.db"), has="none.db")
            self.assert_sentence(3, "db", command, self.write("text.db", b"a letter " * 100), has="text.db")
        self.assert_sentence(2, "db", "backup", db, other, has="u.db")
        self.assert_sentence(2, "db", "merge", db, db, has="twice")


class Console(CliCase):
    """Whoever reads what tw says may go away at any time."""

    def run_with(self, arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, prepare=None):
        return subprocess.run([TW, *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, preexec_fn=prepare, timeout=240, text=True)

    def gone(self):
        """The writing end of a pipe that nobody reads."""
        reading, writing = os.pipe()
        os.close(reading)
        self.addCleanup(os.close, writing)
        return writing

    def full(self):
        file = open("/dev/full", "wb")
        self.addCleanup(file.close)
        return file

    def test_without_standard_error_it_works_on(self):
        arguments = lambda db: ["tune", self.model, "--trials", "6", "--batch", "3", "--db", db]
        for name, stderr, prepare in (("gone", self.gone(), None), ("full", self.full(), None), ("closed", None, lambda: os.close(2)),
                                      ("both", None, lambda: (os.close(2), os.close(1), os.close(0)))):
            db = self.path(f"{name}.db")
            p = self.run_with(arguments(db), stdout=None if name == "both" else subprocess.PIPE, stderr=stderr, prepare=prepare)
            self.assertEqual(p.returncode, 1 if name == "both" else 0, name)  # the table is lost
            self.assertEqual(self.trials(db), 6, name)
            self.assertEqual(len(tw("records", "export", "--db", db, check=0)[1].splitlines()), 6)

    def test_a_stalled_reader_of_progress_stops_nothing(self):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(writing, b"." * 4096)
        os.set_blocking(writing, True)
        p = self.run_with(["tune", self.model, "--trials-per-task", "2", "--db", self.path("t.db")], stderr=writing)
        self.assertEqual(p.returncode, 0)
        os.close(reading), os.close(writing)

    def test_lost_results_are_an_error(self):
        db = self.path("t.db")
        tw("tune", self.model, "--trials", "6", "--db", db, check=0)
        for arguments in (["tasks", self.model], ["tasks", self.model, "--json"], ["records", "export", "--db", db], ["--help"], ["records", "best", "--db", db],
                          ["import", self.model, "--json"], ["doctor"], ["zoo", "list"], ["compile", self.model, "-o", self.path("m.twx")]):
            for name, stdout, prepare in (("gone", self.gone(), None), ("full", self.full(), None), ("closed", None, lambda: os.close(1))):
                p = self.run_with(arguments, stdout=stdout, stderr=subprocess.PIPE, prepare=prepare)
                self.assertEqual(p.returncode, 1, (arguments, name, p.stderr))
                self.assertIn("error: Not all results could be written to standard output", p.stderr)
                self.assertNotIn("bug", p.stderr)

    def test_a_closed_terminal_ends_no_session(self):
        db = self.path("t.db")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(TW, [TW, "tune", self.model, "--trials", "30", "--batch", "3", "--finalists", "0", "--db", db])
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if self.trials(db) > 0:
                    break
            except sqlite3.Error:
                pass
            time.sleep(0.02)
        os.close(terminal)  # and with it SIGHUP for whoever is in front
        _, status = os.waitpid(pid, 0)
        self.assertTrue(os.WIFEXITED(status), os.WTERMSIG(status))
        self.assertEqual(self.trials(db), 30)
        self.assertEqual(os.WEXITSTATUS(status), 1)  # the table could not be shown

    def test_limits_of_files_are_an_error(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
        db = self.path("t.db")
        p = self.run_with(["zoo", "write", "resnet18", "--tiny", "-o", self.path("m.onnx")], stderr=subprocess.PIPE, prepare=limit)
        self.assertEqual((p.returncode, p.stderr.count("error: ")), (1, 1), p.stderr)
        self.assertEqual(os.listdir(self.folder), [])
        tw("tune", self.model, "--trials", "4", "--db", db, check=0)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(db) + 20000, ) * 2)
        p = self.run_with(["tune", self.model, "--trials", "3000", "--db", db], stderr=subprocess.PIPE, prepare=limit)
        self.assertEqual((p.returncode, p.stderr.count("error: ")), (1, 1), p.stderr)
        self.assertGreaterEqual(self.trials(db), 4)
        self.assertEqual(len(tw("records", "export", "--db", db, check=0)[1].splitlines()), self.trials(db))


def refuse_calls(*refusals):
    """System calls that are refused from now on, as (number, mask, value of the masked first argument, error), as containers do. Not to be undone."""
    load = lambda offset: struct.pack("HBBI", 0x20, 0, 0, offset)
    jump = lambda value, yes, no: struct.pack("HBBI", 0x15, yes, no, value)
    give = lambda value: struct.pack("HBBI", 0x06, 0, 0, value)
    code = [load(0)]
    for number, mask, value, error in refusals:
        code += [jump(number, 0, 5), load(16), struct.pack("HBBI", 0x54, 0, 0, mask), jump(value, 0, 1), give(0x00050000 | error), load(0)]
    code.append(give(0x7fff0000))
    text = b"".join(code)
    buffer = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("H6xP", len(code), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.c_char_p(program)) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


CLONE3, CLONE = 435, {"x86_64": 56, "aarch64": 220}.get(platform.machine())


@unittest.skipIf(CLONE is None, "the numbers of this machine's system calls are not known")
class Container(CliCase):
    """Where calls and folders are refused, it works with less, or says what is missing."""

    def contained(self, *arguments, refusals, prepare=lambda: None, env=None):
        def enter():
            prepare()
            refuse_calls(*refusals)
        return subprocess.run([TW, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, preexec_fn=enter, timeout=240, env={**os.environ, **(env or {})})

    def test_without_clone3_and_namespaces(self):
        db = self.path("t.db")
        p = self.contained("tune", self.model, "--trials", "6", "--batch", "3", "--db", db,
                           refusals=[(CLONE3, 0, 0, errno.ENOSYS), (CLONE, 0x20000000, 0x20000000, errno.EPERM)])
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertEqual(self.count(db, "status = 'ok'"), 6)

    def test_with_a_root_that_cannot_be_written(self):
        """As in a container: a read-only root, 64 MB of shared memory, one folder to write into."""
        libc = ctypes.CDLL(None, use_errno=True)
        db = self.path("t.db")

        def contain():
            # A process of its own mounts, so that the tests keep theirs.
            if libc.unshare(0x00020000) != 0 or libc.mount(None, b"/", None, 0x44000, None) != 0:
                os._exit(77)
            mounts = [(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=64m")]
            mounts += [(folder, folder, None, 0x1000, None) for folder in (self.folder.encode(), self.models.name.encode())]
            mounts += [(None, b"/", None, 0x1021, None)]  # MS_REMOUNT | MS_BIND | MS_RDONLY
            for source, target, kind, flags, data in mounts:
                if libc.mount(source, target, kind, flags, data) != 0:
                    os._exit(77)

        refusals = [(CLONE3, 0, 0, errno.ENOSYS), (CLONE, 0x20000000, 0x20000000, errno.EPERM)]
        p = self.contained("tune", self.model, "--trials", "6", "--batch", "3", "--db", db, refusals=refusals, prepare=contain)
        if p.returncode == 77:
            self.skipTest("nothing can be mounted here")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertEqual(self.count(db, "status = 'ok'"), 6)
        # What is missing is said before anything is measured; with a folder for temporary files nothing is.
        missing = "Note: what wins alone will not be tried in the network: Cannot make a temporary folder"
        self.assertEqual(p.stderr.count(missing), 1, p.stderr)
        self.assertNotIn("finals of", p.stderr.split(missing)[0], p.stderr)
        p = self.contained("tune", self.model, "--trials", "6", "--db", self.path("u.db"), "--network-finals", "always", refusals=refusals, prepare=contain)
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertIn("error: Cannot make a temporary folder", p.stderr)
        self.assertEqual(self.count(self.path("u.db"), "1"), 0)
        p = self.contained("tune", self.model, "--trials", "12", "--db", self.path("u.db"), "--network-finals", "always", "--json", refusals=refusals, prepare=contain,
                           env={"TMPDIR": self.folder})
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertGreater(json.loads(p.stdout)["network"]["default_s"], 0)
        p = self.contained("tune", self.model, "--trials", "6", "--db", "/t.db", refusals=refusals, prepare=contain)
        self.assertEqual((p.returncode, p.stderr.count("error: ")), (1, 1), p.stderr)
        self.assertIn("/t.db", p.stderr)

    def test_a_session_without_any_time_is_a_failure(self):
        db = self.path("t.db")
        fork_alone = (CLONE, 0x00000100, 0, errno.EPERM)  # neither threads nor programs
        p = self.contained("tune", self.model, "--trials", "3", "--db", db, refusals=[(CLONE3, 0, 0, errno.ENOSYS), fork_alone])
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertIn("error: Nothing was measured: none of 3 trials gave a time: 3 infra", p.stderr)
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as c:
            self.assertEqual(c.execute("select state from session").fetchall(), [("interrupted",)])

    def count(self, db, where):
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as c:
            return c.execute(f"select count(*) from trial where {where}").fetchone()[0]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
