#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file of code is longer than 600 lines, tests and scripts included: a longer one holds a second concept.

Usage: check_sizes.py ROOT
"""
import sys

import source_tree

MOST_LINES = 600
SUFFIXES = source_tree.CODE + (".py", ".sh", ".cmake", "CMakeLists.txt")


def check(root):
    problems, checked = [], 0
    for path in source_tree.files(root):
        if not path.endswith(SUFFIXES):
            continue
        checked += 1
        lines = source_tree.read(root, path).count("\n")
        if lines > MOST_LINES:
            problems.append(f"{path}: expected at most {MOST_LINES} lines, found {lines}")
    return problems, checked


if __name__ == "__main__":
    source_tree.finish(*check(sys.argv[1]))
