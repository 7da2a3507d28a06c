#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Python files of the tree take from each other is there: scripts beside other systems run only where those are installed, so nothing else finds a name that is gone.
Usage: scripts_test.py SOURCE_FOLDER"""
import ast
import os
import sys
import unittest

SOURCE = os.path.abspath(sys.argv[1])
FOLDERS = ("app", "tests", "installers")


def scripts():
    for folder in FOLDERS:
        for at, _, files in os.walk(os.path.join(SOURCE, folder)):
            yield from (os.path.join(at, f) for f in files if f.endswith(".py"))


def parsed(path):
    with open(path, encoding="utf-8") as f:
        return ast.parse(f.read(), path)


def defined(tree):
    """Names that a module has once it was imported."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((a.asname or a.name).split(".")[0] for a in node.names)
    return names


def missing(tree, modules):
    """(line, module, name) of what a script takes from a module of the tree that has no such name."""
    local, wrong = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            local.update({a.asname or a.name: a.name for a in node.names if a.name in modules})
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            wrong += [(node.lineno, node.module, a.name) for a in node.names if a.name not in modules[node.module]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and node.value.id in local:
            if node.attr not in modules[local[node.value.id]]:
                wrong.append((node.lineno, local[node.value.id], node.attr))
    return wrong


class Scripts(unittest.TestCase):
    modules = {os.path.splitext(os.path.basename(p))[0]: defined(parsed(p)) for p in scripts()}

    def test_names(self):
        self.assertGreater(len(self.modules), 10)
        found = {os.path.relpath(p, SOURCE): missing(parsed(p), self.modules) for p in scripts()}
        self.assertEqual({p: m for p, m in found.items() if m}, {})

    def test_a_name_that_is_gone_is_found(self):
        modules = {"shared": {"kept"}}
        self.assertEqual(missing(ast.parse("from shared import kept, gone"), modules), [(1, "shared", "gone")])
        self.assertEqual(missing(ast.parse("import shared as s\ns.kept()\ns.gone()"), modules), [(3, "shared", "gone")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
