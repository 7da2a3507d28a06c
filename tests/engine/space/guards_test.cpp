// SPDX-License-Identifier: Apache-2.0
// Tiles that do not divide the rows leave their guards outside of the reduction.
#include <QtTest>

#include "engine/base/rng.h"
#include "engine/lower/lower.h"
#include "engine/space/template.h"
#include "engine/tir/visit.h"

using namespace tw;

class GuardsTest : public QObject {
  Q_OBJECT

  static te::DagPtr dense(int64_t rows) {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {rows, 256}, kFloat32), w = b.placeholder("w", {512, 256}, kFloat32, te::Role::constant);
    const te::Tensor y = b.reduce(
        "dense", {rows, 512}, {256}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
    return std::move(b).finish({y});
  }
  static bool branches_in_reduction(const tir::Func& f) {
    bool found = false;
    tir::walk(f.body, [&](const tir::Stmt& s) {
      const auto* loop = tir::as<tir::ForNode>(s);
      if (!loop || !loop->var->name.starts_with("r0")) return;
      tir::walk(loop->body, [&](const tir::Stmt& inside) { found = found || tir::as<tir::IfNode>(inside); });
    });
    return found;
  }

 private Q_SLOTS:
  void rowsOutsideTheReduction_data() {
    QTest::addColumn<int>("rows");
    for (const int rows : {512, 500, 196}) QTest::newRow(std::to_string(rows).c_str()) << rows;
  }
  /// All but a few bodies that are too large to have twice.
  void rowsOutsideTheReduction() {
    QFETCH(int, rows);
    const te::DagPtr dag = dense(rows);
    const Target target = parse_target("llvm -mcpu=znver4").value();
    const space::Template* t = space::find_template(*dag, target);
    QVERIFY(t);
    const space::ConfigSpace space = t->space(*dag, target);
    Rng rng(1);
    int guarded = 0;
    for (int n = 0; n < 60;) {
      const space::ConfigEntity e = space.get(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(space.size())))).value();
      if (!space.filtered_reason(e).empty()) continue;
      tir::PassHooks hooks;
      hooks.verify = true;
      guarded += branches_in_reduction(lower::lower_and_optimize(t->apply(dag, target, e).value(), "kernel", target, hooks).value());
      ++n;
    }
    QVERIFY2(guarded <= 2, std::to_string(guarded).c_str());
  }
};

QTEST_APPLESS_MAIN(GuardsTest)
#include "guards_test.moc"
