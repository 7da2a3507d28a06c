// SPDX-License-Identifier: Apache-2.0
#include "engine/api/pass_trace.h"

#include <QTemporaryDir>
#include <QtTest>

#include "engine/api/explain.h"
#include "engine/space/template.h"

using namespace tw;

class PassTraceTest : public QObject {
  Q_OBJECT

  static records::Task dense_layer() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {4, 32}, kFloat32), w = b.placeholder("w", {48, 32}, kFloat32, te::Role::constant);
    const te::Tensor y = b.reduce(
        "dense", {4, 48}, {32}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
    return records::make_task("dense", std::move(b).finish({y}), parse_target("llvm -mcpu=x86-64-v3").value());
  }

 private Q_SLOTS:
  void everyPassIsThereAndTheLastTextIsTheKernels() {
    const records::Task task = dense_layer();
    const records::Candidate c = api::candidate_at(task, 5).value();
    const api::PassTrace trace = api::trace_passes(task, c.steps);
    QVERIFY(!trace.error);
    std::vector<std::string> names;  // a processor without blocks and threads skips what is for those
    for (const tir::Pass& p : tir::passes())
      if (p.on != tir::Pass::On::launches) names.push_back(p.name);
    QCOMPARE(trace.passes.size(), names.size() + 1);
    const api::Explanation explained = api::explain(task, c.steps);
    QCOMPARE(*trace.passes.front().text, explained.lowered);
    QCOMPARE(*trace.passes.back().text, explained.tir);
    int changed = 0;
    for (size_t i = 1; i < trace.passes.size(); ++i) {
      const api::TracedPass& p = trace.passes[i];
      QCOMPARE(p.name, names[i - 1]);
      QVERIFY(!p.summary.empty() && p.seconds >= 0);
      QCOMPARE(p.changed, *p.text != *trace.passes[i - 1].text);
      if (!p.changed) QCOMPARE(p.text.get(), trace.passes[i - 1].text.get());
      changed += p.changed ? 1 : 0;
    }
    QVERIFY(changed >= 3);
  }

  void whatCannotBeLoweredSaysWhy() {
    const api::PassTrace trace = api::trace_passes(dense_layer(), {schedule::FuseStep{99, {0, 1}}});
    QVERIFY(trace.error && trace.passes.empty());
  }

  void tracesPartWhereTheirStructureDoes() {
    const auto trace = [](std::vector<std::string> texts) {
      api::PassTrace t;
      for (std::string& text : texts) t.passes.push_back({"pass", {}, {}, 0, true, std::make_shared<const std::string>(std::move(text))});
      return t;
    };
    const api::PassTrace tile4 = trace({"for i in 4: x[i]", "for i in 4: y[i + 16]", "y[0] y[1] y[2] y[3]"});
    const api::PassTrace tile16 = trace({"for i in 16: x[i]", "for i in 16: y[i + 2]", "for i in 16: y[i]"});
    QCOMPARE(api::first_divergence(tile4, tile16), 2);
    QCOMPARE(api::first_divergence(tile4, tile4), -1);
    QCOMPARE(api::first_divergence(tile4, trace({"for j in 4: x[j]"})), 0);
    // Of a real kernel: the default schedule against a point.
    const records::Task task = dense_layer();
    const auto a = api::trace_passes(task, {}), b = api::trace_passes(task, api::candidate_at(task, 5).value().steps);
    QCOMPARE(api::first_divergence(a, b), 0);
  }

  void graphPassesBeginWithTheImportedGraph() {
    const QTemporaryDir dir;
    const std::string path = dir.filePath("lenet.onnx").toStdString();
    QVERIFY(frontends::write_zoo_model("lenet5", {}, path));
    const Target target = parse_target("llvm -mcpu=x86-64-v3").value();
    const auto network = api::import_network(path, target);
    QVERIFY(network.has_value());
    const api::PassTrace trace = api::trace_graph_passes(*network, target);
    QVERIFY(!trace.error);
    QCOMPARE(*trace.passes.front().text, graph::print(network->imported));
    QCOMPARE(*trace.passes.back().text, graph::print(network->optimized));
    QCOMPARE(trace.passes.back().name, std::string("fuse_transposes"));
    const auto fusing = std::find_if(trace.passes.begin(), trace.passes.end(), [](const auto& p) { return p.name == "fuse_operators"; });
    QVERIFY(fusing != trace.passes.end() && fusing->changed && !trace.passes.back().changed);
  }
};

QTEST_APPLESS_MAIN(PassTraceTest)
#include "pass_trace_test.moc"
