// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/frontends/frontend.h"
#include "engine/graph/partition.h"
#include "engine/graph/pass.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using frontends::ZooModel;

class ZooTest : public QObject {
  Q_OBJECT

  static Graph import(const std::string& name, const frontends::ZooOptions& options) {
    for (const ZooModel& m : frontends::zoo())
      if (name == m.name) return frontends::read_onnx_bytes(m.build(options).value(), {}).value();
    return {};
  }
  static int count(const Graph& g, const std::string& op) {
    return static_cast<int>(std::count_if(g.nodes.begin(), g.nodes.end(), [&](const Node& n) { return n.op == op; }));
  }
  static void add_models() {
    QTest::addColumn<std::string>("name");
    for (const ZooModel& m : frontends::zoo()) QTest::newRow(m.name) << std::string(m.name);
  }

 private Q_SLOTS:
  void importsInFull_data() { add_models(); }
  void importsInFull() {
    QFETCH(std::string, name);
    if (name == "vgg16" || name == "vit_b_16" || name == "bert_base" || name == "gpt2_small") QSKIP("takes over 1 GiB");
    const Graph g = import(name, {.batch = 2});
    QVERIFY(verify(g));
    QCOMPARE(g.values[static_cast<size_t>(g.inputs.at(0))].type.shape[0], int64_t{2});
    // Parameters of the published networks, batch statistics included.
    const std::map<std::string, int64_t> parameters = {
        {"mlp", 784 * 512 + 512 + 512 * 256 + 256 + 256 * 10 + 10},
        {"lenet5", 61706},
        {"resnet18", 11689512 + 2 * 4800},
        {"mobilenet_v2", 3504872 + 2 * 17056},
        {"squeezenet1_1", 1235496},
        {"resnet50", 25557032 + 2 * 26560},
        {"densenet121", 7978856 + 2 * 41824},
        {"shufflenet_v2", 2278604 + 2 * 8090},
        {"inception_v3", 27161264 - 3326696 + 2 * 17216},  // without the auxiliary classifier
        {"dcgan", 3576704 + 2 * 960},
        {"r3d_18", 33371472 + 2 * 4800},
        // Projections and norms; tables of the rotation, the mask, exponents, epsilons and the scale.
        {"llama_block", 44044288 + 2 * 128 * 64 + 128 * 128 + 2 * 2 + 1},
    };
    QCOMPARE(g.parameter_count(), parameters.at(name));
  }

  void tinyStaysBoundedAndPassesKeepResults_data() { add_models(); }
  void tinyStaysBoundedAndPassesKeepResults() {
    QFETCH(std::string, name);
    const Graph g = import(name, {.tiny = true});
    const Graph f = run_passes(g, Target{}).value();
    QCOMPARE(count(f, "batch_norm") + count(f, "identity"), 0);
    const std::map<std::string, int> layers = {{"vit_b_16", 2}, {"bert_base", 2}, {"gpt2_small", 2}, {"llama_block", 1}};
    // The last normalisation of densenet stands between a concatenation and a pooling; transformers multiply in their activations.
    if (!layers.count(name)) QCOMPARE(count(f, "mul"), name == "densenet121" ? 1 : 0);
    QCOMPARE(count(f, "rms_norm"), name == "llama_block" ? 2 : 0);
    QCOMPARE(count(f, "matmul"), layers.count(name) ? 2 * layers.at(name) : 0);  // products of activations
    const auto inputs = tw::graph::testing::random_inputs(g, 9);
    const HostArray want = evaluate(g, inputs).value()[0], got = evaluate(f, inputs).value()[0];
    QVERIFY(tw::graph::testing::relative_difference(got, want) < 1e-5);
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < want.num_elements(); ++i) {
      low = std::min(low, want.get(i));
      high = std::max(high, want.get(i));
    }
    QVERIFY2(high < 100 && low > -100 && high - low > 1e-3, QByteArray::number(low) + " to " + QByteArray::number(high));
  }

  void seedsAndBatches() {
    const ZooModel& m = frontends::zoo()[0];
    QVERIFY(m.build({.tiny = true, .seed = 1}).value() == m.build({.tiny = true, .seed = 1}).value());
    QVERIFY(m.build({.tiny = true, .seed = 1}).value() != m.build({.tiny = true, .seed = 2}).value());
  }

  void resnetGroups() {
    const Graph g = run_passes(import("resnet18", {.tiny = true}), Target{}).value();
    const Partition p = partition(g).value();
    std::vector<std::string> names;
    for (const Group& group : p.groups) names.push_back(group.name);
    const std::string first = "fused_conv2d_add_relu", second = "fused_conv2d_add_add_relu", shortcut = "fused_conv2d_add";
    const std::vector<std::string> plain = {first, second, first, second}, strided = {first, shortcut, second, first, second};
    std::vector<std::string> want = {first, "fused_max_pool2d"};
    want.insert(want.end(), plain.begin(), plain.end());
    for (int i = 0; i < 3; ++i) want.insert(want.end(), strided.begin(), strided.end());
    want.insert(want.end(), names.end() - 2, names.end());  // flattening and the classifier, see below; the mean of one position is gone
    QCOMPARE(names, want);
    QVERIFY(names.back().find("dense") != std::string::npos);
    QCOMPARE(std::count_if(names.begin(), names.end(), [](const std::string& n) { return n.find("conv2d") != std::string::npos; }), 20);
  }

  void resnetWorkloads() {
    const Graph g = run_passes(import("resnet18", {}), Target{}).value();
    const Partition p = partition(g).value();
    // 20 convolutions; equal shapes with equal followers are one task: the stem, 2 in the first stage, 4 in each later one.
    int convolutions = 0, groups = 0;
    for (const Workload& w : p.workloads)
      if (w.name.find("conv2d") != std::string::npos) {
        ++convolutions;
        groups += w.weight();
      }
    QCOMPARE(groups, 20);
    QCOMPARE(convolutions, 1 + 2 + 3 * 4);
    const auto heaviest =
        std::max_element(p.workloads.begin(), p.workloads.end(), [](const Workload& a, const Workload& b) { return a.weight() < b.weight(); });
    QCOMPARE(heaviest->weight(), 2);
  }

  void mobilenetIsDepthwise() {
    const Graph g = run_passes(import("mobilenet_v2", {}), Target{}).value();
    const Partition p = partition(g).value();
    int depthwise = 0;
    for (const Group& group : p.groups)
      for (const te::Op& op : group.dag->ops) depthwise += op.tag == "depthwise_conv2d";
    QCOMPARE(depthwise, 17);
  }

  void writingNamesWhatIsThere() {
    const auto wrong = frontends::write_zoo_model("alexnet", {}, "/tmp/never.onnx");
    QCOMPARE(wrong.error().code, ErrorCode::not_found);
    QVERIFY(wrong.error().message.find("resnet18") != std::string::npos);
    QCOMPARE(frontends::write_zoo_model("mlp", {.tiny = true}, "/no/such/folder/x.onnx").error().code, ErrorCode::not_found);
    QTemporaryDir folder;
    const std::string path = folder.filePath("mlp.onnx").toStdString();
    QVERIFY(frontends::write_zoo_model("mlp", {.tiny = true}, path));
    QVERIFY(frontends::read_onnx(path));
    QVERIFY(!std::filesystem::exists(path + ".tmp"));
  }
};

QTEST_APPLESS_MAIN(ZooTest)
#include "zoo_test.moc"
