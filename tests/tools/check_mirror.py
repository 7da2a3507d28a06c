#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A source has its test at the mirrored path, or a line of tested_elsewhere.txt that names the test which shows it.

Usage: check_mirror.py ROOT
"""
import fnmatch
import sys

import source_tree

LIST = "tests/tools/tested_elsewhere.txt"
ROOTS = ("engine/", "db/", "widgets/", "app/")


def lines(root, paths):
    """Pattern, test and reason of each line; of two that fit a source the one whose pattern says more holds."""
    if LIST not in paths:
        return []
    text = source_tree.read(root, LIST).splitlines()
    return [line.split(None, 2) for line in text if line.strip() and not line.startswith("#")]


def fits(path, pattern):
    """`folder/*` are the sources of that folder alone."""
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def check(root):
    paths = source_tree.files(root)
    known = set(paths)
    sources = [p for p in paths if p.endswith(".cpp") and p.startswith(ROOTS)]
    listed = lines(root, paths)
    problems, used = [], set()
    for fields in listed:
        if len(fields) < 3:
            problems.append(f"{LIST}: '{' '.join(fields)}': expected sources, a test and a reason")
        elif not any(f"tests/{fields[1]}{suffix}" in known for suffix in (".cpp", ".py")):
            problems.append(f"{LIST}: '{fields[0]}': there is no test '{fields[1]}'")
    for path in sources:
        if f"tests/{path[:-len('.cpp')]}_test.cpp" in known:
            continue
        fitting = [f[0] for f in listed if len(f) == 3 and fits(path, f[0])]
        if not fitting:
            problems.append(f"{path}: no tests/{path[:-len('.cpp')]}_test.cpp, and no line of {LIST} says which test shows it")
        else:
            used.add(max(fitting, key=len))
    problems += [f"{LIST}: '{f[0]}': no source needs this line" for f in listed if len(f) == 3 and f[0] not in used]
    return problems, len(sources)


if __name__ == "__main__":
    source_tree.finish(*check(sys.argv[1]))
