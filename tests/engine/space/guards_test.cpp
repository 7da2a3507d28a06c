// SPDX-License-Identifier: Apache-2.0
// Tiles that do not divide the rows leave their guards outside of the reduction, and blocks that do not divide the channels have none.
#include <QtTest>

#include "engine/base/rng.h"
#include "engine/lower/lower.h"
#include "engine/space/template.h"
#include "engine/tir/visit.h"
#include "tests/engine/space/schedule_check.h"

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
  static bool masks_vectors(const tir::Func& f) {
    bool found = false;
    tir::walk(f.body, [&](const tir::Stmt& s) {
      if (const auto* branch = tir::as<tir::IfNode>(s)) found = found || branch->cond->dtype.lanes > 1;
      if (const auto* store = tir::as<tir::StoreNode>(s))
        ir::walk(store->value, [&](const ir::Expr& e) {
          if (const auto* choice = ir::as<ir::SelectNode>(e)) found = found || choice->cond->dtype.lanes > 1;
        });
    });
    return found;
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

  void lastBlocks_data() {
    QTest::addColumn<std::string>("target");
    for (const char* cpu : {"x86-64-v2", "haswell", "skylake-avx512", "znver4"}) QTest::newRow(cpu) << std::string("llvm -mcpu=") + cpu;
  }
  /// Convolutions of any number of channels compute and store whole vectors.
  void lastBlocks() {
    QFETCH(std::string, target);
    const Target t = parse_target(target).value();
    using space::testing::conv, space::testing::Net, space::testing::Dims;
    for (const space::testing::Make& make : std::initializer_list<space::testing::Make>{
             [](Net& n) {
               const int y = n.op("conv2d", {n.input({1, 58, 14, 14}), n.weight({58, 58, 1, 1}), n.weight({58})});
               return n.op("relu", {n.op("add", {y, n.input({1, 58, 14, 14})})});
             },
             [](Net& n) {
               return conv(n, {1, 37, 9, 10}, {29, 37, 3, 3}, 2, 1);
             },
             [](Net& n) {
               return n.op("relu", {conv(n, {1, 58, 11, 12}, {58, 1, 3, 3}, 1, 1, 58)});
             }}) {
      const te::DagPtr dag = space::testing::dag_of(make);
      const space::Template* direct = space::find_template(*dag, t);
      QVERIFY(direct);
      const space::ConfigSpace space = direct->space(*dag, t);
      Rng rng(1);
      for (int n = 0; n < 12;) {
        const space::ConfigEntity e = space.get(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(space.size())))).value();
        if (!space.filtered_reason(e).empty()) continue;
        const tir::Func f = lower::lower_and_optimize(direct->apply(dag, t, e).value(), "kernel", t).value();
        QVERIFY2(!masks_vectors(f), (e.text() + "\n" + tir::print(f)).c_str());
        ++n;
      }
    }
  }
};

QTEST_APPLESS_MAIN(GuardsTest)
#include "guards_test.moc"
