#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every function that a header offers is used outside of tests: what only tests call is not needed, or lacks its caller.

A use is the name anywhere in the code but in a declaration, in the definition's own body, or in tests. Two functions of one name are used together, so
that only names which nothing uses are found; what implements an interface (`override`) is its interface's.

Usage: check_callers.py ROOT
"""
import sys

import cpp_scopes
import source_tree

LIST = "tests/tools/for_tests_alone.txt"
ROOTS = ("engine/", "db/", "widgets/", "app/")


def listed(root, paths):
    """Names and why nothing in the code calls them."""
    if LIST not in paths:
        return {}
    text = source_tree.read(root, LIST).splitlines()
    return dict((line.split(None, 1) + [""])[:2] for line in text if line.strip() and not line.startswith("#"))


def check(root):
    paths = source_tree.files(root)
    offered, used = {}, set()
    for path in paths:
        if not path.endswith(source_tree.CODE) or not path.startswith(ROOTS):
            continue
        declared, uses = cpp_scopes.read(source_tree.read(root, path))
        used.update(name for name, inside in uses if name != inside)
        if path.endswith(".h"):
            for d in declared:
                if d.public and d.name != d.owner and "override" not in d.statement:
                    offered.setdefault(d.name, path)
    exceptions = listed(root, paths)
    problems = [f"{path}: nothing but tests uses '{name}'" for name, path in sorted(offered.items(), key=lambda o: (o[1], o[0]))
                if name not in used and name not in exceptions]
    problems += [f"{LIST}: '{name}': expected a reason" for name, reason in exceptions.items() if not reason]
    problems += [f"{LIST}: '{name}' {'has a caller' if name in used else 'is not offered'}: its line goes" for name in exceptions
                 if name in used or name not in offered]
    return problems, len(offered)


if __name__ == "__main__":
    source_tree.finish(*check(sys.argv[1]))
