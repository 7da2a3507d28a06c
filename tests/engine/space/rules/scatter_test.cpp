// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/tir/visit.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Scattered updates by rule.
class RuleScatterTest : public QObject {
  Q_OBJECT

  static std::vector<Case> cases() {
    return {
        {"rows added at places that are data",
         [](Net& n) {
           return n.op("scatter_elements", {n.input({100, 24}), n.input({37, 24}, kInt64), n.input({37, 24})},
                       {{"axis", int64_t{0}}, {"reduction", std::string("add")}});
         }},
        {"elements written along the last dimension, in a part of the rows",
         [](Net& n) {
           return n.op("scatter_elements", {n.input({5, 90}), n.input({4, 31}, kInt64), n.input({4, 31})}, {{"axis", int64_t{1}}});
         }},
        {"rows written at pairs of places",
         [](Net& n) {
           return n.op("scatter_nd", {n.input({10, 12, 20}), n.input({33, 2}, kInt64), n.input({33, 20})});
         }},
        {"the largest of what lands at a place",
         [](Net& n) {
           return n.op("scatter_nd", {n.input({80, 19}), n.input({33, 1}, kInt64), n.input({33, 19})}, {{"reduction", std::string("max")}});
         }},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    QFETCH(int, number);
    const std::string problem = problem_by_rule(cases()[static_cast<size_t>(number)]);
    QVERIFY2(problem.empty(), problem.c_str());
  }

  /// Updates come one after the other where there are many places: none is looked for.
  void scatters_visit_each_update_once() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
    for (const std::string reduction : {"none", "add", "max"}) {
      const te::DagPtr dag = dag_of([&](Net& n) {
        return n.op("scatter_nd", {n.input({20, 25, 16}), n.input({300, 2}, kInt64), n.input({300, 16})}, {{"reduction", reduction}});
      });
      const auto f = lower::lower_and_optimize(space::default_schedule(dag, target), "kernel", target);
      QVERIFY(f);
      int64_t deepest = 0;  // turns of nested loops
      const std::function<void(const tir::Stmt&, int64_t)> count = [&](const tir::Stmt& s, int64_t turns) {
        const auto* n = tir::as<tir::ForNode>(s);
        if (n) turns *= ir::as_int(n->extent).value();
        deepest = std::max(deepest, turns);
        tir::map_children(
            s, [&](const tir::Stmt& c) { return count(c, turns), c; }, [](const ir::Expr& e) { return e; });
      };
      count(f->body, 1);
      QVERIFY2(deepest <= 500 * 16, tir::print(*f).c_str());
    }
  }
};

QTEST_APPLESS_MAIN(RuleScatterTest)
#include "scatter_test.moc"
