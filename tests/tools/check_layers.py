#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every include to the arrows between the layers, as each folder's CMakeLists.txt declares them.

Usage: check_layers.py ROOT
"""
import re
import sys

import source_tree

LAYER = re.compile(r"^\s*tw_layer\(\s*(\w+)([^)]*)\)", re.M)
KEYWORDS = {"DEPENDS", "LIBS", "EXCLUDE"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
ROOTS = ("engine/", "db/", "widgets/", "app/", "resources/", "tests/")

# Libraries that only some folders may see: pattern of the header, folders, what it is.
OWNED = [
    (re.compile(r"^(llvm|llvm-c|lld|clang)/"), ("engine/codegen/llvm/",), "LLVM"),
    (re.compile(r"^Qsci/|^qcustomplot"), ("widgets/", "tests/widgets/", "tests/app/", "app/"), "QScintilla and QCustomPlot"),
    (re.compile(r"^(SQLiteCpp/|sqlite3\.h)"), ("db/", "tests/db/"), "SQLite"),
    (re.compile(r"^(onnx/|google/protobuf/)"), ("engine/frontends/", "tests/engine/frontends/"), "ONNX and protobuf"),
    (re.compile(r"^CLI/"), ("app/cli/",), "CLI11"),
]
QT = re.compile(r"^(Qt[A-Z]\w*(/.*)?|Q[A-Z]\w+)$")
QT_FOLDERS = ("widgets/", "app/", "tests/")
QT_FREE = ("app/cli/", "app/logs/")


def declared_layers(root, paths):
    """Folder of each layer and the layers that it names: {"engine/ir": ("ir", ["base"])}."""
    layers = {}
    for path in paths:
        if not path.endswith("CMakeLists.txt"):
            continue
        folder = path[: -len("CMakeLists.txt")].rstrip("/")
        text = source_tree.read(root, path)
        for name, arguments in LAYER.findall(text):
            depends, section = [], None
            for word in arguments.split():
                if word in KEYWORDS:
                    section = word
                elif section == "DEPENDS":
                    depends.append(word)
            layers[folder] = (name, depends)
    return layers


def reachable(layers):
    """For each layer, everything below it, itself included. A cycle is a problem of its own."""
    direct = {name: depends for name, depends in layers.values()}
    problems, memo = [], {}

    def visit(name, path):
        if name in path:
            problems.append("Layers form a cycle: " + " -> ".join(path[path.index(name):] + [name]))
            return set()
        if name not in memo:
            below = {name}
            for d in direct.get(name, []):
                if d not in direct:
                    problems.append(f"Layer '{name}' depends on '{d}', which no CMakeLists.txt declares")
                below |= visit(d, path + [name])
            memo[name] = below
        return memo[name]

    for name in direct:
        visit(name, [])
    return memo, problems


def layer_of(path, layers):
    """The layer whose folder holds the path, the deepest one."""
    best = ""
    for folder in layers:
        if path.startswith(folder + "/") and len(folder) > len(best):
            best = folder
    return layers[best][0] if best else None


def library_problems(path, headers):
    problems = []
    for h in headers:
        for pattern, folders, what in OWNED:
            if pattern.match(h) and not path.startswith(folders):
                problems.append(f"{path}: <{h}>: only {', '.join(folders)} may include {what}")
        if QT.match(h):
            if not path.startswith(QT_FOLDERS) or path.startswith(QT_FREE):
                problems.append(f"{path}: <{h}>: no Qt here")
            elif path.startswith(("tests/engine/", "tests/db/", "tests/app/cli/")) and not re.match(r"^(QtTest.*|QTest|Q(Temporary|String|ByteArray|Process|File|Dir|Elapsed).*|QtCore/.*)$", h):
                problems.append(f"{path}: <{h}>: tests of the engine and the database use Qt Test and Qt Core only")
    if any(h.startswith("llvm/") for h in headers) and any(QT.match(h) for h in headers):
        problems.append(f"{path}: includes both LLVM and Qt; their macros collide")
    return problems


def check(root):
    paths = source_tree.files(root)
    layers = declared_layers(root, paths)
    below, problems = reachable(layers)
    checked = 0
    for path in paths:
        if not path.endswith(source_tree.CODE):
            continue
        includes = INCLUDE.findall(source_tree.read(root, path))
        checked += 1
        problems += library_problems(path, [h for _, h in includes])
        own = layer_of(path, layers)
        for quote, header in includes:
            if quote != '"' or header.endswith(".moc"):
                continue
            if not header.startswith(ROOTS):
                problems.append(f'{path}: "{header}": project headers are included by their path from the root')
                continue
            if header not in paths:
                problems.append(f'{path}: "{header}": there is no such file')
                continue
            if path.startswith("tests/"):
                if path.startswith(("tests/engine/", "tests/db/")) and header.startswith(("widgets/", "app/")):
                    problems.append(f'{path}: "{header}": tests of lower layers do not see the workbench')
                continue
            used = layer_of(header, layers)
            if own is None:
                problems.append(f"{path}: this folder belongs to no layer")
            elif used not in below[own]:
                problems.append(f'{path}: "{header}": layer \'{own}\' does not depend on \'{used}\'')
    return problems, checked


if __name__ == "__main__":
    source_tree.finish(*check(sys.argv[1]))
