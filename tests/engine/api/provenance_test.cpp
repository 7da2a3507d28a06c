// SPDX-License-Identifier: Apache-2.0
// From graph node to te stage to TIR line to LLVM IR line to assembly line and back.
#include "engine/api/provenance.h"

#include <QtTest>
#include <algorithm>

#include "engine/api/explain.h"
#include "engine/base/text.h"
#include "engine/tune/candidate.h"
#include "tests/engine/api/tiny_network.h"

using namespace tw;
using api::Level;

class ProvenanceTest : public QObject {
  Q_OBJECT

  Target target_;

  /// A kernel of a bundled network whose nodes are of all these operators.
  struct Kernel {
    api::Network network;
    int group = -1;
    int node(const std::string& op) const {
      for (const int n : network.partition.groups[static_cast<size_t>(group)].nodes)
        if (network.optimized.nodes[static_cast<size_t>(n)].op == op) return n;
      return -1;
    }
  };
  Kernel kernel(const std::string& name, const std::vector<std::string>& ops) const {
    Kernel k{api::testing::tiny_network(name, target_)};
    for (const graph::Group& g : k.network.partition.groups) {
      k.group = g.id;
      if (std::all_of(ops.begin(), ops.end(), [&](const std::string& op) { return k.node(op) >= 0; })) return k;
    }
    k.group = -1;
    return k;
  }

  static bool contains(const std::vector<int>& list, int n) { return std::find(list.begin(), list.end(), n) != list.end(); }
  /// Whether one of the numbered lines has `part` in it.
  static bool any_line(const std::string& text, const std::vector<int>& numbers, const char* part) {
    const auto lines = split_lines(text);
    return std::any_of(numbers.begin(), numbers.end(), [&](int n) { return lines[static_cast<size_t>(n)].find(part) != std::string_view::npos; });
  }
  /// Every relation holds from both ends. `counts` of things per level.
  static void symmetric(const api::Provenance& p, const std::array<int, 7>& counts) {
    for (int from = 0; from < 7; ++from)
      for (int to = 0; to < 7; ++to)
        for (int n = 0; n < counts[static_cast<size_t>(from)]; ++n)
          for (const int m : p.related(static_cast<Level>(from), n, static_cast<Level>(to))) {
            QVERIFY(m >= 0 && m < counts[static_cast<size_t>(to)]);
            QVERIFY(contains(p.related(static_cast<Level>(to), m, static_cast<Level>(from)), n));
          }
  }
  static std::array<int, 7> counts(const Kernel& k, const api::Explanation& e, const schedule::Schedule& s) {
    const auto lines = [](const std::string& text) { return static_cast<int>(split_lines(text).size()); };
    return {static_cast<int>(k.network.optimized.nodes.size()),
            static_cast<int>(s.stages().size()),
            static_cast<int>(s.steps().size()),
            lines(e.loops),
            lines(e.tir),
            lines(e.llvm_ir),
            lines(e.assembly)};
  }

 private Q_SLOTS:
  void initTestCase() { target_ = parse_target("llvm -mcpu=x86-64-v3").value(); }

  void fusedConvolution() {
    const Kernel k = kernel("squeezenet1_1", {"conv2d", "relu"});
    QVERIFY(k.group >= 0);
    const te::DagPtr dag = k.network.partition.groups[static_cast<size_t>(k.group)].dag;
    const std::vector<schedule::Step> steps = tune::default_candidate(records::make_task("conv", dag, target_)).steps;
    const schedule::Schedule s = schedule::Schedule::replay(dag, steps).value();
    const api::Explanation e = api::explain(k.network, k.group, target_, steps);
    QVERIFY2(!e.error, e.error ? e.error->text().c_str() : "");
    const api::Provenance& p = e.provenance;
    const int conv = k.node("conv2d"), relu = k.node("relu");
    for (const int node : {conv, relu})
      for (const Level to : {Level::stage, Level::tir_line, Level::llvm_line, Level::assembly_line}) QVERIFY(!p.related(Level::node, node, to).empty());

    // The convolution's code multiplies and adds; the activation's takes a maximum. Each is found from the node, and finds it again.
    QVERIFY(any_line(e.tir, p.related(Level::node, conv, Level::tir_line), " * "));
    QVERIFY(any_line(e.llvm_ir, p.related(Level::node, conv, Level::llvm_line), "fmul") ||
            any_line(e.llvm_ir, p.related(Level::node, conv, Level::llvm_line), "fma"));
    QVERIFY(any_line(e.assembly, p.related(Level::node, conv, Level::assembly_line), "vfmadd"));
    QVERIFY(any_line(e.tir, p.related(Level::node, relu, Level::tir_line), "max("));
    QVERIFY(any_line(e.assembly, p.related(Level::node, relu, Level::assembly_line), "vmax"));
    const auto assembly = split_lines(e.assembly);
    for (size_t line = 0; line < assembly.size(); ++line)
      if (assembly[line].find("vfmadd") != std::string_view::npos)
        QVERIFY(contains(p.related(Level::assembly_line, static_cast<int>(line), Level::node), conv));
    symmetric(p, counts(k, e, s));
    QVERIFY(p.related(Level::node, static_cast<int>(k.network.optimized.nodes.size()), Level::tir_line).empty());
    QVERIFY(p.related(Level::tir_line, -1, Level::node).empty());
  }

  void tunedDense() {
    const Kernel k = kernel("mlp", {"dense"});
    QVERIFY(k.group >= 0);
    const graph::Group& group = k.network.partition.groups[static_cast<size_t>(k.group)];
    const records::Task task = records::make_task("dense", group.dag, target_);
    std::optional<records::Candidate> candidate;
    for (int64_t index = 0; index < 500 && !candidate; ++index)
      if (auto c = api::candidate_at(task, index)) candidate = *c;
    QVERIFY(candidate);
    const schedule::Schedule s = schedule::Schedule::replay(group.dag, candidate->steps).value();
    const api::Explanation e = api::explain(k.network, k.group, target_, candidate->steps);
    QVERIFY2(!e.error, e.error ? e.error->text().c_str() : "");
    const api::Provenance& p = e.provenance;
    const int dense = k.node("dense");
    symmetric(p, counts(k, e, s));

    // Several stages (the cache and the copy out of it, at least) come from the one node, and every multiply-add goes back to it.
    QVERIFY(p.related(Level::node, dense, Level::stage).size() >= 2);
    const auto assembly = split_lines(e.assembly);
    int found = 0;
    for (size_t line = 0; line < assembly.size(); ++line) {
      if (assembly[line].find("vfmadd") == std::string_view::npos) continue;
      ++found;
      QVERIFY(contains(p.related(Level::assembly_line, static_cast<int>(line), Level::node), dense));
      QVERIFY(any_line(e.llvm_ir, p.related(Level::assembly_line, static_cast<int>(line), Level::llvm_line), "fm"));
    }
    QVERIFY(found > 0);

    // Steps and the loops and arrays that they made.
    int loops = 0;
    for (int step = 0; step < static_cast<int>(s.steps().size()); ++step)
      for (const int line : p.related(Level::step, step, Level::tir_line)) {
        loops += any_line(e.tir, {line}, "for ");
        QVERIFY(contains(p.related(Level::tir_line, line, Level::step), step));
      }
    QVERIFY(loops > 0);
  }

  /// The first stage is one that is computed.
  void withoutArguments() {
    te::DagBuilder b;
    const te::Tensor y = b.compute("y", {64}, [](const te::Indices& i) { return ir::cast(kFloat32, i[0]); });
    const records::Task task = records::make_task("numbers", std::move(b).finish({y}), target_);
    const api::Explanation e = api::explain(task, {});
    QVERIFY2(!e.error, e.error ? e.error->text().c_str() : "");
    QVERIFY(!e.provenance.related(Level::stage, 0, Level::tir_line).empty());
    for (int line = 0; line < static_cast<int>(split_lines(e.loops).size()); ++line) QVERIFY(!e.provenance.related(Level::loop, line, Level::tir_line).empty());
  }

  void withoutAGraph() {
    const Kernel k = kernel("mlp", {"dense"});
    const records::Task task = records::make_task("dense", k.network.partition.groups[static_cast<size_t>(k.group)].dag, target_);
    const api::Explanation e = api::explain(task, tune::default_candidate(task).steps);
    QVERIFY(!e.provenance.related(Level::stage, static_cast<int>(task.dag->ops.size()) - 1, Level::assembly_line).empty());
    QVERIFY(e.provenance.related(Level::stage, static_cast<int>(task.dag->ops.size()) - 1, Level::node).empty());
    QVERIFY(api::explain(k.network, 1 << 20, target_, {}).error);
  }
};

QTEST_APPLESS_MAIN(ProvenanceTest)
#include "provenance_test.moc"
