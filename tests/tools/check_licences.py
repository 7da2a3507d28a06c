#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file names its licence in its first lines, and it is the one of its folder.

Usage: check_licences.py ROOT
"""
import re
import sys

import source_tree

SOURCES = (".h", ".cpp", ".py", ".sh", ".cmake", ".sql", ".qss", ".css")
NAMED = ("CMakeLists.txt", "installers/run", "installers/test", ".ci/run", ".clang-format", ".clang-tidy")
# The first prefix that matches decides.
FOLDERS = [
    ("app/cli/", "Apache-2.0"), ("tests/app/cli/", "Apache-2.0"), ("app/logs/", "Apache-2.0"), ("tests/app/logs/", "Apache-2.0"),
    ("widgets/", "GPL-3.0-or-later"), ("app/", "GPL-3.0-or-later"), ("resources/", "GPL-3.0-or-later"),
    ("tests/widgets/", "GPL-3.0-or-later"), ("tests/app/", "GPL-3.0-or-later"), ("tests/bench/gui_bench", "GPL-3.0-or-later"),
    ("", "Apache-2.0"),
]
SPDX = re.compile(r"SPDX-License-Identifier:\s*([A-Za-z0-9.+-]+)")


def check(root):
    problems, checked = [], 0
    for path in source_tree.files(root):
        if not (path.endswith(SOURCES) or path.endswith(NAMED)):
            continue
        checked += 1
        head = "\n".join(source_tree.read(root, path).split("\n")[:2])
        want = next(licence for prefix, licence in FOLDERS if path.startswith(prefix))
        found = SPDX.search(head)
        if not found:
            problems.append(f"{path}: the first two lines have no SPDX-License-Identifier; expected {want}")
        elif found.group(1) != want:
            problems.append(f"{path}: expected licence {want} in this folder, found {found.group(1)}")
    for text in ("LICENSES/Apache-2.0.txt", "LICENSES/GPL-3.0-or-later.txt", "LICENSE"):
        if text not in source_tree.files(root):
            problems.append(f"{text} is missing")
    return problems, checked


if __name__ == "__main__":
    source_tree.finish(*check(sys.argv[1]))
