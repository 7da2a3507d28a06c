// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <set>

#include "engine/api/explain.h"
#include "engine/space/sketch/open_schedule.h"
#include "engine/space/template.h"
#include "engine/tune/candidate.h"
#include "tests/engine/api/tiny_network.h"

using namespace tw;

/// What there is to tune in a network.
class ImportNetworkTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A task names the spaces that a search goes through and, beside them, those that are searched when asked for by name.
  void spacesOfTasks() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=4").value();
    std::set<std::string> others;
    for (const char* name : {"mobilenet_v2", "bert_base"}) {
      const api::Network network = api::testing::tiny_network(name, target);
      double shares = 0, before = 1;
      for (const api::NetworkTask& t : api::network_tasks(network, target)) {
        std::string names;
        int64_t points = 0;
        std::set<std::string> searched;
        for (const space::Template* s : space::alternatives(*t.task.dag, target)) {
          names += (names.empty() ? "" : " + ") + std::string(s->name);
          searched.insert(s->name);
          points += s->space(*t.task.dag, target).size();
        }
        QCOMPARE(t.space, names.empty() ? std::string("default") : names);
        QCOMPARE(t.space_size, std::max<int64_t>(1, points));
        QCOMPARE(searched.size() + t.other_spaces.size(), space::find_templates(*t.task.dag, target).size());
        for (const auto& [other, size] : t.other_spaces) {
          QVERIFY2(!searched.count(other), other.c_str());
          QCOMPARE(size, space::find_template(*t.task.dag, target, other)->space(*t.task.dag, target).size());
          others.insert(other);
        }
        QVERIFY(t.flops_share <= before);
        before = t.flops_share;
        shares += t.flops_share;
      }
      QVERIFY(std::abs(shares - 1) < 1e-9);
    }
    for (const char* other : {"conv2d_NCHWc.x86", "dense_nopack.x86"}) QVERIFY2(others.count(other), other);
  }

  /// Tasks that differ in shapes, strides and borders alone have one structure: at the sizes at which Felix counted them, as many kinds of as many tasks. Of those
  /// that only move elements there it counts none.
  void kindsOfTasks() {
    struct Count {
      const char* name;
      size_t tasks, kinds;
    };
    const Target target = parse_target("cuda:a100").value();
    for (const Count& want : {Count{"resnet50", 27, 6}, Count{"mobilenet_v2", 32, 6}, Count{"r3d_18", 17, 5}, Count{"dcgan", 5, 2}}) {
      const QTemporaryDir folder;
      const std::string path = folder.filePath(QStringLiteral("network.onnx")).toStdString();
      QVERIFY(frontends::write_zoo_model(want.name, {}, path));
      graph::PassHooks hooks;
      hooks.enabled = {"channels_last"};
      const api::Network network = api::import_network(path, target, {}, hooks).value();
      std::set<uint64_t> kinds;
      size_t tasks = 0;
      for (const api::NetworkTask& t : api::network_tasks(network, target)) {
        if (t.task.flops == 0) continue;
        ++tasks;
        kinds.insert(space::family_of(*t.task.dag));
      }
      QVERIFY2(tasks == want.tasks && kinds.size() == want.kinds, qPrintable(QString("%1: %2 tasks of %3 kinds").arg(want.name).arg(tasks).arg(kinds.size())));
    }
  }

  /// A kernel's symbol is the network's, its number and its name as far as that goes.
  void symbolsOfKernels() {
    const Target target = host_target();
    const api::Network network = api::testing::tiny_network("mlp", target);
    const runtime::Executable e = api::compile(network, target, nullptr, {.symbols = "net"}).value();
    QVERIFY(!e.artifact.kernels.empty());
    std::set<std::string> names;
    for (const graph::Group& g : network.partition.groups) names.insert(g.name.substr(0, 60));
    for (size_t k = 0; k < e.artifact.kernels.size(); ++k) {
      const std::string start = "net_k" + std::to_string(k) + "_", symbol = e.artifact.kernels[k].name;
      QVERIFY2(symbol.starts_with(start) && names.count(symbol.substr(start.size())), symbol.c_str());
    }
  }

  /// A task that several groups of a network compute is explained with the nodes of all of them.
  void nodesOfAllGroups() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=4").value();
    const api::Network network = api::testing::tiny_network("bert_base", target);
    bool several = false;
    for (const graph::Workload& w : network.partition.workloads) {
      if (w.weight() < 2) continue;
      const records::Task task = records::make_task(w.name, w.dag, target);
      const api::Explanation x = api::explain(task, tune::default_candidate(task).steps, network, w.groups);
      QVERIFY2(!x.error, x.error ? x.error->text().c_str() : "");
      for (const int g : w.groups)
        for (const int n : network.partition.groups[static_cast<size_t>(g)].nodes) {
          const std::vector<int> stages = x.provenance.related(api::Level::node, n, api::Level::stage);
          QVERIFY(!stages.empty());
          for (const int stage : stages) {
            const std::vector<int> back = x.provenance.related(api::Level::stage, stage, api::Level::node);
            QVERIFY(std::find(back.begin(), back.end(), n) != back.end());
            QVERIFY(back.size() >= w.groups.size());
          }
        }
      several = true;
      if (w.weight() > 2) break;
    }
    QVERIFY(several);
  }
};

QTEST_APPLESS_MAIN(ImportNetworkTest)
#include "import_network_test.moc"
