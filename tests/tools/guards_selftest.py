#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guards find what they are for: each test writes a small tree with one fault."""
import os
import tempfile
import unittest

import check_callers
import check_docs
import check_layers
import check_licences
import check_mirror
import check_sizes
import cpp_scopes

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
    "engine/te/c.cpp": CODE + '#include "engine/base/a.h"\n#include "engine/ir/b.h"\n', "tests/engine/te/c_test.cpp": CODE,
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
        for guard in (check_layers, check_licences, check_docs, check_sizes, check_mirror, check_callers):
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

    def test_long_file(self):
        self.assertEqual(self.problems(check_sizes, {"tests/d.py": "x\n" * 600}), [])
        self.assert_only(check_sizes, {"tests/d.py": "x\n" * 601}, "at most 600 lines, found 601")

    def test_source_without_test(self):
        self.assert_only(check_mirror, {"engine/ir/d.cpp": CODE}, "no tests/engine/ir/d_test.cpp")
        listed = {check_mirror.LIST: "# why\nengine/ir/* engine/te/c_test it reads what that writes\n"}
        self.assertEqual(self.problems(check_mirror, {"engine/ir/d.cpp": CODE, **listed}), [])
        self.assert_only(check_mirror, {"engine/ir/deep/d.cpp": CODE, "engine/ir/d.cpp": CODE, **listed}, "engine/ir/deep/d.cpp: no")

    def test_list_of_tests(self):
        source = {"engine/ir/d.cpp": CODE}
        self.assert_only(check_mirror, {**source, check_mirror.LIST: "engine/ir/d.cpp engine/ir/e_test because\n"}, "there is no test 'engine/ir/e_test'")
        self.assert_only(check_mirror, {check_mirror.LIST: "engine/ir/d.cpp engine/te/c_test because\n"}, "no source needs this line")
        both = "engine/ir/* engine/te/c_test because\nengine/ir/d.cpp engine/te/c_test because\n"
        self.assert_only(check_mirror, {**source, check_mirror.LIST: both}, "'engine/ir/*': no source needs this line")
        self.assertIn("expected sources, a test and a reason", self.problems(check_mirror, {check_mirror.LIST: "engine/ir/d.cpp engine/te/c_test\n"})[0])

    def test_function_without_caller(self):
        offered = {"engine/ir/d.h": CODE + "int f(int x);\n"}
        nobody = "nothing but tests uses 'f'"
        self.assert_only(check_callers, {**offered, "engine/ir/d.cpp": CODE + "int f(int x) { return x < 1 ? 0 : f(x - 1); }\n"}, nobody)
        self.assert_only(check_callers, {**offered, "tests/engine/ir/d_test.cpp": CODE + "int g() { return f(1); }\n"}, nobody)
        self.assert_only(check_callers, {**offered, "engine/te/d.cpp": CODE + '// f(1)\nconst char* g() { return "f(1)"; }\n'}, nobody)
        self.assertEqual(self.problems(check_callers, {**offered, "engine/te/d.cpp": CODE + "namespace { int g() { return f(1); } }\n"}), [])

    def test_method_without_caller(self):
        offered = {"engine/ir/d.h": CODE + "class A final : public B {\n public:\n  A();\n  void f() override;\n  int g() const;\n private:\n  int h();\n};\n"}
        self.assert_only(check_callers, offered, "nothing but tests uses 'g'")
        of_qt = CODE + "class A : public B {\n  Q_OBJECT\n public:\n  int g();\n private Q_SLOTS:\n  void h();\n};\n"
        self.assert_only(check_callers, {"widgets/d.h": of_qt}, "nothing but tests uses 'g'")
        self.assertEqual(self.problems(check_callers, {**offered, "engine/te/d.cpp": CODE + "static const auto g_of = &A::g;\n"}), [])

    def test_list_of_callers(self):
        offered = {"engine/ir/d.h": CODE + "int f(int x);\n"}
        self.assertEqual(self.problems(check_callers, {**offered, check_callers.LIST: "f programs of others call it\n"}), [])
        self.assert_only(check_callers, {**offered, check_callers.LIST: "f\n"}, "expected a reason")
        called = {**offered, "engine/te/d.cpp": CODE + "namespace { int g() { return f(1); } }\n", check_callers.LIST: "f programs of others call it\n"}
        self.assert_only(check_callers, called, "'f' has a caller")
        self.assert_only(check_callers, {check_callers.LIST: "f programs of others call it\n"}, "'f' is not offered")

    def test_declarations(self):
        """What reading C++ by its braces takes for functions of a header, and what not."""
        text = """
            #define M(x) q(x)
            namespace a { namespace { int hidden(); } inline constexpr int k = z(1);
            template <class T> std::vector<T> f(std::function<int(int)> g = {}, int n = w(2));
            struct S : P<int> { S(int x) : v_(x) {} ~S(); bool operator==(const S&) const = default; int m(char c = '{') const { return u(); } private: int v_; };
            enum class E { one, two };
            using F = int (*)(int);
            extern template class X<int>; }
            a::S a::S::made() { if (true) { return S(1); } }
        """
        declared, uses = cpp_scopes.read(text)
        self.assertEqual([d.name for d in declared if d.public], ["f", "m", "made"])
        self.assertEqual({n for n, _ in uses} & {"q", "z", "w", "u", "hidden", "f", "m"}, {"q", "z", "w", "u"})


if __name__ == "__main__":
    unittest.main()
