// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/panels.h"

#include <QtTest>
#include <set>

#include "engine/ir/visit.h"
#include "engine/target/target.h"

using namespace tw;

/// Which lines are asked for while others are used.
class PanelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void next_panel_of_a_fused_loop();
  void next_panel_of_nested_loops();
  void small_panels_are_spread_thin();
  void several_loops_read_a_panel();
  void nothing_without_reuse();
  void nothing_beyond_the_cache();
};

namespace {

constexpr int64_t kLanes = 16, kLineBytes = 64;

Target panel_target() {
  Target t;
  t.l2_bytes = 1 << 20;
  return t;
}

/// out[0:16] = w[at:at + 16] in loops of these extents, outermost first.
tir::Func reader(const ir::Buffer& w, const std::vector<ir::Var>& vars, const std::vector<int64_t>& extents, const ir::Expr& at) {
  const ir::Buffer out = ir::make_buffer("out", kFloat32, {kLanes});
  const auto row = [](const ir::Expr& base) { return ir::ramp(base, ir::index(1), static_cast<int>(kLanes)); };
  tir::Stmt s = tir::store(out, {row(ir::index(0))}, ir::load(w, {row(at)}));
  for (size_t k = vars.size(); k-- > 0;)
    s = tir::make_for(vars[k], ir::index(0), ir::index(extents[k]), k == 0 ? tir::ForKind::parallel : tir::ForKind::serial, s);
  return {"kernel", {w, out}, 1, s};
}

/// Runs the loops: the lines asked for while each panel is in use.
std::map<int64_t, std::set<int64_t>> asked(const tir::Func& f, const std::vector<ir::Var>& vars, const std::vector<int64_t>& extents, const ir::Expr& at,
                                           int64_t panel, int64_t& most) {
  const codegen::PanelFetches fetches = codegen::panels_of(f, panel_target()).fetches;
  std::map<int64_t, std::set<int64_t>> out;
  most = 0;
  std::unordered_map<const ir::VarNode*, ir::Expr> values;
  const std::function<void(const tir::Stmt&, size_t)> run = [&](const tir::Stmt& s, size_t k) {
    const auto* loop = tir::as<tir::ForNode>(s);
    if (!loop) return;
    for (int64_t i = 0; i < extents[k]; ++i) {
      values.insert_or_assign(vars[k].get(), ir::index(i));
      for (size_t inner = k + 1; inner < vars.size(); ++inner) values.insert_or_assign(vars[inner].get(), ir::index(0));
      const int64_t reading = ir::as_int(ir::substitute(at, values)).value();
      if (const auto here = fetches.find(loop->body.get()); here != fetches.end())
        for (const codegen::PanelFetch& p : here->second) {
          most = std::max<int64_t>(most, p.lines);
          const int64_t first = ir::as_int(ir::substitute(p.at, values)).value() * 4 / kLineBytes;
          for (int64_t line = 0; line < p.lines; ++line) out[reading / panel].insert(first + line);
        }
      run(loop->body, k + 1);
    }
  };
  run(f.body, 0);
  return out;
}

void check_panels(const tir::Func& f, const std::vector<ir::Var>& vars, const std::vector<int64_t>& extents, const ir::Expr& at, int64_t panel, int64_t count) {
  int64_t most = 0;
  const auto lines = asked(f, vars, extents, at, panel, most);
  QVERIFY(most > 0 && most <= 8);
  const int64_t each = panel * 4 / kLineBytes;
  for (int64_t p = 0; p + 1 < count; ++p) {
    QVERIFY(lines.contains(p));
    for (int64_t line = (p + 1) * each; line < (p + 2) * each; ++line) QVERIFY2(lines.at(p).contains(line), qPrintable(QString::number(line)));
    // Rounding up takes a little of the panel after it, never half.
    QVERIFY(static_cast<int64_t>(lines.at(p).size()) < each + each / 2);
  }
}

}  // namespace

void PanelsTest::next_panel_of_a_fused_loop() {
  const std::vector<ir::Var> v{ir::make_var("f"), ir::make_var("r0"), ir::make_var("r1")};
  const std::vector<int64_t> extents{8 * 7, 32, 16};
  const ir::Expr at = ir::floor_div(ir::to_expr(v[0]), ir::index(7)) * int64_t{8192} + ir::to_expr(v[1]) * int64_t{256} + ir::to_expr(v[2]) * int64_t{16};
  const ir::Buffer w = ir::make_buffer("w", kFloat32, {8 * 8192});
  check_panels(reader(w, v, extents, at), v, extents, at, 8192, 8);
}

void PanelsTest::next_panel_of_nested_loops() {
  const std::vector<ir::Var> v{ir::make_var("j"), ir::make_var("i"), ir::make_var("k")};
  const std::vector<int64_t> extents{4, 100, 1024};
  const ir::Expr at = ir::to_expr(v[0]) * int64_t{16384} + ir::to_expr(v[2]) * int64_t{16};
  const ir::Buffer w = ir::make_buffer("w", kFloat32, {4 * 16384});
  check_panels(reader(w, v, extents, at), v, extents, at, 16384, 4);
}

/// More turns than lines: some turns ask for the same line again.
void PanelsTest::small_panels_are_spread_thin() {
  const std::vector<ir::Var> v{ir::make_var("f"), ir::make_var("r")};
  const std::vector<int64_t> extents{4 * 96, 64};
  const ir::Expr at = ir::floor_div(ir::to_expr(v[0]), ir::index(96)) * int64_t{1024} + ir::to_expr(v[1]) * int64_t{16};
  const ir::Buffer w = ir::make_buffer("w", kFloat32, {4 * 1024});
  check_panels(reader(w, v, extents, at), v, extents, at, 1024, 4);
}

/// The rows of a window are loops of their own, none of which reads all of a panel: it is asked for once, by the loop that has most turns.
void PanelsTest::several_loops_read_a_panel() {
  const ir::Var f = ir::make_var("f");
  const ir::Buffer w = ir::make_buffer("w", kFloat32, {4 * 8192}), out = ir::make_buffer("out", kFloat32, {kLanes});
  const ir::Expr panel = ir::floor_div(ir::to_expr(f), ir::index(14)) * int64_t{8192};
  const auto row = [](const ir::Expr& base) { return ir::ramp(base, ir::index(1), static_cast<int>(kLanes)); };
  std::vector<tir::Stmt> loops;
  for (const auto& [first, turns] : {std::pair<int64_t, int64_t>{0, 128}, {128 * kLanes, 256}, {384 * kLanes, 128}}) {
    const ir::Var k = ir::make_var("k");
    const ir::Expr at = panel + first + ir::to_expr(k) * kLanes;
    loops.push_back(tir::make_for(k, ir::index(0), ir::index(turns), tir::ForKind::serial, tir::store(out, {row(ir::index(0))}, ir::load(w, {row(at)}))));
  }
  const tir::Stmt middle = loops[1];
  const tir::Func func{"kernel", {w, out}, 1, tir::make_for(f, ir::index(0), ir::index(4 * 14), tir::ForKind::parallel, tir::seq(loops))};
  const codegen::PanelFetches fetches = codegen::panels_of(func, panel_target()).fetches;
  QCOMPARE(fetches.size(), 1U);
  const auto& [body, here] = *fetches.begin();
  QCOMPARE(body, tir::as<tir::ForNode>(middle)->body.get());
  QCOMPARE(here.size(), 1U);
  std::set<int64_t> lines;
  const ir::Var k(tir::as<tir::ForNode>(middle)->var);
  for (int64_t turn = 0; turn < 14; ++turn)
    for (int64_t i = 0; i < 256; ++i) {
      const int64_t first = ir::as_int(ir::substitute(here.front().at, {{f.get(), ir::index(turn)}, {k.get(), ir::index(i)}})).value() * 4 / kLineBytes;
      for (int64_t line = 0; line < here.front().lines; ++line) lines.insert(first + line);
    }
  for (int64_t line = 512; line < 1024; ++line) QVERIFY2(lines.contains(line), qPrintable(QString::number(line)));
}

void PanelsTest::nothing_without_reuse() {
  const std::vector<ir::Var> v{ir::make_var("j"), ir::make_var("k")};
  const ir::Expr at = ir::to_expr(v[0]) * int64_t{16384} + ir::to_expr(v[1]) * int64_t{16};
  const ir::Buffer w = ir::make_buffer("w", kFloat32, {4 * 16384});
  QVERIFY(codegen::panels_of(reader(w, v, {4, 1024}, at), panel_target()).fetches.empty());
  // Every second line only: the panel is not read whole.
  const std::vector<ir::Var> u{ir::make_var("j"), ir::make_var("i"), ir::make_var("k")};
  const ir::Expr sparse = ir::to_expr(u[0]) * int64_t{32768} + ir::to_expr(u[2]) * int64_t{16};
  const ir::Buffer wide = ir::make_buffer("wide", kFloat32, {4 * 32768});
  QVERIFY(codegen::panels_of(reader(wide, u, {4, 8, 1024}, sparse), panel_target()).fetches.empty());
}

void PanelsTest::nothing_beyond_the_cache() {
  const std::vector<ir::Var> v{ir::make_var("j"), ir::make_var("i"), ir::make_var("k")};
  const ir::Expr at = ir::to_expr(v[0]) * int64_t{1 << 17} + ir::to_expr(v[2]) * int64_t{16};
  const ir::Buffer w = ir::make_buffer("w", kFloat32, {4 << 17});
  const codegen::Panels panels = codegen::panels_of(reader(w, v, {4, 100, 1 << 13}, at), panel_target());
  QVERIFY(panels.fetches.empty());
  QVERIFY(panels.wide.contains(w.get()));
}

QTEST_GUILESS_MAIN(PanelsTest)
#include "panels_test.moc"
