// SPDX-License-Identifier: Apache-2.0
#include "engine/api/gpu_check.h"

#include <QtTest>

#include "engine/lower/lower.h"
#include "engine/space/template.h"
#include "engine/target/target.h"
#include "engine/te/dag.h"
#include "engine/tir/visit.h"
#include "tests/engine/lower/gpu_schedules.h"

using namespace tw;

/// Kernels for GPUs looked at without one: right ones pass, and each planted mistake is found.
class GpuCheckTest : public QObject {
  Q_OBJECT

  static schedule::Schedule product() {
    return tw::testing::tiled_matmul({.m = 64, .n = 64, .k = 64, .vy = 1, .ty = 8, .iy = 2, .vx = 1, .tx = 8, .ix = 2, .ko = 8}).finish().value();
  }
  static tir::Func lowered(const schedule::Schedule& s) { return lower::lower_and_optimize(s, "kernel", parse_target("cuda:a100,tf32").value()).value(); }
  static tir::Stmt changed(const tir::Stmt& s, const std::function<tir::Stmt(const tir::Stmt&)>& f) {
    return f(tir::map_children(
        s, [&](const tir::Stmt& c) { return changed(c, f); }, [](const ir::Expr& e) { return e; }));
  }

 private Q_SLOTS:
  void rightKernelsPass() {
    for (const tw::testing::GpuSchedule& g : tw::testing::gpu_schedules()) {
      const tir::Func f = lowered(g.schedule);
      const auto check = api::check_gpu_kernel(*g.schedule.dag(), f, {.tf32 = true});
      QVERIFY2(check, g.name.c_str());
      QVERIFY2(check->elements > 0 && check->blocks_run > 0 && check->blocks_run <= check->blocks, g.name.c_str());
    }
  }
  void someBlocksOfMany() {
    const schedule::Schedule s = product();
    const auto check = api::check_gpu_kernel(*s.dag(), lowered(s), {.blocks = 2, .elements = 10});
    QVERIFY(check);
    QCOMPARE(check->blocks, 16);
    QCOMPARE(check->blocks_run, 2);
    QCOMPARE(check->elements, 20);
  }
  /// Convolutions for tensor cores take and leave images with the channels innermost in memory.
  void layoutsOfArguments() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {1, 16, 8, 8}, kFloat16), w = b.placeholder("w", {24, 16, 1, 1}, kFloat16, te::Role::constant);
    records::Task task;
    task.target = parse_target("cuda:a100").value();
    task.dag = std::move(b).finish(
        {b.reduce("conv2d", {1, 24, 8, 8}, {16, 1, 1}, te::Reducer::sum,
                  [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0], s[2] + r[1], s[3] + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d",
                  {{"strides", {1, 1}}})});
    const schedule::Schedule s = space::default_schedule(task.dag, task.target);
    QCOMPARE(s.stages()[static_cast<size_t>(s.outputs().front())].layout.size(), size_t{4});
    const auto check = api::check_gpu_kernel(task, s.steps(), {.blocks = 100, .elements = 1 << 20});
    QVERIFY2(check, check ? "" : check.error().text().c_str());
    QCOMPARE(check->elements, int64_t{24 * 64});
  }
  void missingBarriersAreFound() {
    const schedule::Schedule s = product();
    tir::Func f = lowered(s);
    int removed = 0;
    f.body = changed(f.body, [&](const tir::Stmt& st) {
      if (!tir::as<tir::SyncNode>(st)) return st;
      ++removed;
      return tir::nop();
    });
    QVERIFY(removed > 0);
    const auto check = api::check_gpu_kernel(*s.dag(), f, {});
    QVERIFY(!check);
    QCOMPARE(check.error().code, ErrorCode::wrong_result);
  }
  void wrongValuesAreFound() {
    const schedule::Schedule s = product();
    tir::Func f = lowered(s);
    f.body = changed(f.body, [&](const tir::Stmt& st) {
      const auto* n = tir::as<tir::StoreNode>(st);
      return n && n->buffer.same_as(f.params.back()) ? tir::store(n->buffer, n->indices, n->value * ir::fimm(kFloat32, 1.001), n->origin) : st;
    });
    const auto check = api::check_gpu_kernel(*s.dag(), f, {});
    QVERIFY(!check);
    QCOMPARE(check.error().code, ErrorCode::wrong_result);
    QVERIFY2(check.error().message.find("Expected") == 0, check.error().message.c_str());
  }
  void elementsOfTwoBlocksAreFound() {
    const schedule::Schedule s = product();
    tir::Func f = lowered(s);
    // All blocks compute what the first does.
    const std::function<tir::Stmt(const tir::Stmt&)> first = [&](const tir::Stmt& st) -> tir::Stmt {
      const auto* loop = tir::as<tir::ForNode>(st);
      if (!loop || !tir::is_block(loop->for_kind)) return st;
      return tir::make_for(loop->var, loop->min, loop->extent, loop->for_kind, tir::substitute(first(loop->body), {{loop->var.get(), ir::index(0)}}),
                           loop->origin);
    };
    f.body = first(f.body);
    const auto check = api::check_gpu_kernel(*s.dag(), f, {});
    QVERIFY(!check);
    QVERIFY2(check.error().message.find("written by two") != std::string::npos, check.error().message.c_str());
  }
  /// What several launches do together is run whole, if it is not too much; weights are packed as the kernel takes them.
  void severalLaunches() {
    const Target target = parse_target("cuda:a100").value();
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {1, 4, 6, 6}, kFloat32), w = b.placeholder("w", {6, 4, 3, 3}, kFloat32, te::Role::constant);
    const te::Tensor y = b.reduce(
        "y", {1, 6, 4, 4}, {4, 3, 3}, te::Reducer::sum,
        [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0], s[2] + r[1], s[3] + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d");
    const te::DagPtr dag = std::move(b).finish({y});
    const space::Template* t = space::find_template(*dag, target, "conv2d_nchw_winograd.cuda");
    QVERIFY(t);
    const space::ConfigEntity point = t->space(*dag, target).best_by([](const space::ConfigEntity&) { return 0.0; });
    const auto schedule = t->apply(dag, target, point);
    QVERIFY(schedule);
    const records::Task task = records::make_task("conv", dag, target);
    const auto whole = api::check_gpu_kernel(task, schedule->steps(), {});
    QVERIFY2(whole, whole ? "" : whole.error().text().c_str());
    QCOMPARE(whole->blocks_run, whole->blocks);
    QCOMPARE(whole->elements, 6 * 4 * 4);
    const auto too_much = api::check_gpu_kernel(task, schedule->steps(), {.most_flops = 0});
    QVERIFY(too_much);
    QCOMPARE(too_much->blocks_run, 0);
    QVERIFY(!too_much->not_run.empty() && whole->not_run.empty());
    const auto most = [&](int64_t flops) { return api::check_gpu_kernel(task, schedule->steps(), {.most_flops = flops})->blocks_run; };
    QCOMPARE(most(te::flops(*dag)), whole->blocks);
    QCOMPARE(most(te::flops(*dag) - 1), 0);
  }
};

QTEST_APPLESS_MAIN(GpuCheckTest)
#include "gpu_check_test.moc"
