#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw` killed and its disk broken at random moments. After each, what it stored must be as if nothing had happened:

  I1   no trial that was committed is lost or changed          I7   a session that goes on ends with the best of all trials that there are
  I2   each point of a session is counted once                 I8   no duration is negative or above its limit
  I3   the best is whole, verified and not a claim             I10  every failed trial has a reason
  I4   one candidate runs on the machine at a time             and `tw db check` finds nothing
  I5   no process and no temporary folder outlives its program

Usage: torture.py TW FAILING_IO FORMAT_7 [--moments 200] [--faults 40] [--seed 1] [--folder DIR]

TW is the program, FAILING_IO the library built from tests/support/failing_io.cpp, FORMAT_7 a database of an earlier format, compressed by xz. Exits with 1
and names what was found if anything does not hold. The folder is kept then.
"""
import argparse
import errno
import json
import lzma
import math
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid

LIMITS = {"build_s": 60 + 3, "load_s": 60 + 3, "run_s": 60 + 3}  # SessionOptions' limits are below
LINES = 30000  # of the log that is imported
SESSIONS = 2000  # of the database that is brought up to date


class Broken(Exception):
    """An invariant does not hold."""


class Torture:
    def __init__(self, options):
        self.o = options
        self.random = random.Random(options.seed)
        self.folder = options.folder or tempfile.mkdtemp(prefix="torture-")
        self.temporary = os.path.join(self.folder, "tmp")
        os.makedirs(self.temporary, exist_ok=True)
        self.mark = "TW_TORTURE=" + uuid.uuid4().hex
        name, value = self.mark.split("=")
        self.environment = {**os.environ, name: value, "TMPDIR": self.temporary}
        self.model = self.path("net.onnx")
        self.table = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *arguments, **environment):
        err = open(self.path("stderr"), "wb")
        with err:
            return subprocess.Popen([self.o.tw, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err,
                                    env={**self.environment, **environment})

    def tw(self, *arguments, check=0, **environment):
        p = subprocess.run([self.o.tw, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                           env={**self.environment, **environment})
        if check is not None and p.returncode != check:
            raise Broken(f"tw {' '.join(arguments)}: exit code {p.returncode}, expected {check}: {p.stderr.strip()[-400:]}")
        return p

    def json(self, *arguments):
        return json.loads(self.tw(*arguments, "--json").stdout)

    def kill_at(self, seconds, *arguments):
        """Starts tw and kills it after so long. Whether it was still running."""
        p = self.start(*arguments)
        try:
            p.wait(seconds)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
            return True
        return False

    # What is in a database, as a stranger to the program reads it.

    def rows(self, db):
        """Committed trials by id, with everything that is in them."""
        if not os.path.exists(db) or os.path.getsize(db) == 0:
            return {}
        try:
            with sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=10) as c:
                found = c.execute("select trial.*, sample.data from trial join sample on trial_id = trial.id").fetchall()
        except sqlite3.OperationalError as e:
            # Killed before the tables were there; or while it was made, and the next writer takes back what was begun.
            if "no such" in str(e) or ("readonly" in str(e) and os.path.exists(db + "-journal")):
                return {}
            raise
        return {row[0]: row for row in found}

    def expect(self, condition, what):
        if not condition:
            raise Broken(what)

    def check_processes(self):
        """I5: nothing that was started for a killed program lives after five seconds."""
        deadline = time.monotonic() + 5
        while True:
            alive = []
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/environ", "rb") as f:
                        if self.mark.encode() in f.read().split(b"\0"):
                            with open(f"/proc/{pid}/stat") as s:
                                if s.read().rsplit(")", 1)[1].split()[0] != "Z":
                                    alive.append(pid)
                except OSError:
                    pass
            if not alive:
                return
            self.expect(time.monotonic() < deadline, f"I5: processes {alive} live on")
            time.sleep(0.02)

    def check_folders(self):
        """I5: the next program sweeps what the dead left behind, once it is some seconds old."""
        if not os.listdir(self.temporary):
            return
        time.sleep(6)
        self.tw("db", "stats", self.path("none"), check=3)
        self.expect(not os.listdir(self.temporary), f"I5: left behind: {os.listdir(self.temporary)}")

    def check_database(self, db, before):
        """I1, I2, I3, I8, I10 and the program's own check."""
        rows = self.rows(db)
        for id, row in before.items():
            self.expect(id in rows, f"I1: trial {id} is lost")
            # Finals may have been added, which change the checksum; nothing else changes.
            same = [a == b for a, b in zip(row, rows[id])]
            self.expect(same.count(False) <= 4 and row[1:21] == rows[id][1:21], f"I1: trial {id} has changed")
        if not rows:
            return rows
        report = self.json("db", "check", db)
        self.expect(report["sound"], f"tw db check: {report['problems'][:3]}")
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as c:
            c.row_factory = sqlite3.Row
            twice = c.execute("select count(*) from (select 1 from trial group by session_id, task_id, config_index, steps_hash having count(*) > 1)").fetchone()[0]
            self.expect(twice == 0, f"I2: {twice} points are there twice")
            for row in c.execute("select * from trial"):
                self.expect(row["status"] == "ok" or row["message"], f"I10: trial {row['id']} failed without a reason")
                for column, limit in LIMITS.items():
                    self.expect(0 <= row[column] < limit, f"I8: trial {row['id']} has {column} {row[column]}")
            best = {}
            query = ("select key, min(coalesce(final_s, seconds)) from trial join task on task.id = task_id join session on session.id = session_id "
                     "where status = 'ok' and verified = 1 and censored = 0 and tuner <> 'import' and coalesce(final_s, seconds) < 9e999 group by task_id")
            for key, seconds in c.execute(query):
                best[key] = seconds
        for b in self.json("records", "best", "--db", db)["best"]:
            if b["key"] in best:
                self.expect(not b["claimed"] and math.isclose(b["best_s"], best[b["key"]], rel_tol=1e-12), f"I3: {b} is called best, and {best[b['key']]} is")
        return rows

    # What is tortured.

    def tune_arguments(self, db, log, more=()):
        return ["tune", self.model, "--task", "dense", "--trials", "24", "--batch", "4", "--network-finals", "never", "--db", db, "--log", log, "--resume", *more]

    def lines(self, log):
        """Points in a log, by task; a torn last line is no line."""
        found = set()
        if os.path.exists(log):
            with open(log, "rb") as f:
                for line in f.read().split(b"\n"):
                    try:
                        ours = json.loads(line)["tilewright"]
                        found.add((ours["task"], json.dumps(ours.get("samples_s"))))
                    except (ValueError, KeyError, TypeError):
                        pass
        return found

    def tune(self, moments):
        db, log = None, None
        longest = None
        for moment in range(moments):
            if db is None:
                db, log = self.path(f"tune{moment}.db"), self.path(f"tune{moment}.log")
            if longest is None:
                began = time.monotonic()
                self.tw(*self.tune_arguments(self.path("whole.db"), self.path("whole.log")))
                longest = time.monotonic() - began
            before = {}
            p = self.start(*self.tune_arguments(db, log))
            wait = self.random.uniform(0, longest)
            try:
                p.wait(wait)
            except subprocess.TimeoutExpired:
                before = self.rows(db)  # committed: whoever asks sees them
                p.kill()
                p.wait()
            self.check_processes()
            rows = self.check_database(db, before)
            count = self.line_count(log)
            self.expect(count >= len(rows), f"{len(rows)} trials are stored, and the log has {count} lines")
            if self.random.random() < 0.3 or moment == moments - 1:
                self.finish_session(db, log)
                db = None
        self.check_folders()

    def line_count(self, log):
        if not os.path.exists(log):
            return 0
        with open(log, "rb") as f:
            return sum(line.startswith(b"{") for line in f.read().split(b"\n")[:-1])

    def finish_session(self, db, log):
        """I7: it goes on to its end, and ends as if it had never been killed."""
        report = json.loads(self.tw(*self.tune_arguments(db, log, ["--json"])).stdout)
        rows = self.check_database(db, {})
        self.expect(report["trials"] == 24 and len(rows) >= 24, f"I7: {report['trials']} trials of 24, {len(rows)} stored")
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as c:
            sessions = c.execute("select count(*), sum(state = 'done'), sum(trials) from session where trials > 0").fetchone()
            self.expect(sessions[1] >= 1 and sessions[2] == len(rows), f"I7: sessions {sessions}, {len(rows)} trials")
            intervals = c.execute("select timestamp_s - run_s, timestamp_s from trial order by 1").fetchall()
        return intervals

    def import_log(self, moments):
        log = self.path("import.log")
        with open(log, "w") as f:
            for i in range(LINES):
                task = ["one", "two", "three"][i % 3]
                f.write(json.dumps({"i": [[json.dumps([task, 4]), "llvm -keys=cpu"], [[], [["SP", i]]]], "r": [[1e-3 / (1 + i % 97)], 0, 0.5, 1.6e9 + i], "v": "v0.6"}) + "\n")
        began = time.monotonic()
        self.tw("records", "import", log, "--db", self.path("import-whole.db"))
        longest = time.monotonic() - began
        db = None
        for moment in range(moments):
            if db is None:
                db = self.path(f"import{moment}.db")
            p = self.start("records", "import", log, "--db", db)
            before = {}
            try:
                p.wait(self.random.uniform(0, longest))
            except subprocess.TimeoutExpired:
                before = self.rows(db)
                p.kill()
                p.wait()
            self.check_database(db, before)
            if self.random.random() < 0.4 or moment == moments - 1:
                there = len(self.rows(db))
                done = self.json("records", "import", log, "--db", db)
                self.expect((done["already_there"], done["stored"]) == (there, LINES - there), f"I2: {done}, {there} of {LINES} were there")
                self.check_database(db, {})
                db = None

    def compile(self, moments):
        db, twx = self.path("whole.db"), self.path("net.twx")
        if not os.path.exists(db):
            self.tw(*self.tune_arguments(db, self.path("whole.log")))
        began = time.monotonic()
        self.tw("compile", self.model, "--db", db, "-o", twx)
        longest = time.monotonic() - began
        before = self.rows(db)
        for moment in range(moments):
            out = self.path("out")
            os.makedirs(out, exist_ok=True)
            other = os.path.join(out, "net.twx")
            if self.random.random() < 0.5:
                shutil.copy(twx, other)
            had = os.path.exists(other)
            self.kill_at(self.random.uniform(0, longest), "compile", self.model, "--db", db, "-o", other)
            self.check_processes()
            self.expect(os.path.exists(other) or not had, "the earlier network is gone")
            if os.path.exists(other):
                self.tw("run", other, "--random-input", "--repeat", "1")
            self.expect(set(os.listdir(out)) <= {"net.twx"}, f"left behind: {os.listdir(out)}")
            shutil.rmtree(out)
        self.check_database(db, before)
        self.check_folders()

    def old_database(self):
        """A file of the earlier format with many sessions."""
        db = self.path("old.db")
        if os.path.exists(db):
            return db
        with open(self.o.format_7, "rb") as f, open(db, "wb") as out:
            out.write(lzma.decompress(f.read()))
        with sqlite3.connect(db) as c:
            self.expect(c.execute("pragma user_version").fetchone()[0] == 7, "the earlier format is not 7")
            trial = [row[1] for row in c.execute("pragma table_info(trial)") if row[1] not in ("id", "session_id")]
            session = [row[1] for row in c.execute("pragma table_info(session)") if row[1] != "id"]
            first = c.execute("select min(session_id) from trial").fetchone()[0]
            for i in range(SESSIONS):
                c.execute(f"insert into session({', '.join(session)}) select {', '.join(session)} from session where id = ?", (first,))
                new = c.execute("select last_insert_rowid()").fetchone()[0]
                for old in c.execute("select id from trial where session_id = ?", (first,)).fetchall():
                    c.execute(f"insert into trial(session_id, {', '.join(trial)}) select ?, {', '.join(trial)} from trial where id = ?", (new, old[0]))
                    c.execute("insert into sample select last_insert_rowid(), data from sample where trial_id = ?", old)
            c.execute("update task set trials = (select count(*) from trial where task_id = task.id), failures = (select count(*) from trial where task_id = task.id and status <> 'ok')")
        return db

    def migrate(self, moments):
        old = self.old_database()
        with sqlite3.connect(f"file:{old}?mode=ro", uri=True) as c:
            trials = c.execute("select id, session_id, task_id, number, seconds, steps_json, status from trial order by id").fetchall()
        self.migrated(old, self.path("migrated.db"), trials)
        began = time.monotonic()
        self.migrated(old, self.path("migrated.db"), trials)
        longest = time.monotonic() - began
        for moment in range(moments):
            db = self.path("migrate.db")
            for end in ("", "-wal", "-shm", ".lock", ".v7.backup", ".v7.backup.part"):
                if os.path.exists(db + end):
                    os.unlink(db + end)
            shutil.copy(old, db)
            for again in range(self.random.choice((1, 1, 2))):
                self.kill_at(self.random.uniform(0, longest), "db", "vacuum", db)
            self.migrated(None, db, trials)

    def migrated(self, old, db, trials):
        """Brings a file up to date and compares."""
        if old:
            for end in ("", "-wal", "-shm"):
                if os.path.exists(db + end):
                    os.unlink(db + end)
            shutil.copy(old, db)
        self.tw("db", "vacuum", db)
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as c:
            now = c.execute("select id, session_id, task_id, number, seconds, steps_json, status from trial order by id").fetchall()
        self.expect(now == trials, f"I1: {len(trials)} trials before, {len(now)} now, or others")
        report = self.json("db", "check", db)
        self.expect(report["sound"], f"tw db check: {report['problems'][:3]}")

    def fail(self, faults, kind):
        """Disks that are full (all writes fail from some call on) or fail once; a program that knows says so, and all goes on when the disk is well again."""
        error, name = (errno.ENOSPC, "full") if kind == "full disk" else (errno.EIO, "broken")
        for fault in range(faults):
            db, log = self.path(f"{name}{fault}.db"), self.path(f"{name}{fault}.log")
            what = self.random.choice(("tune", "import"))
            arguments = self.tune_arguments(db, log) if what == "tune" else ["records", "import", self.path("import.log"), "--db", db]
            p = self.tw(*arguments, check=None, LD_PRELOAD=self.o.failing_io, TW_FAIL_PATH=db, TW_FAIL_AT=str(self.random.randint(1, 120 if what == "tune" else 60)),
                        TW_FAIL_ERRNO=str(error), TW_FAIL_COUNT="0" if kind == "full disk" else "1", TW_FAIL_TORN=str(self.random.randint(0, 1)))
            self.expect(p.returncode in (0, 1, 3) and "A bug" not in p.stderr, f"exit code {p.returncode}: {p.stderr[-400:]}")
            self.expect(p.returncode == 0 or "error:" in p.stderr, f"exit code {p.returncode} and no sentence")
            self.check_processes()
            before = self.rows(db) if os.path.exists(db) else {}
            if what == "tune":
                self.finish_session(db, log)
            else:
                done = self.json("records", "import", self.path("import.log"), "--db", db)
                self.expect(done["already_there"] + done["stored"] == LINES, f"I2: {done}")
            self.check_database(db, before)
        self.check_folders()

    def candidates(self):
        """Measuring workers and a candidate of each that has one: (process, when it began), as /proc shows them one after the other."""
        seen = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
                with open(f"/proc/{pid}/environ", "rb") as f:
                    ours = self.mark.encode() in f.read().split(b"\0")
                if ours and len(words) > 1 and words[0].endswith(b"tw-worker") and words[1] == b"measure":
                    seen[int(pid)] = self.parent_and_start(pid)
            except OSError:
                pass
        found = {}
        for pid, (parent, start) in seen.items():
            if parent in seen:
                found[parent] = (pid, start)
        return found

    def parent_and_start(self, pid):
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (0, 0) if fields[0] in "ZX" else (int(fields[1]), int(fields[19]))

    def lives(self, process):
        try:
            return self.parent_and_start(process[0])[1] == process[1]
        except OSError:
            return False

    def alone(self, rounds):
        """I4: of two programs that tune at once no two candidates run at the same time; and when one is killed, the other goes on."""
        for r in range(rounds):
            first, second = [(self.path(f"both{r}{name}.db"), self.path(f"both{r}{name}.log")) for name in "ab"]
            one, other = self.start(*self.tune_arguments(*first)), self.start(*self.tune_arguments(*second))
            deadline = time.monotonic() + self.random.uniform(0.5, 4)
            while one.poll() is None and time.monotonic() < deadline:
                at_once = list(self.candidates().values())
                # Whoever was seen first and still lives did so while the others were seen.
                self.expect(len(at_once) < 2 or not all(map(self.lives, at_once)), f"I4: candidates {at_once} run at once")
            one.kill()
            one.wait()
            self.expect(other.wait(120) == 0, "a session beside one that was killed failed")
            self.check_processes()
            self.check_database(first[0], {})
            self.expect(len(self.check_database(second[0], {})) >= 24, "a session beside one that was killed lacks trials")

    def run(self):
        self.tw("zoo", "write", "lenet5", "--tiny", "-o", self.model)
        m, f = self.o.moments, self.o.faults
        steps = [("kill -9 of tune", self.tune, m * 2 // 5), ("kill -9 of import", self.import_log, m // 5), ("kill -9 of compile", self.compile, m // 5),
                 ("kill -9 of migration", self.migrate, m - m * 2 // 5 - 2 * (m // 5)), ("full disk", lambda n: self.fail(n, "full disk"), f // 2),
                 ("I/O error", lambda n: self.fail(n, "I/O error"), f - f // 2), ("two at once", self.alone, max(1, m // 40))]
        failed = False
        print(f"seed {self.o.seed}, {self.o.tw}\n{'what':<24}{'moments':>8}{'seconds':>9}  outcome")
        for name, work, count in steps:
            began = time.monotonic()
            try:
                work(count)
                outcome = "all hold"
            except Broken as e:
                failed, outcome = True, str(e)
            print(f"{name:<24}{count:>8}{time.monotonic() - began:>9.1f}  {outcome}", flush=True)
        if failed:
            print(f"The files are in {self.folder}")
        elif not self.o.folder:
            shutil.rmtree(self.folder)
        return 1 if failed else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tw")
    p.add_argument("failing_io")
    p.add_argument("format_7")
    p.add_argument("--moments", type=int, default=200)
    p.add_argument("--faults", type=int, default=40)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--folder")
    return Torture(p.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
