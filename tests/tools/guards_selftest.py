#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guards find what they are for: each test writes a small tree with one fault."""
import os
import tempfile
import unittest

import check_docs
import check_layers
import check_licences

CMAKE = "# SPDX-License-Identifier: Apache-2.0\n"
CODE = "// SPDX-License-Identifier: Apache-2.0\n"
GOOD = {
    "README.md": "[map](ARCHITECTURE.md)\n", "ARCHITECTURE.md": "", "CHANGELOG.md": "", "LICENSE": "",
    "LICENSES/Apache-2.0.txt": "", "LICENSES/GPL-3.0-or-later.txt": "",
    "engine/base/CMakeLists.txt": CMAKE + "tw_layer(base LIBS fmt::fmt)\n", "engine/base/README.md": "",
    "engine/base/a.h": CODE + "#include <vector>\n",
    "engine/ir/CMakeLists.txt": CMAKE + "tw_layer(ir DEPENDS base)\n", "engine/ir/README.md": "",
    "engine/ir/b.h": CODE + '#include "engine/base/a.h"\n',
    "engine/te/CMakeLists.txt": CMAKE + "tw_layer(te DEPENDS ir LIBS zstd)\n", "engine/te/README.md": "",
    "engine/te/c.cpp": CODE + '#include "engine/base/a.h"\n#include "engine/ir/b.h"\n',
}


class Guards(unittest.TestCase):
    def problems(self, guard, changes):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**GOOD, **changes}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                    f.write(text)
            return guard.check(root)[0]

    def assert_only(self, guard, changes, part):
        problems = self.problems(guard, changes)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(part, problems[0])

    def test_good_tree(self):
        for guard in (check_layers, check_licences, check_docs):
            self.assertEqual(self.problems(guard, {}), [])

    def test_include_upward(self):
        self.assert_only(check_layers, {"engine/base/d.cpp": CODE + '#include "engine/ir/b.h"\n'}, "'base' does not depend on 'ir'")

    def test_relative_include(self):
        self.assert_only(check_layers, {"engine/ir/d.cpp": CODE + '#include "b.h"\n'}, "path from the root")

    def test_missing_header(self):
        self.assert_only(check_layers, {"engine/ir/d.cpp": CODE + '#include "engine/ir/z.h"\n'}, "no such file")

    def test_cycle(self):
        changed = {"engine/base/CMakeLists.txt": CMAKE + "tw_layer(base DEPENDS te)\n"}
        self.assertTrue(any("cycle" in p for p in self.problems(check_layers, changed)))

    def test_undeclared_layer(self):
        changed = {"engine/te/CMakeLists.txt": CMAKE + "tw_layer(te DEPENDS ir arith)\n"}
        self.assert_only(check_layers, changed, "'arith', which no CMakeLists.txt declares")

    def test_qt_in_engine(self):
        self.assert_only(check_layers, {"engine/ir/d.cpp": CODE + "#include <QString>\n"}, "no Qt here")

    def test_llvm_outside(self):
        self.assert_only(check_layers, {"engine/ir/d.cpp": CODE + "#include <llvm/IR/Module.h>\n"}, "may include LLVM")

    def test_licence_missing(self):
        self.assert_only(check_licences, {"engine/ir/d.cpp": "int x;\n"}, "no SPDX")

    def test_licence_of_other_folder(self):
        self.assert_only(check_licences, {"widgets/d.cpp": CODE}, "expected licence GPL-3.0-or-later")

    def test_cli_is_apache(self):
        self.assertEqual(self.problems(check_licences, {"app/cli/main.cpp": CODE}), [])

    def test_dead_link(self):
        self.assert_only(check_docs, {"README.md": "[x](nowhere.md)\n"}, "leads nowhere")

    def test_layer_without_readme(self):
        self.assert_only(check_docs, {"engine/tir/CMakeLists.txt": CMAKE + "tw_layer(tir DEPENDS ir)\n"}, "has no README.md")


if __name__ == "__main__":
    unittest.main()
