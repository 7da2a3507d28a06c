// SPDX-License-Identifier: Apache-2.0
#include "engine/api/graph_json.h"

#include <set>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "tests/engine/api/tiny_network.h"

#include <QtTest>

using namespace tw;

class GraphJsonTest : public QObject {
  Q_OBJECT

  Target target_;

  api::Network network(const std::string& name) const { return api::testing::tiny_network(name, target_); }

 private Q_SLOTS:
  void initTestCase() { target_ = host_target(); }

  /// What TVM's executor relies on when it loads such a file.
  void structure_data() {
    QTest::addColumn<std::string>("name");
    for (const char* name : {"mlp", "resnet18", "shufflenet_v2", "bert_base", "llama_block", "densenet121"}) QTest::newRow(name) << std::string(name);
  }
  void structure() {
    QFETCH(std::string, name);
    const api::Network n = network(name);
    const runtime::Executable e = api::compile(n, target_, nullptr).value();
    const Json j = api::graph_executor_json(n, e);
    const Json &nodes = j["nodes"], &rows = j["node_row_ptr"], &attrs = j["attrs"];
    const size_t entries = rows.back().get<size_t>();
    QCOMPARE(rows.size(), nodes.size() + 1);
    for (const char* key : {"shape", "dltype", "storage_id", "device_index"}) QCOMPARE(attrs[key][1].size(), entries);
    QCOMPARE(attrs["shape"][0], Json("list_shape"));
    QCOMPARE(attrs["dltype"][0], Json("list_str"));
    QCOMPARE(attrs["storage_id"][0], Json("list_int"));
    std::set<std::string> names;
    std::vector<size_t> arguments;
    size_t kernels = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Json& node = nodes[i];
      QVERIFY(names.insert(node["name"].get<std::string>()).second);
      const bool null = node["op"] == "null";
      if (null) arguments.push_back(i);
      const size_t outputs = null ? 1 : std::stoul(node["attrs"]["num_outputs"].get<std::string>());
      QCOMPARE(rows[i].get<size_t>() + outputs, rows[i + 1].get<size_t>());
      for (const Json& in : node["inputs"]) {
        QVERIFY(in[0].get<size_t>() < i);  // topological
        QVERIFY(rows[in[0].get<size_t>()].get<size_t>() + in[1].get<size_t>() < rows[in[0].get<size_t>() + 1].get<size_t>());
      }
      if (null) {
        QVERIFY(!node.contains("attrs"));  // TVM's reader takes none here
        continue;
      }
      if (node["attrs"]["func_name"] == "__nop") {  // a view of others
        QVERIFY(!node["inputs"].empty());
        continue;
      }
      ++kernels;
      QCOMPARE(std::stoul(node["attrs"]["num_inputs"].get<std::string>()), node["inputs"].size());
      for (const auto& [key, value] : node["attrs"].items()) QVERIFY2(value.is_string(), key.c_str());
    }
    QCOMPARE(kernels, e.calls.size());
    QCOMPARE(j["arg_nodes"], Json(arguments));
    QCOMPARE(j["heads"].size(), e.outputs.size());
  }

  /// Run as TVM would: values that share a storage are never alive together.
  void storageIsSharedSafely() {
    const api::Network n = network("resnet18");
    const Json j = api::graph_executor_json(n, api::compile(n, target_, nullptr).value());
    const Json &nodes = j["nodes"], &rows = j["node_row_ptr"], &storage = j["attrs"]["storage_id"][1];
    std::map<int, std::pair<size_t, size_t>> holds;  // storage -> node and output that it holds
    bool reused = false;
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const Json& in : nodes[i]["inputs"]) {
        const size_t entry = rows[in[0].get<size_t>()].get<size_t>() + in[1].get<size_t>();
        const auto want = std::pair(in[0].get<size_t>(), in[1].get<size_t>());
        QCOMPARE(holds.at(storage[entry].get<int>()), want);
      }
      for (size_t o = 0; rows[i].get<size_t>() + o < rows[i + 1].get<size_t>(); ++o) {
        const int s = storage[rows[i].get<size_t>() + o].get<int>();
        reused |= holds.count(s) != 0;
        holds[s] = {i, o};
      }
    }
    QVERIFY(reused);
  }

  void namesAreTvms() {
    const api::Network n = network("resnet18");
    const Json j = api::graph_executor_json(n, api::compile(n, target_, nullptr).value());
    std::set<std::string> functions;
    for (const Json& node : j["nodes"])
      if (node["op"] == "tvm_op") functions.insert(node["attrs"]["func_name"].get<std::string>());
    QVERIFY(functions.count("tvmgen_default_fused_nn_conv2d_add_nn_relu") == 1);
    QVERIFY(functions.count("tvmgen_default_fused_nn_max_pool2d") == 1);
    QCOMPARE(j["nodes"][0]["name"], Json("input"));
    QCOMPARE(j["nodes"][1]["name"], Json("p0"));
    const Json& conv = j["nodes"][j["arg_nodes"].size()]["attrs"];
    QVERIFY2(conv["data_layout"].get<std::string>().starts_with("NCHW"), conv.dump().c_str());
    QVERIFY(conv["symbol"].get<std::string>().starts_with("resnet18_k0_"));
  }
};

QTEST_APPLESS_MAIN(GraphJsonTest)
#include "graph_json_test.moc"
