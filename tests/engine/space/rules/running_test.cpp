// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/tir/visit.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Running sums over rows of neighbours by rule.
class RuleRunningTest : public QObject {
  Q_OBJECT

  static Case running(std::string name, std::vector<int64_t> shape, int64_t axis, bool exclusive = false, bool reverse = false) {
    return {std::move(name), [=](Net& n) {
              return n.op("cumsum", {n.input(shape)}, {{"axis", axis}, {"exclusive", int64_t{exclusive}}, {"reverse", int64_t{reverse}}});
            }};
  }
  static std::vector<Case> cases() {
    return {
        running("down a matrix", {40, 37}, 0),
        running("fewer rows than a block", {5, 7, 20}, 1),
        running("blocks of blocks", {2, 300, 17}, 1),
        running("from the end, without the element itself", {3, 35, 2, 19}, 1, true, true),
        running("whole blocks without the element itself", {64, 48}, 0, true),
        running("rows of one column but for one dimension", {3, 33, 1, 5, 1}, 1),
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    QFETCH(int, number);
    const std::string problem = problem_by_rule(cases()[static_cast<size_t>(number)]);
    QVERIFY2(problem.empty(), problem.c_str());
  }

  /// Each element costs two additions, and one for its block's total.
  void countsWhatIsAdded() { QCOMPARE(te::flops(*dag_of(cases().front().make)), int64_t{40 * 37 * 2 + 2 * 37 * 16 + 2 * 37}); }

  /// A block's rows are written out, so that compilers see what their sums share: no test is left of where in its block a row is.
  void rows_of_a_block_are_written_out() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
    for (const Case& c : cases()) {
      const auto f = lower::lower_and_optimize(space::default_schedule(dag_of(c.make), target), "kernel", target);
      QVERIFY(f);
      int stores = 0, tests = 0;
      tir::walk(f->body, [&](const tir::Stmt& s) { stores += tir::as<tir::StoreNode>(s) != nullptr; });
      tir::walk_exprs(f->body, [&](const ir::Expr& e) {
        ir::walk(e, [&](const ir::Expr& part) {
          if (const auto* choice = ir::as<ir::SelectNode>(part))
            ir::walk(choice->cond, [&](const ir::Expr& x) {
              const auto* n = ir::as<ir::BinaryNode>(x);
              tests += n != nullptr && n->op == ir::BinaryOp::floor_mod;
            });
        });
      });
      QVERIFY2(stores >= 5 && tests == 0, (c.name + "\n" + tir::print(*f)).c_str());
    }
  }
};

QTEST_APPLESS_MAIN(RuleRunningTest)
#include "running_test.moc"
