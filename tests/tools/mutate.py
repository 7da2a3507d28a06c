#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the tests can fail: swaps one operator, bound or constant of a source at a time and runs the tests that cover it.

Usage: mutate.py BUILD [--seed N] [--count N] [--minutes M] [--files PATTERN ...] [--log FILE]

A mutant is compiled by itself, whatever the build does, and linked before the libraries of each test program, where its functions take the place of those in the
libraries; nothing of the tree or of the build is changed. Tests run from the one at the source's path to those of the layers above, until one fails. Mutants whose
machine code is that of the source, and those that equivalent_mutants.txt names, do not count. Exit code 1 below 90 % killed.
"""
import argparse
import collections
import fnmatch
import hashlib
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time

import check_mirror
import source_tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = "tests/tools/equivalent_mutants.txt"
GOAL = 0.9
PATIENCE = (4, 20)  # a test may take so many times as long as without the mutation, and so many seconds on top

# Binary operators stand between spaces, which templates, pointers and signs do not.
SWAPS = {" < ": [" <= ", " > "], " <= ": [" < "], " > ": [" >= ", " < "], " >= ": [" > "], " == ": [" != "], " != ": [" == "], " && ": [" || "], " || ": [" && "],
         " + ": [" - "], " - ": [" + "], " * ": [" / "], " / ": [" * "], " % ": [" / "], " += ": [" -= "], " -= ": [" += "],
         "std::max": ["std::min"], "std::min": ["std::max"], "true": ["false"], "false": ["true"]}
SITE = re.compile(r"(?<= )(?:<=|>=|==|!=|&&|\|\||\+=|-=|[<>+\-*/%])(?= )|\bstd::(?:max|min)\b(?=[(<])|\b(?:true|false)\b|(?<![\w.'\"])\d+(?![\w.'\"])")
# Above the layer of a source, those whose tests run through it, nearest first.
ABOVE = {"base": ["ir", "te", "records", "process"], "ir": ["arith", "te", "tir"], "arith": ["tir", "lower", "schedule"], "te": ["graph", "schedule", "lower"],
         "graph": ["frontends", "api"], "schedule": ["lower", "space"], "tir": ["lower", "codegen"], "lower": ["codegen", "space"], "simulate": ["measure", "space"],
         "runtime": ["measure", "api"], "codegen": ["measure", "api"], "records": ["tune", "api"], "process": ["measure"], "measure": ["tune", "api"],
         "space": ["tune", "api"], "cost": ["tune"], "tune": ["api"], "frontends": ["api"], "target": ["codegen", "measure", "space"], "api": []}


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
        line = text.split("\n")[self.line]
        nth = len(re.findall(re.escape(self.found), line[: self.column])) + 1
        return f"{self.path} | {line.strip()} | {self.found} {nth} -> {self.instead}"


def equivalents(root):
    """Lines `path | source line | operator n -> other | reason`: mutants that behave as the source does."""
    path = os.path.join(root, LIST)
    if not os.path.exists(path):
        return {}
    lines = [line for line in source_tree.read(root, LIST).splitlines() if line.strip() and not line.startswith("#")]
    parts = [line.rsplit(" | ", 1) for line in lines]
    assert all(len(p) == 2 and p[1].strip() for p in parts), f"{LIST}: a line without a reason"
    return {p[0].strip(): p[1].strip() for p in parts}


class Build:
    """A build tree: how its files are compiled and its programs linked, and which tests they hold."""

    def __init__(self, folder, scratch):
        self.folder, self.scratch = os.path.abspath(folder), scratch
        with open(os.path.join(self.folder, "compile_commands.json"), encoding="utf-8") as f:
            commands = json.load(f)
        self.flags = {}
        for c in commands:
            layer = re.match(r"(?:.*/)?((?:engine/[^/]+|db|app/cli|app/logs))/CMakeFiles/tw_", c["command"].split(" -o ")[1])
            if layer:
                self.flags.setdefault(layer.group(1), c["command"].split(" -o ")[0])
        shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        self.tests = {t["name"]: t["command"] for t in json.loads(shown)["tests"] if t.get("command")}
        self.times = {}

    def compile(self, path, text, output):
        source = os.path.join(self.scratch, os.path.basename(path))
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        layer = next(l for l in sorted(self.flags, key=len, reverse=True) if path.startswith(l + "/"))
        command = shlex.split(self.flags[layer]) + ["-O1", "-w", "-o", output, "-c", source]
        return subprocess.run(command, cwd=self.folder, capture_output=True).returncode == 0

    def link(self, program, obj, output):
        target = os.path.relpath(program, self.folder)
        command = subprocess.run(["ninja", "-t", "commands", target], cwd=self.folder, capture_output=True, text=True, check=True).stdout.strip().split("\n")[-1]
        words = shlex.split(command.removeprefix(": && ").removesuffix(" && :"))
        at = words.index("-o")
        words[at + 1] = output
        words[at:at] = [obj, "-Wl,--allow-multiple-definition"]
        return subprocess.run(words, cwd=self.folder, capture_output=True).returncode == 0

    def run(self, command, limit):
        try:
            done = subprocess.run(command, cwd=os.path.join(self.folder, "tests"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  timeout=limit, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
            return done.returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def limit(self, name):
        """Seconds that a test may take; None if it fails without any mutation."""
        if name not in self.times:
            begin = time.monotonic()
            passed = self.run(self.tests[name], 600)
            self.times[name] = PATIENCE[0] * (time.monotonic() - begin) + PATIENCE[1] if passed else None
        return self.times[name]


def covering(path, root, tests):
    """Names of tests, nearest first: at the source's path, those that tested_elsewhere.txt names, its folder's, its layer's, those of the layers above."""
    stem = path[: -len(".cpp")]
    wanted = [stem + "_test"]
    listed = [f for f in check_mirror.lines(root, source_tree.files(root)) if len(f) == 3 and check_mirror.fits(path, f[0])]
    wanted += [f[1] for f in sorted(listed, key=lambda f: -len(f[0]))]
    folder = os.path.dirname(path)
    layer = folder.split("/")[1] if folder.startswith("engine/") else folder
    order = [t for t in wanted if t in tests]
    order += [t for t in tests if os.path.dirname(t) == folder]
    for name in [layer] + ABOVE.get(layer, []):
        prefix = f"engine/{name}/" if folder.startswith("engine/") else f"{name}/"
        order += [t for t in tests if t.startswith(prefix)]
    return list(dict.fromkeys(order))


def killer(build, mutant, obj, root):
    """The name of the test that a mutant fails, or None."""
    linked = {}
    for name in covering(mutant.path, root, build.tests):
        command = build.tests[name]
        program = command[0]
        if not program.startswith(os.path.join(build.folder, "tests")) or not os.path.exists(program):
            continue  # guards and programs as a whole
        limit = build.limit(name)
        if limit is None:
            continue
        if program not in linked:
            linked[program] = os.path.join(build.scratch, os.path.basename(program))
            if not build.link(program, obj, linked[program]):
                return f"{name} (does not link)"
        if not build.run([linked[program], *command[1:]], limit):
            return name
    return None


def code_of(obj):
    """What a compiler made, without names of files and places."""
    stripped = obj + ".stripped"
    subprocess.run(["objcopy", "--strip-all", "--remove-section=.comment", "--remove-section=.note*", obj, stripped], check=True)
    with open(stripped, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def choose(root, patterns, seed):
    """All mutants of the sources in a random order that depends on the seed alone."""
    found = []
    for path in source_tree.files(root):
        if path.endswith(".cpp") and path.startswith(("engine/", "db/")) and any(fnmatch.fnmatch(path, p) for p in patterns):
            text = source_tree.read(root, path)
            found += [Mutant(path, *s) for s in sites(text)]
    random.Random(seed).shuffle(found)
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("build")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--minutes", type=float, default=1e9)
    p.add_argument("--files", nargs="*", default=["*"])
    p.add_argument("--log", help="lines of JSON, one a mutant; those that it holds already are not run again")
    o = p.parse_args()
    end = time.monotonic() + 60 * o.minutes
    named, counts, survivors, log = equivalents(ROOT), collections.Counter(), [], {}
    if o.log and os.path.exists(o.log):
        with open(o.log, encoding="utf-8") as f:
            log = {r["mutant"]: r["result"] for r in map(json.loads, f)}
    with tempfile.TemporaryDirectory(prefix="mutate-") as scratch:
        build, original = Build(o.build, scratch), {}
        for m in choose(ROOT, o.files, o.seed):
            if counts["killed"] + counts["survived"] >= o.count or time.monotonic() > end:
                break
            text = source_tree.read(ROOT, m.path)
            name = m.text(text)
            result = "named equivalent" if name in named else log.get(name)
            if result is None:
                obj = os.path.join(scratch, "mutant.o")
                if m.path not in original:
                    original[m.path] = code_of(obj) if build.compile(m.path, text, obj) else None
                if original[m.path] is None:
                    result = "not compiled alone"
                elif not build.compile(m.path, m.source(text), obj):
                    result = "refused by the compiler"
                elif code_of(obj) == original[m.path]:
                    result = "same code"
                else:
                    test = killer(build, m, obj, ROOT)
                    result = f"killed by {test}" if test else "survived"
                if o.log:
                    with open(o.log, "a", encoding="utf-8") as f:
                        f.write(json.dumps({"mutant": name, "result": result}) + "\n")
            counts[result.split(" by ")[0]] += 1
            if result == "survived":
                survivors.append(f"{m.path}:{m.line + 1}: {name.split(' | ', 1)[1]}")
            print(f"{counts['killed'] + counts['survived']:4} {result}: {m.path}:{m.line + 1} {m.found} -> {m.instead}", flush=True)
    run = counts["killed"] + counts["survived"]
    print("\n" + "\n".join(["Survivors:"] + survivors if survivors else ["No survivors"]))
    print(", ".join(f"{n} {what}" for what, n in counts.most_common()))
    print(f"{counts['killed']} of {run} mutants killed" + (f", {100 * counts['killed'] / run:.1f} %" if run else ""))
    sys.exit(0 if run and counts["killed"] >= GOAL * run else 1)


if __name__ == "__main__":
    main()
