#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the tests can fail: swaps one operator, bound or constant of a source at a time and runs the tests that cover it.

Usage: mutate.py BUILD [--seed N] [--count N] [--jobs N] [--minutes M] [--seconds S] [--files PATTERN ...] [--log FILE] [--keep FOLDER]

Each source is compiled by itself, once, with all of its mutants in it, one of which the environment turns on, and linked before the libraries of the test programs and of
the programs that these start, where its functions take the place of those in the libraries; nothing of the tree or of the build is changed. All tests run once without
a mutant, which tells how long each takes and to which mutants it comes. Then each mutant runs the tests that come to it, the one at its source's path first and the
others cheapest first, until one fails. What cannot be switched while a program runs (constants of the compiler, && and ||) is compiled by itself. Mutants whose
machine code is that of the source, and those that equivalent_mutants.txt names, do not count. The order of the mutants depends on the seed and on each one's line
alone, so that a change of the sources changes few of them. Exit code 1 below 90 % killed.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import fnmatch
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

import check_mirror
import source_tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = "tests/tools/equivalent_mutants.txt"
GOAL = 0.9
PATIENCE = (4, 20)  # a test may take so many times as long as without the mutation, and so many seconds on top; twice that when it is repeated
MEMORY = 12 << 30  # bytes of address space

# Binary operators stand between spaces, which templates, pointers and signs do not.
SWAPS = {" < ": [" <= ", " > "], " <= ": [" < "], " > ": [" >= ", " < "], " >= ": [" > "], " == ": [" != "], " != ": [" == "], " && ": [" || "], " || ": [" && "],
         " + ": [" - "], " - ": [" + "], " * ": [" / "], " / ": [" * "], " % ": [" / "], " += ": [" -= "], " -= ": [" += "],
         "std::max": ["std::min"], "std::min": ["std::max"], "true": ["false"], "false": ["true"]}
SITE = re.compile(r"(?<= )(?:<=|>=|==|!=|&&|\|\||\+=|-=|[<>+\-*/%])(?= )|\bstd::(?:max|min)\b(?=[(<])|\b(?:true|false)\b|(?<![\w.'\"])\d+(?![\w.'\"])")


def code_lines(text):
    """Line numbers and lines without comments, texts, preprocessor lines and what only the compiler checks."""
    in_comment = in_raw = False
    for number, line in enumerate(text.split("\n")):
        bare = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'', lambda m: "\0" * len(m.group()), line)
        if in_raw or in_comment:
            in_raw = in_raw and ')"' not in line
            in_comment = in_comment and "*/" not in line
            continue
        in_raw = 'R"' in line and ')"' not in line
        in_comment = "/*" in bare and "*/" not in bare
        bare = bare.split("//")[0]
        if bare.lstrip().startswith("#") or "static_assert" in bare or "template <" in bare or "TW_ASSERT" in bare or in_raw:
            continue
        yield number, bare


def sites(text):
    """(line, column, found, instead) of all mutants of a text."""
    out = []
    for number, line in code_lines(text):
        for m in SITE.finditer(line):
            found = m.group()
            if found.isdigit():
                swaps = [str(int(found) + 1)]
            else:
                swaps = [s.strip() for s in SWAPS.get(found, SWAPS.get(f" {found} ", []))]
            out += [(number, m.start(), found, instead) for instead in swaps]
    return out


class Mutant(collections.namedtuple("Mutant", "path line column found instead")):
    def source(self, text):
        lines = text.split("\n")
        old = lines[self.line]
        lines[self.line] = old[: self.column] + self.instead + old[self.column + len(self.found):]
        return "\n".join(lines)

    def text(self, text):
        lines = text.split("\n")
        line = lines[self.line]
        nth = len(re.findall(re.escape(self.found), line[: self.column])) + 1
        before = sum(other.strip() == line.strip() for other in lines[: self.line])  # equal lines are told apart by their number
        return f"{self.path} | {line.strip()}{f' ({before + 1})' if before else ''} | {self.found} {nth} -> {self.instead}"


def equivalents(root):
    """Lines `path | source line | operator n -> other | reason`: mutants that behave as the source does."""
    path = os.path.join(root, LIST)
    if not os.path.exists(path):
        return {}
    lines = [line for line in source_tree.read(root, LIST).splitlines() if line.strip() and not line.startswith("#")]
    parts = [line.rsplit(" | ", 1) for line in lines]
    assert all(len(p) == 2 and p[1].strip() for p in parts), f"{LIST}: a line without a reason"
    return {p[0].strip(): p[1].strip() for p in parts}


# A site stands between both operands, `a < Site < b`, where it is parsed as the operator is and knows the other one by its number.
SWITCH = """#include <algorithm>
#include <initializer_list>
extern "C" volatile char* mutant_seen;
extern "C" int mutant_on;
namespace mutants {
inline bool on(int n) { mutant_seen[n] = 1; return mutant_on == n; }
template <int N, int To> struct Site {};
template <int N, int To, class T> struct Held { T&& v; };
template <int N, class T> T pick(T a, T b) { return on(N) ? b : a; }
template <int N> struct Seen {};
template <int N, class T> T&& operator&(T&& v, Seen<N>) { on(N); return static_cast<T&&>(v); }
template <int N> struct Ends {
  template <class T> static T max(const T& a, const T& b) { return on(N) ? std::min(a, b) : std::max(a, b); }
  template <class T> static T min(const T& a, const T& b) { return on(N) ? std::max(a, b) : std::min(a, b); }
  template <class T> static T max(std::initializer_list<T> l) { return on(N) ? std::min(l) : std::max(l); }
  template <class T> static T min(std::initializer_list<T> l) { return on(N) ? std::max(l) : std::min(l); }
};
"""
INFIX = [s.strip() for s in SWAPS if s.startswith(" ") and s.strip() not in ("&&", "||")]
for _op in INFIX:
    for _to in (s.strip() for s in SWAPS[f" {_op} "]):
        _n = INFIX.index(_to)
        if _op.endswith("=") and _op[0] in "+-":
            SWITCH += (f"template <int N, class B> Held<N, {_n}, B> operator{_op}(Site<N, {_n}>, B&& b) {{ return {{static_cast<B&&>(b)}}; }}\n"
                       f"template <int N, class A, class B> A& operator{_op}(A& a, Held<N, {_n}, B> b) {{ if (on(N)) a {_to} b.v; else a {_op} b.v; return a; }}\n")
        else:
            SWITCH += (f"template <int N, class A> Held<N, {_n}, A> operator{_op}(A&& a, Site<N, {_n}>) {{ return {{static_cast<A&&>(a)}}; }}\n"
                       f"template <int N, class A, class B> auto operator{_op}(Held<N, {_n}, A> a, B&& b) {{ return on(N) ? a.v {_to} b : a.v {_op} b; }}\n")
SWITCH += "}\n#line 1\n"
SWITCHES = 1 << 16
MAIN = f"""#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
static char nowhere[{SWITCHES}];
volatile char* mutant_seen = nowhere;
int mutant_on = -1;
__attribute__((constructor(101))) static void start_mutants(void) {{
  const char *path = getenv("MUTANTS_SEEN"), *on = getenv("MUTANT_ON");
  void* map = path ? mmap(0, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, open(path, O_RDWR | O_CLOEXEC), 0) : MAP_FAILED;
  if (map != MAP_FAILED) mutant_seen = map;
  if (on) mutant_on = atoi(on);
}}
"""


def switched(text, mutants):
    """The text with all of these (number, mutant) in it; && and || are only seen, not swapped, as what is on their right may have to stay undone."""
    lines = text.split("\n")
    for number, m in sorted(mutants, key=lambda x: (x[1].line, -x[1].column)):
        old = lines[m.line]
        before, after = old[: m.column], old[m.column + len(m.found):]
        if m.found in ("&&", "||"):
            new = f"& mutants::Seen<{number}>{{}} {m.found}"
        elif m.found.isalnum():
            new = f"mutants::pick<{number}>({m.found}, {m.instead})"
        elif m.found.startswith("std::"):
            new = m.found.replace("std", f"mutants::Ends<{number}>")
        else:
            new = f"{m.found} mutants::Site<{number}, {INFIX.index(m.instead)}>{{}} {m.found}"
        lines[m.line] = before + new + after
    return SWITCH + "\n".join(lines)


def object_name(path):
    return path.replace("/", "-") + ".o"


class Build:
    """A build tree: how its files are compiled and its programs linked, and which tests they hold."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        with open(os.path.join(self.folder, "compile_commands.json"), encoding="utf-8") as f:
            commands = json.load(f)
        self.flags, self.mains = {}, set()
        for c in commands:
            if "/CMakeFiles/tw_" not in c["command"].split(" -o ")[1]:
                self.mains.add(os.path.basename(c["file"]))
            layer = re.match(r"(?:.*/)?((?:engine/[^/]+|db|app/cli|app/logs))/CMakeFiles/tw_", c["command"].split(" -o ")[1])
            if layer:
                self.flags.setdefault(layer.group(1), c["command"].split(" -o ")[0])
        shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        self.tests = {t["name"]: t["command"] for t in json.loads(shown)["tests"] if t.get("command")}
        self.times, self.links = {}, {}

    def compile(self, path, text, output):
        source = os.path.join(os.path.dirname(output), os.path.basename(path))
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        layer = next(l for l in sorted(self.flags, key=len, reverse=True) if path.startswith(l + "/"))
        command = shlex.split(self.flags[layer]) + ["-O1", "-w", "-Wno-narrowing", "-D_GLIBCXX_ASSERTIONS", "-o", output, "-c", source]
        return subprocess.run(command, cwd=self.folder, capture_output=True).returncode == 0

    def link(self, program, objects, output):
        if program not in self.links:
            target = os.path.relpath(program, self.folder)
            commands = subprocess.run(["ninja", "-t", "commands", target], cwd=self.folder, capture_output=True, text=True, check=True).stdout
            self.links[program] = shlex.split(commands.strip().split("\n")[-1].removeprefix(": && ").removesuffix(" && :"))
        words = list(self.links[program])
        for obj in objects:
            source = os.path.basename(obj)[: -len(".o")]
            layer, name = source.split("-")[:-1], source.split("-")[-1]
            own = [i for i, w in enumerate(words) if w.endswith(f"/{name}.o") and not os.path.isabs(w)]
            if own:
                words[own[0]] = obj  # what is no part of a library
            elif not layer or name not in self.mains and any(w.startswith("/".join(layer[:2]) + "/libtw_") for w in words):
                words[words.index("-o"):words.index("-o")] = [obj]
        at = words.index("-o")
        words[at + 1] = output
        words[at:at] = ["-Wl,--allow-multiple-definition"]
        return subprocess.run(words, cwd=self.folder, capture_output=True).returncode == 0

    def run(self, command, limit, scratch, env):
        """Whether a test passes, None if it takes too long; the first function that fails is enough."""
        os.makedirs(os.path.join(scratch, "tmp"), exist_ok=True)
        env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": os.path.join(scratch, "tmp"), **env}
        p = subprocess.Popen(["prlimit", f"--as={MEMORY}", "--core=0", *command], cwd=os.path.join(self.folder, "tests"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, env=env, process_group=0)
        late, failed = threading.Event(), False

        def end():
            late.set()
            os.killpg(p.pid, signal.SIGKILL)

        timer = threading.Timer(limit, end)
        timer.start()
        for line in p.stdout:
            if line.startswith((b"FAIL!", b"XPASS")):
                failed = True
                os.killpg(p.pid, signal.SIGKILL)
                break
        code = p.wait()
        timer.cancel()
        p.stdout.close()
        return None if late.is_set() else code == 0 and not failed


class Linked:
    """The programs of a build with some objects in the place of those of the libraries, in a folder, where they stay as long as those of the build do."""

    def __init__(self, build, objects, scratch):
        self.build, self.objects, self.scratch, self.lock, self.done = build, objects, scratch, threading.Lock(), {}

    def linked(self, program, out):
        """Whether `out` is the program with the objects."""
        if os.path.exists(out) and os.path.getmtime(out) > max(map(os.path.getmtime, [program, *self.objects])):
            return True
        if not self.build.link(program, self.objects, out + ".new"):
            return False
        with open(out + ".new", "rb") as f:
            code = f.read()
        # Where it says in which folder other programs are, it names that of those with the same objects, with as many letters.
        named, ours = os.path.join(self.build.folder, "bin", "").encode(), os.path.join(self.scratch, "bin", "").encode()
        if named in code and len(ours) <= len(named):
            self.beside()
            with open(out + ".new", "wb") as f:
                f.write(code.replace(named, ours.rjust(len(named), b"/")))
        os.rename(out + ".new", out)
        return True

    def beside(self):
        folder, built = os.path.join(self.scratch, "bin"), os.path.join(self.build.folder, "bin")
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(built):
            ours, theirs = os.path.join(folder, name), os.path.join(built, name)
            if (name not in ("tw", "tw-worker") or not self.linked(theirs, ours)) and not os.path.lexists(ours):
                os.symlink(theirs, ours)

    def program(self, path):
        """Where the program is, None if it does not link."""
        with self.lock:
            if path not in self.done:
                out = os.path.join(self.scratch, os.path.basename(path))
                self.done[path] = out if self.linked(path, out) else None
            return self.done[path]


def runs(build, name):
    """The program of a test if it is one of the build's test programs: guards and `tw` as a whole are not."""
    program = build.tests[name][0]
    return program if program.startswith(os.path.join(build.folder, "tests")) and os.path.exists(program) else None


def nearest(path, root, tests):
    """Names of the tests that are for a source: the one at its path, and those that tested_elsewhere.txt names."""
    listed = [f for f in check_mirror.lines(root, source_tree.files(root)) if len(f) == 3 and check_mirror.fits(path, f[0])]
    return [t for t in [path[: -len(".cpp")] + "_test"] + [f[1] for f in sorted(listed, key=lambda f: -len(f[0]))] if t in tests]


class Switches:
    """Programs with many mutants in them, in a folder: which number switches which on, which tests come to which, and how long each test takes.

    Tests that fail without any mutant have no time. Kept from run to run as long as the mutants are the same."""

    def __init__(self, build, root, folder, jobs, seconds):
        self.build, self.root, self.folder, self.jobs, self.seconds = build, root, os.path.abspath(folder), jobs, seconds
        self.numbers, self.alone, self.times, self.failing, self.reached, self.linked = {}, set(), {}, set(), {}, None

    def prepare(self, named):
        """Compiles, links and runs all tests once. `named`: names and mutants."""
        state, objects, fails = os.path.join(self.folder, "state.json"), [], set()
        self.numbers = {name: n for n, (name, _) in enumerate(named)}
        if os.path.exists(state):
            with open(state, encoding="utf-8") as f:
                kept = json.load(f)
            if kept["numbers"] == self.numbers:
                objects, self.alone, self.times, self.failing, self.reached = kept["objects"], set(kept["alone"]), kept["times"], set(kept["failing"]), kept["reached"]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            if not objects:
                objects = [os.path.join(self.folder, "mutants.o")]
                subprocess.run(["cc", "-O1", "-x", "c", "-c", "-", "-o", objects[0]], input=MAIN.encode(), check=True)
                by_path = collections.defaultdict(list)
                for name, m in named:
                    by_path[m.path].append((self.numbers[name], m))
                compiled = list(pool.map(self.compiled, by_path.items()))
                objects += [o for o, _ in compiled if o]
                fails = {n for _, numbers in compiled for n in numbers}
                self.alone = {name for name, m in named if self.numbers[name] in fails or m.found in ("&&", "||")}
                self.reached = {name: None if n in fails else [] for name, n in self.numbers.items()}
            self.linked = Linked(self.build, objects, self.folder)
            tests = [t for t in self.build.tests if runs(self.build, t) and t not in self.times and t not in self.failing]
            for test, bits in zip(tests, pool.map(self.seen, tests)):
                for name, n in self.numbers.items():
                    if bits[n] and self.reached[name] is not None:
                        self.reached[name].append(test)
        with open(state, "w", encoding="utf-8") as f:
            json.dump({"numbers": self.numbers, "alone": sorted(self.alone), "objects": objects, "times": self.times, "failing": sorted(self.failing), "reached": self.reached}, f, indent=0)

    def compiled(self, item):
        """The object of a source with its mutants, and the numbers of those that must be compiled alone."""
        path, here = item
        text, folder = source_tree.read(self.root, path), os.path.join(self.folder, path.replace("/", "-"))
        os.makedirs(folder, exist_ok=True)
        obj, source = os.path.join(folder, object_name(path)), os.path.join(folder, os.path.basename(path))
        if os.path.exists(obj) and os.path.getmtime(obj) > os.path.getmtime(source):  # of a run that was cut off
            with open(source, encoding="utf-8") as f:
                if f.read() == switched(text, here):
                    return obj, []
        if self.build.compile(path, switched(text, here), obj):
            return obj, []
        good = [x for x in here if self.build.compile(path, switched(text, [x]), obj)]
        if good and self.build.compile(path, switched(text, good), obj):
            return obj, [n for n, m in here if (n, m) not in good]
        return None, [n for n, _ in here]

    def seen(self, name):
        """The bits of the mutants that a test comes to."""
        scratch = os.path.join(self.folder, name.replace("/", "-") + ".d")
        os.makedirs(scratch, exist_ok=True)
        bits = os.path.join(scratch, "seen")
        with open(bits, "wb") as f:
            f.write(bytes(SWITCHES))
        program = self.linked.program(runs(self.build, name))
        assert program, f"{name} does not link"
        begin = time.monotonic()
        if self.build.run([program, *self.build.tests[name][1:]], 900, scratch, {"MUTANTS_SEEN": bits}):
            self.times[name] = time.monotonic() - begin
        else:
            self.failing.add(name)
            print(f"{name} fails without a mutant", flush=True)
        with open(bits, "rb") as f:
            return f.read() if name in self.times else bytes(SWITCHES)

    def order(self, m, name):
        """The tests to run for a mutant: those for the source whatever was seen, as they may be newer, then the cheapest ones that come to it."""
        near = nearest(m.path, self.root, self.build.tests)
        reached = self.reached.get(name)
        others = [t for t in (self.times if reached is None else reached) if t in self.build.tests]
        return near + sorted((t for t in others if t not in near), key=lambda t: self.times.get(t, 0))

    def judge(self, m, name):
        """What becomes of a mutant."""
        with tempfile.TemporaryDirectory(prefix="mut", ignore_cleanup_errors=True) as scratch:
            text, obj, original = source_tree.read(self.root, m.path), os.path.join(scratch, object_name(m.path)), os.path.join(scratch, "original.o")
            order, test = self.order(m, name), None
            alone = name in self.alone or name not in self.numbers
            if alone:
                if not self.build.compile(m.path, m.source(text), obj):
                    return "refused by the compiler" if self.build.compile(m.path, text, original) else "not compiled alone"
                linked, env = Linked(self.build, [obj], scratch), {}
            else:
                linked, env = self.linked, {"MUTANT_ON": str(self.numbers[name])}
                test = self.killer(linked, order[:1], scratch, env)
                if not test and not self.build.compile(m.path, m.source(text), obj):
                    return "refused by the compiler"
            if not test and self.build.compile(m.path, text, original) and code_of(obj) == code_of(original):
                return "same code"
            test = test or self.killer(linked, order if alone else order[1:], scratch, env)
        return f"killed by {test}" if test else "survived" if self.reached.get(name) != [] else "survived, as no test comes there"

    def killer(self, linked, order, scratch, env):
        """The name of the test that a mutant fails, or None."""
        spent = 0
        for name in order:
            program = runs(self.build, name)
            if not program:
                continue  # a guard, or a program as a whole
            if name not in self.times or spent > self.seconds:
                continue
            spent += self.times[name]
            if not linked.program(program):
                return f"{name} (does not link)"
            command, limit = [linked.program(program), *self.build.tests[name][1:]], PATIENCE[0] * self.times[name] + PATIENCE[1]
            passed = self.build.run(command, limit, scratch, env)
            if passed is None:
                passed = self.build.run(command, 2 * limit, scratch, env)
            if not passed:
                return name + (" (too slow)" if passed is None else "")
        return None


def code_of(obj):
    """What a compiler made, without names of files and places."""
    stripped = obj + ".stripped"
    subprocess.run(["objcopy", "--strip-all", "--remove-section=.comment", "--remove-section=.note*", obj, stripped], check=True)
    with open(stripped, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def choose(root, patterns, seed):
    """All mutants of the sources and their names, in an order that depends on the seed and the names alone."""
    found = {}
    for path in source_tree.files(root):
        if path.endswith(".cpp") and path.startswith(("engine/", "db/")) and any(fnmatch.fnmatch(path, p) for p in patterns):
            text = source_tree.read(root, path)
            for s in sites(text):
                m = Mutant(path, *s)
                found[m.text(text)] = m
    return sorted(found.items(), key=lambda item: hashlib.sha256(f"{seed} {item[0]}".encode()).digest())


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("build")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    p.add_argument("--minutes", type=float, default=1e9, help="no mutant is begun after these")
    p.add_argument("--seconds", type=float, default=1e9, help="of tests, after which a mutant counts as a survivor")
    p.add_argument("--files", nargs="*", default=["*"])
    p.add_argument("--log", help="lines of JSON, one a mutant; those that it holds already are not run again")
    p.add_argument("--keep", help="a folder for programs with mutants in them, which later runs use again")
    o = p.parse_args()
    end = time.monotonic() + 60 * o.minutes
    named, counts, survivors, log = equivalents(ROOT), collections.Counter(), [], {}
    if o.log and os.path.exists(o.log):
        with open(o.log, encoding="utf-8") as f:
            log = {r["mutant"]: r["result"] for r in map(json.loads, f)}
    chosen = choose(ROOT, o.files, o.seed)
    with contextlib.ExitStack() as stack:
        folder = o.keep or stack.enter_context(tempfile.TemporaryDirectory(prefix="mut", ignore_cleanup_errors=True))
        os.makedirs(folder, exist_ok=True)
        switches = Switches(Build(o.build), ROOT, folder, o.jobs, o.seconds)
        if any(name not in named and name not in log for name, _ in chosen[: o.count]):
            switches.prepare(chosen[: o.count * 5 // 4])

        def result(name, m):
            if name in named:
                return "named equivalent"
            if name not in log:
                if time.monotonic() > end:
                    return None
                log[name] = switches.judge(m, name)
                if o.log:
                    with open(o.log, "a", encoding="utf-8") as f:
                        f.write(json.dumps({"mutant": name, "result": log[name]}) + "\n")
            return log[name]

        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(o.jobs))
        waiting, rest = collections.deque(), iter(chosen)
        while counts["killed"] + counts["survived"] < o.count:
            while len(waiting) < 4 * o.jobs and (item := next(rest, None)):
                waiting.append((*item, pool.submit(result, *item)))
            if not waiting:
                break
            name, m, done = waiting.popleft()
            what = done.result()
            if what is None:
                break
            counts[re.split(" by |, as ", what)[0]] += 1
            if what.startswith("survived"):
                survivors.append(f"{m.path}:{m.line + 1}: {name.split(' | ', 1)[1]}{what.removeprefix('survived')}")
            print(f"{counts['killed'] + counts['survived']:4} {what}: {m.path}:{m.line + 1} {m.found} -> {m.instead}", flush=True)
        for _, _, done in waiting:
            done.cancel()
    run = counts["killed"] + counts["survived"]
    print("\n" + "\n".join(["Survivors:"] + survivors if survivors else ["No survivors"]))
    print(", ".join(f"{n} {what}" for what, n in counts.most_common()))
    print(f"{counts['killed']} of {run} mutants killed" + (f", {100 * counts['killed'] / run:.1f} %" if run else ""))
    sys.exit(0 if run and counts["killed"] >= GOAL * run else 1)


if __name__ == "__main__":
    main()
