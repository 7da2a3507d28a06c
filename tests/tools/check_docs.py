#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every layer has a README.md, and every relative link of every Markdown file leads somewhere.

Usage: check_docs.py ROOT
"""
import os
import re
import sys

import check_layers
import source_tree

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)


def check(root):
    problems, checked = [], 0
    paths = source_tree.files(root)
    for folder, (name, _) in sorted(check_layers.declared_layers(root, paths).items()):
        checked += 1
        if f"{folder}/README.md" not in paths:
            problems.append(f"{folder}: layer '{name}' has no README.md")
    for path in paths:
        if not path.endswith(".md"):
            continue
        checked += 1
        for link in LINK.findall(FENCE.sub("", source_tree.read(root, path))):
            if re.match(r"^([a-z]+:|#)", link):
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), link.split("#")[0]))
            if not os.path.exists(os.path.join(root, target)):
                problems.append(f"{path}: the link to '{link}' leads nowhere")
    for path in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md"):
        if path not in paths:
            problems.append(f"{path} is missing")
    return problems, checked


if __name__ == "__main__":
    source_tree.finish(*check(sys.argv[1]))
