// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "engine/base/hash.h"
#include "engine/frontends/frontend.h"
#include "engine/graph/partition.h"
#include "engine/graph/pass.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using frontends::ZooModel;

namespace {

uint64_t varint(std::string_view& s) {
  uint64_t v = 0;
  for (int shift = 0;; shift += 7) {
    const auto c = static_cast<unsigned char>(s.front());
    s.remove_prefix(1);
    v |= uint64_t{c & 127U} << shift;
    if (c < 128) return v;
  }
}

/// A model's bytes without its weights: those of up to a MiB with ten bits of their fractions, as libraries of functions differ in the last ones, none of larger
/// ones. Field 7 of ONNX's model is its graph, 5 of a graph an initializer, 9 of that its elements.
std::string outline(std::string_view s, size_t depth = 0) {
  constexpr uint64_t kInner[] = {7, 5, 9};
  std::string out;
  while (!s.empty()) {
    const std::string_view field = s;
    const uint64_t tag = varint(s), wire = tag % 8;
    const uint64_t length = wire == 2 ? varint(s) : wire == 5 ? 4 : wire == 1 ? 8 : 0;
    if (wire == 0) varint(s);
    const std::string_view content = s.substr(0, length);
    s.remove_prefix(length);
    if (tag != kInner[depth] * 8 + 2) {
      out += field.substr(0, field.size() - s.size());
    } else if (depth < 2) {
      out += outline(content, depth + 1);
    } else if (content.size() <= size_t{1} << 20) {
      for (size_t at = 0; at + 4 <= content.size(); at += 4) {
        uint32_t bits = 0;
        std::memcpy(&bits, content.data() + at, 4);
        bits = (bits + 0x1000U) & ~0x1fffU;
        out.append(reinterpret_cast<const char*>(&bits), 4);
      }
    }
  }
  return out;
}

}  // namespace

class ZooTest : public QObject {
  Q_OBJECT

  static Graph import(const std::string& name, const frontends::ZooOptions& options) {
    for (const ZooModel& m : frontends::zoo())
      if (name == m.name) return frontends::read_onnx_bytes(m.build(options).value().bytes(), {}).value();
    return {};
  }
  static int count(const Graph& g, const std::string& op) {
    return static_cast<int>(std::count_if(g.nodes.begin(), g.nodes.end(), [&](const Node& n) { return n.op == op; }));
  }
  static void add_models() {
    QTest::addColumn<std::string>("name");
    for (const ZooModel& m : frontends::zoo()) QTest::newRow(m.name) << std::string(m.name);
  }

  /// Trials are found by what a network's tasks are, so that a network which changes is a new one: layers, sizes, attributes and weights stay, small and in full.
  struct Keys {
    const char *tiny, *full;  ///< none of those whose weights take over 1 GiB
  };
  static const Keys& keys_of(const std::string& name) {
    static const std::map<std::string, Keys> keys = {
        {"mlp", {"37bc3e0c97e88893", "885be265ab4debb9"}},
        {"lenet5", {"493710786546d6fd", "06270d9d910a8f7f"}},
        {"resnet18", {"f6a6a96cd8aaa91f", "6bd1bef5ddaeb956"}},
        {"mobilenet_v2", {"b48d06f866168e34", "2a70d928c03e0746"}},
        {"squeezenet1_1", {"1ceda31faf641b12", "a7729a2223904093"}},
        {"resnet50", {"ac108e6b2d625307", "a6c471743a653f68"}},
        {"vgg16", {"817fe6bde5bde500", nullptr}},
        {"densenet121", {"a34da55a714e9296", "5df7860cc3fa8de4"}},
        {"shufflenet_v2", {"96c62787375457da", "2e143d342a447b5f"}},
        {"vit_b_16", {"a451cf1710a5cd7d", nullptr}},
        {"bert_base", {"cf6791683f13f363", nullptr}},
        {"inception_v3", {"9d776bc51e592050", "5d19423341d47b14"}},
        {"dcgan", {"c78fa7126c17048a", "67639a939fed9c71"}},
        {"r3d_18", {"3dd87e63f38c9f57", "b9428c96c2ffc41f"}},
        {"gpt2_small", {"fc2245ec371e4a9e", nullptr}},
        {"llama_block", {"44e155e0d9cc30ac", "bcb8ca96e2ea4dcf"}},
        {"vit_b_32", {"abdef291cb5fc200", nullptr}},
        {"dcgan_discriminator", {"41d8a045dd96c67d", "585181dbe88e87a2"}},
        {"llama_7b_block", {"51254180ea51662e", nullptr}},
    };
    return keys.at(name);
  }
  static QString key_of(const std::string& bytes) { return QString::fromStdString(content_key(outline(bytes)).substr(0, 16)); }
  static std::string built(const std::string& name, const frontends::ZooOptions& options) {
    return std::find_if(frontends::zoo().begin(), frontends::zoo().end(), [&](const ZooModel& m) { return name == m.name; })->build(options).value().bytes();
  }

 private Q_SLOTS:
  void tinyOnesStayWhatTheyWere() {
    for (const ZooModel& m : frontends::zoo()) QCOMPARE(QString(m.name) + " " + key_of(built(m.name, {.tiny = true})), QString(m.name) + " " + keys_of(m.name).tiny);
  }

  void importsInFull_data() { add_models(); }
  void importsInFull() {
    QFETCH(std::string, name);
    if (!keys_of(name).full) QSKIP("takes over 1 GiB");
    const std::string bytes = built(name, {.batch = 2});
    QCOMPARE(key_of(bytes), QString(keys_of(name).full));
    const Graph g = frontends::read_onnx_bytes(bytes, {}).value();
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
        {"dcgan_discriminator", 2765568 + 2 * 896},
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
    const std::map<std::string, int> layers = {{"vit_b_16", 2}, {"vit_b_32", 2}, {"llama_7b_block", 1}, {"bert_base", 2}, {"gpt2_small", 2}, {"llama_block", 1}};
    // The last normalisation of densenet stands between a concatenation and a pooling; transformers multiply in their activations.
    if (!layers.count(name)) QCOMPARE(count(f, "mul"), name == "densenet121" ? 1 : 0);
    QCOMPARE(count(f, "rms_norm"), name.starts_with("llama") ? 2 : 0);
    QCOMPARE(count(f, "matmul"), layers.count(name) ? 2 * layers.at(name) : 0);  // products of activations
    const auto inputs = tw::graph::testing::random_inputs(g, 9);
    const HostArray want = evaluate(g, inputs).value()[0], got = evaluate(f, inputs).value()[0];
    QVERIFY(tw::graph::testing::relative_difference(got, want) < 1e-5);
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < want.num_elements(); ++i) {
      low = std::min(low, want.get(i));
      high = std::max(high, want.get(i));
    }
    QVERIFY2(high < 100 && low > -100 && (want.num_elements() == 1 || high - low > 1e-3), QByteArray::number(low) + " to " + QByteArray::number(high));
  }

  void seedsAndBatches() {
    const ZooModel& m = frontends::zoo()[0];
    QVERIFY(m.build({.tiny = true, .seed = 1}).value().bytes() == m.build({.tiny = true, .seed = 1}).value().bytes());
    QVERIFY(m.build({.tiny = true, .seed = 1}).value().bytes() != m.build({.tiny = true, .seed = 2}).value().bytes());
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
