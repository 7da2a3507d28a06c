// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class PadTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A tile that does not divide the extent: with both the packed operand and the accumulator padded no guard is left in the reduction.
  void makes_guards_vanish() {
    const auto build = [](bool padded) {
      Builder b(matrix_product());
      const int pack = b.cache_read(0, {2}, "global");
      const int acc = b.cache_write(3);
      const int out = acc + 1;
      if (padded) {
        b.pad(pack, b.loops(pack)[0], 4);
        b.pad(acc, b.loops(acc)[0], 4);
      }
      const auto rows = b.split(out, b.loops(out)[0], {4});
      b.compute_at(acc, out, rows[0]);
      const auto l = b.loops(acc);
      b.reorder(acc, {l[2], l[0], l[1]});
      return b;
    };
    const auto guards = [](Builder b) {
      const auto f = lower::lower(std::move(b).finish().value(), "f").value();
      int found = 0;
      tir::walk(f.body, [&](const tir::Stmt& s) {
        if (const auto* n = tir::as<tir::ForNode>(s); n && n->var->name == "r0")
          tir::walk(n->body, [&](const tir::Stmt& x) { found += tir::as<tir::IfNode>(x) != nullptr; });
      });
      return found;
    };
    QCOMPARE(guards(build(false)), 1);
    QCOMPARE(guards(build(true)), 0);
    const std::string text = lowered(build(true));
    QVERIFY(has(text, "a_global = T.alloc_buffer((12, 8)"));
    QVERIFY(has(text, "= select(c0 < 10, a[c0, c1], T.float32(0))"));
    QVERIFY(text.find("select(i") == std::string::npos);  // the accumulator reads the padded panel, so its own test is gone
  }

  void keeps_the_test_where_reads_would_leave_the_array() {
    Builder b(matrix_product());
    const int acc = b.cache_write(2);
    b.pad(acc, b.loops(acc)[1], 8);
    b.pad(acc, b.loops(acc)[2], 3);
    const std::string text = lowered(std::move(b));
    QVERIFY(has(text, "c_local = T.alloc_buffer((10, 16)"));
    QVERIFY(has(text, "select(r0 < 8, a[i, r0] * select(j < 12, b[r0, j], T.float32(0)), T.float32(0))"));
  }

  void refusals() {
    Builder output(matrix_product());
    output.pad(2, output.loops(2)[0], 4);
    QVERIFY(has(refusal(std::move(output)), "Expected a stage that is no output for 'pad', found 'c' with axis 'i'"));
    Builder input(matrix_product());
    schedule::Schedule s = std::move(input).finish().value();
    QVERIFY(has(s.apply(schedule::PadStep{0, 0, 4}).error().text(), "found the placeholder 'a'"));
  }
};

QTEST_APPLESS_MAIN(PadTest)
#include "pad_test.moc"
