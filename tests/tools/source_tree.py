# SPDX-License-Identifier: Apache-2.0
"""What the guards share: the files of the project and how a guard reports."""
import os
import sys

SKIPPED_FOLDERS = {".git", "build", ".cache", "__pycache__"}
CODE = (".h", ".cpp")


def files(root):
    """Paths of all files relative to root, sorted, without build trees."""
    found = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [s for s in subfolders if s not in SKIPPED_FOLDERS and not s.startswith("build-")]
        for name in names:
            found.append(os.path.relpath(os.path.join(folder, name), root))
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def finish(problems, checked):
    """Prints every problem; the exit code is 1 if there is one, or if nothing was checked."""
    for p in problems:
        print(p)
    print(f"{checked} checked, {len(problems)} problems")
    sys.exit(1 if problems or not checked else 0)
