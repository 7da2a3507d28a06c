#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the recipes of ARCHITECTURE.md: every row counts the files that it names, and all of them are there. Two recipes are followed in a copy of the tree:
exactly their files change, the guards are content, and the new row is in its table and works.

Usage: recipes_test.py ROOT BUILD MOC
"""
import concurrent.futures
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import unittest

import check_layers
import check_licences
import check_mirror
import check_sizes
import source_tree

ROOT, BUILD, MOC = sys.argv[1:4]
SCRATCH = os.path.join(BUILD, "recipes.d")
ROW = re.compile(r"^\| (?P<what>[^|]+) \| (?P<count>\d+) \| (?P<files>[^|]+) \|$", re.M)
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"

TEMPLATE = SPDX + """#include "engine/space/templates/templates.h"

namespace tw::space::cpu {

namespace {

bool by_recipe_matches(const te::Dag&, const Target&) { return true; }
ConfigSpace by_recipe_space(const te::Dag&, const Target&) {
  ConfigSpace s;
  s.define_knob("turns", {1, 2, 4});
  return s;
}
Expected<schedule::Schedule> by_recipe_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity&) { return rule_schedule(dag, target, {}); }
ConfigEntity by_recipe_fallback(const te::Dag& dag, const Target& target) { return by_recipe_space(dag, target).get(0).value(); }

}  // namespace

Template by_recipe() { return {"by_recipe.cpu", by_recipe_matches, by_recipe_space, by_recipe_apply, by_recipe_fallback, "Follows a recipe.", "This test"}; }

}  // namespace tw::space::cpu
"""
TEMPLATE_TEST = SPDX + """#include <QtTest>

#include "engine/space/template.h"

using namespace tw;

class ByRecipeTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void isInTheTable() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {4, 8}, kFloat32);
    const te::DagPtr dag = std::move(b).finish({b.compute("y", {4, 8}, [&](const te::Indices& i) { return x(i[0], i[1]) + x(i[0], i[1]); })});
    const Target target = parse_target("llvm -mcpu=znver4").value();
    const space::Template* t = space::find_template(*dag, target, "by_recipe.cpu");
    QVERIFY(t);
    QCOMPARE(t->space(*dag, target).size(), int64_t{3});
    QVERIFY(t->apply(dag, target, t->fallback(*dag, target)).has_value());
  }
};

QTEST_APPLESS_MAIN(ByRecipeTest)
#include "by_recipe_test.moc"
"""
PASS_HEADER = SPDX + """#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

Expected<Graph> by_recipe(const Graph& g, const Target& target);

}  // namespace tw::graph
"""
PASS = SPDX + """#include "engine/graph/passes/by_recipe.h"

namespace tw::graph {

Expected<Graph> by_recipe(const Graph& g, const Target&) { return g; }

}  // namespace tw::graph
"""
PASS_TEST = SPDX + """#include "engine/graph/passes/by_recipe.h"

#include <QtTest>

using namespace tw;

class ByRecipeTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void runsInItsPlace() {
    std::vector<std::string> names;
    graph::PassHooks hooks;
    hooks.after = [&](const graph::Pass& p, const graph::Graph&, const graph::Graph&, double, bool) { names.push_back(p.name); };
    graph::GraphBuilder b{"network"};
    b.output(b.input("x", {kFloat32, {2, 3}}));
    QVERIFY(graph::run_passes(std::move(b).finish(), Target{}, hooks).has_value());
    QCOMPARE(std::find(names.begin(), names.end(), "by_recipe") - names.begin(), 2);
  }
};

QTEST_APPLESS_MAIN(ByRecipeTest)
#include "by_recipe_test.moc"
"""


def after(text, line, more):
    """The text with more lines behind the one that holds `line`."""
    lines = text.split("\n")
    at = next(k for k, l in enumerate(lines) if line in l)
    return "\n".join(lines[:at + 1] + [more] + lines[at + 1:])


def pass_row(text):
    text = text.replace('#include "engine/graph/passes/canonicalize.h"', '#include "engine/graph/passes/by_recipe.h"\n#include "engine/graph/passes/canonicalize.h"')
    return text.replace('      Pass{"simplify_inference"', '      Pass{"by_recipe", by_recipe, "Follows a recipe.", "This test"},\n      Pass{"simplify_inference"')


# Row of the table, name, what becomes of each file, sources beside the test that must be compiled, program of the build with the same libraries.
TEMPLATE_RECIPE = ("template", "by_recipe", {
    "engine/space/templates/cpu/by_recipe.cpp": lambda _: TEMPLATE,
    "engine/space/templates/templates.h": lambda t: after(t, "#define TW_CPU_TEMPLATES(X)", "  X(by_recipe) \\"),
    "tests/engine/space/templates/cpu/by_recipe_test.cpp": lambda _: TEMPLATE_TEST,
}, ["engine/space/templates/cpu/by_recipe.cpp", "engine/space/templates_table.cpp"], "engine/space")
PASS_RECIPE = ("graph pass", "by_recipe", {
    "engine/graph/passes/by_recipe.h": lambda _: PASS_HEADER,
    "engine/graph/passes/by_recipe.cpp": lambda _: PASS,
    "engine/graph/pipeline.cpp": pass_row,
    "tests/engine/graph/passes/by_recipe_test.cpp": lambda _: PASS_TEST,
}, ["engine/graph/passes/by_recipe.cpp", "engine/graph/pipeline.cpp"], "engine/graph")


def rows():
    """{what is added: the files, with NAME for its name}"""
    text = source_tree.read(ROOT, "ARCHITECTURE.md")
    section = text[text.index("## Recipes"):].split("\n## ")[0]
    return {m["what"]: (int(m["count"]), re.findall(r"`([^`]+)`", m["files"])) for m in ROW.finditer(section)}


def compile_command(layer, test):
    """How the build compiles a source of a layer, or of its tests, without the source, the output and what is read ahead."""
    folder = f"tests/CMakeFiles/t_{layer.replace('/', '_')}.dir" if test else f"{layer}/CMakeFiles/tw_{os.path.basename(layer)}.dir"
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as f:
        entry = next(e for e in json.load(f) if folder in e["command"])
    words, out = shlex.split(entry["command"]), []
    skip = {"-o", "-c", "-MT", "-MF", "-include"}
    k = 0
    while k < len(words):
        if words[k] in skip:
            k += 2
            continue
        if words[k] not in ("-MD", "-Winvalid-pch"):
            out.append("-I" + SCRATCH if words[k] == "-I" + ROOT else words[k])
        k += 1
    return out


def link_command(program):
    """How the build links a program, without its own objects and its output."""
    commands = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", program], capture_output=True, text=True, check=True).stdout.strip().split("\n")
    line = commands[-1].removeprefix(": && ").split(" && :")[0]
    words = shlex.split(line)
    at = words.index("-o")
    return [w for w in words[:at] + words[at + 2:] if not w.endswith(".o")]


class Recipes(unittest.TestCase):
    def test_rows(self):
        paths = source_tree.files(ROOT)
        table = rows()
        self.assertGreaterEqual(len(table), 11)
        for what, (count, files) in table.items():
            self.assertEqual(count, len(files), f"{what}: the row names {len(files)} files")
            for name in files:
                self.assertTrue(fnmatch.filter(paths, name.replace("NAME", "*")), f"{what}: there is no file '{name}'")

    def follow(self, recipe):
        what, name, changes, sources, layer = recipe
        self.assertEqual(sorted(changes), sorted(f.replace("NAME", name) for f in rows()[what][1]), f"{what}: other files than its row names")
        shutil.rmtree(SCRATCH, ignore_errors=True)
        for path in source_tree.files(ROOT):
            if path.startswith(("engine/", "tests/engine/", "tests/tools/", "LICENSE")) and os.path.getsize(os.path.join(ROOT, path)) < 1 << 20:
                os.makedirs(os.path.join(SCRATCH, os.path.dirname(path)), exist_ok=True)
                shutil.copyfile(os.path.join(ROOT, path), os.path.join(SCRATCH, path))
        for path, change in changes.items():
            there = os.path.join(SCRATCH, path)
            before = source_tree.read(SCRATCH, path) if os.path.exists(there) else ""
            text = change(before)
            self.assertNotEqual(text, before, path)
            with open(there, "w", encoding="utf-8") as f:
                f.write(text)
        for guard in (check_layers, check_licences, check_sizes):
            self.assertEqual([p for p in guard.check(SCRATCH)[0] if name in p], [])
        self.assertEqual([p for p in check_mirror.check(SCRATCH)[0] if name in p], [])

        test = next(p for p in changes if p.startswith("tests/"))
        self.ran([MOC, os.path.join(SCRATCH, test), "-o", os.path.join(SCRATCH, f"{name}_test.moc")])
        objects = [os.path.join(SCRATCH, os.path.basename(path) + ".o") for path in sources + [test]]
        commands = [compile_command(layer, path == test) + ["-I" + SCRATCH, "-c", os.path.join(SCRATCH, path), "-o", to]
                    for path, to in zip(sources + [test], objects)]
        with concurrent.futures.ThreadPoolExecutor(2) as two:
            list(two.map(self.ran, commands))
        # What was compiled here stands before what the libraries still hold.
        program = os.path.join(SCRATCH, name)
        command = link_command(f"tests/t_{layer.replace('/', '_')}")
        self.ran(command[:1] + objects + ["-Wl,--allow-multiple-definition", "-o", program] + command[1:])
        self.ran([program])

    def ran(self, command):
        done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_template(self):
        self.follow(TEMPLATE_RECIPE)

    def test_graph_pass(self):
        self.follow(PASS_RECIPE)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
