// SPDX-License-Identifier: Apache-2.0
#include "engine/api/kernel_plan.h"

#include "engine/api/explain.h"
#include "engine/codegen/codegen.h"
#include "engine/lower/lower.h"
#include "engine/runtime/graph_executor.h"
#include "tests/engine/graph/graphs.h"

// After the engine: Qt makes a macro of the word that an executable calls its arrays by.
#include <QtTest>

using namespace tw;
using graph::testing::Net;

class KernelPlanTest : public QObject {
  Q_OBJECT

  const Target target_ = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();  // eight lanes

  struct Source : records::RecordSource {
    std::map<std::string, records::Record> records;
    Expected<std::optional<records::Record>> best(const std::string& key, records::Weights) override {
      const auto it = records.find(key);
      return it == records.end() ? std::nullopt : std::optional(it->second);
    }
  };
  api::Network network(graph::Graph g) const {
    api::Network n{g, graph::run_passes(g, target_).value(), {}, "none"};
    n.partition = graph::partition(n.optimized).value();
    return n;
  }
  /// The first valid point of every task that has a template.
  Source all_records(const api::Network& n) const {
    Source s;
    for (const api::NetworkTask& t : api::network_tasks(n, target_))
      for (int64_t i = 0; t.space != "default" && i < t.space_size; ++i) {
        auto c = api::candidate_at(t.task, i);
        if (!c) continue;
        s.records.emplace(t.task.key, records::Record{t.task.key, *c, {}});
        break;
      }
    return s;
  }
  /// Copies that compiling with all records puts in, after checking the results on this machine; -1 if they are wrong.
  int copies(const graph::Graph& g) const {
    const api::Network n = network(g);
    Source s = all_records(n);
    const runtime::Executable e = api::compile(n, target_, &s).value();
    const auto inputs = graph::testing::random_inputs(g, 8);
    const auto want = graph::evaluate(g, inputs).value();
    auto executor = runtime::GraphExecutor::create(std::make_shared<const runtime::Executable>(e), *codegen::load_object(e.artifact.object), 1).value();
    executor->set_inputs(inputs).value();
    executor->run().value();
    const auto got = executor->outputs().value();
    for (size_t i = 0; i < want.size(); ++i)
      if (api::compare(got[i], want[i]).max_rel > 1e-5) return -1;
    return static_cast<int>(std::count_if(e.calls.begin(), e.calls.end(), [](const runtime::Call& c) { return c.task_key.empty(); }));
  }

 private Q_SLOTS:
  void initTestCase() {
    if (!(host_target().vector_bits >= 256)) QSKIP("needs a processor with AVX2");
  }

  void inputsAndOutputsAreCopiedOnlyWhereBlocked() {
    Net stem;  // three channels cannot be blocked; the last kernel has the default schedule and writes rows
    const int c = stem.op("relu", {stem.conv(stem.input({1, 3, 8, 8}), 3, 16)});
    QCOMPARE(copies(stem.finish({stem.op("softmax", {c})})), 0);
    Net blocked;
    QCOMPARE(copies(blocked.finish({blocked.conv(blocked.input({1, 16, 8, 8}), 16, 16)})), 2);
  }

  void defaultKernelsAdoptLayouts() {
    Net n;
    graph::Attrs pool;
    pool.values = {{"kernel", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}};
    const int a = n.op("relu", {n.conv(n.input({1, 3, 8, 8}), 3, 16)});
    const int b = n.op("max_pool2d", {a}, pool);
    const int d = n.op("relu", {n.conv(b, 16, 24)});
    QCOMPARE(copies(n.finish({n.op("reduce_mean", {d},
                                   [] {
                                     graph::Attrs x;
                                     x.values["axes"] = std::vector<int64_t>{2, 3};
                                     return x;
                                   }())})),
             0);
  }

  void concatenationMovesTowardsItsReader() {
    Net n;  // 4 + 12 channels in blocks of 4 meet a reader that wants blocks of 8
    const int x = n.input({1, 3, 8, 8});
    graph::Attrs axis;
    axis.values["axis"] = int64_t{1};
    const int joined = n.op("concat", {n.op("relu", {n.conv(x, 3, 4)}), n.op("relu", {n.conv(x, 3, 12)})}, axis);
    const int y = n.op("relu", {n.conv(joined, 16, 16)});
    QCOMPARE(copies(n.finish({n.op("softmax", {y})})), 0);
  }

  void valuesReadInTwoLayouts() {
    Net n;  // the caller reads rows, the next convolution reads blocks
    const int a = n.op("relu", {n.conv(n.input({1, 3, 8, 8}), 3, 16)});
    const int b = n.op("softmax", {n.conv(a, 16, 16)});
    QCOMPARE(copies(n.finish({a, b})), 1);
  }

  /// What adds up along a line, or ranks it, reads it as often as it is long.
  void linesAreCopiedInOrder() {
    for (const bool ranks : {false, true}) {
      Net n;
      graph::Attrs attrs;
      attrs.values = {{"axis", int64_t{3}}, {"k", int64_t{3}}};
      const int a = n.op("relu", {n.conv(n.input({1, 3, 8, 40}), 3, 16)});
      QCOMPARE(copies(n.finish({n.op(ranks ? "top_k_indices" : "cumsum", {a}, attrs)})), 1);
    }
  }

  /// Where the code of a template's default is refused: by rule, and loop after loop, in the layouts around.
  void simplerForms() {
    Net n;
    const int a = n.op("relu", {n.conv(n.input({1, 3, 8, 8}), 3, 16)});
    const int b = n.op("relu", {n.conv(a, 16, 16)});
    const api::Network net = network(n.finish({n.conv(b, 16, 16)}));
    const int middle = 1;
    std::vector<std::vector<api::Layout>> layouts;
    for (const auto& [form, space] : {std::pair(api::DefaultForm::rule, "rule"), std::pair(api::DefaultForm::loops, "loops")}) {
      const api::KernelPlan plan = api::plan_kernels(net.optimized, net.partition, target_, {}, true, {}, {{middle, form}}, {}).value();
      for (const api::PlannedKernel& k : plan.kernels) {
        if (k.group != middle) continue;
        QCOMPARE(k.space, std::string(space));
        QVERIFY(lower::lower_and_optimize(k.schedule, "kernel", target_).has_value());
        layouts.push_back(api::argument_layouts(k.schedule));
        QCOMPARE(k.schedule.steps().size() > layouts.back().size(), form == api::DefaultForm::rule);
      }
    }
    QCOMPARE(layouts.size(), 2U);
    QVERIFY(layouts[0] == layouts[1] && !layouts[0].front().empty());
  }

  /// Channels of a block would belong to several groups, neighbours of a row lie far apart in blocks, and sums over rows walk along them.
  void rowsWhereBlocksWouldHurt() {
    const auto layouts_of = [&](const api::Network& n, const std::string& op) {
      const api::KernelPlan plan = api::plan_kernels(n.optimized, n.partition, target_, {}, true, {}, {}, {}).value();
      for (const api::PlannedKernel& k : plan.kernels)
        if (k.group >= 0 && k.name.find(op) != std::string::npos) return api::argument_layouts(k.schedule);
      return std::vector<api::Layout>{};
    };
    Net grouped;  // six channels in each group
    const int a = grouped.op("relu", {grouped.conv(grouped.input({1, 8, 8, 8}), 8, 12, 1)});
    const api::Network g = network(grouped.finish({grouped.conv(grouped.op("sigmoid", {grouped.conv(a, 12, 12, 3, 2)}), 12, 8, 1)}));
    const std::vector<api::Layout> rows = layouts_of(g, "sigmoid");
    QVERIFY(!rows.empty() && std::all_of(rows.begin(), rows.end(), [](const api::Layout& l) { return l.empty(); }));

    Net reshaped;
    const int b = reshaped.conv(reshaped.input({1, 8, 8, 8}), 8, 16, 1);
    const api::Network r = network(reshaped.finish({reshaped.op("reshape", {b}, graph::Attrs{{{"shape", std::vector<int64_t>{32, 32}}}})}));
    QVERIFY(layouts_of(r, "reshape").front().empty());

    Net summed;  // the convolution behind it would like blocks
    graph::Attrs last{{{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{1}}}};
    const int c = summed.op("reduce_max", {summed.input({1, 16, 8, 8})}, last);
    const api::Network s = network(summed.finish({summed.conv(c, 16, 16, 1)}));
    const std::vector<api::Layout> sums = layouts_of(s, "reduce_max");
    QVERIFY(!sums.empty() && sums.back().empty());
  }

  /// A convolution with few outputs has its vectors along lines where nothing around it has blocks.
  void fewOutputsAmongRows() {
    const Target wide = parse_target("llvm -mcpu=znver5 -num-cores=1").value();
    const auto spaces = [&](graph::Graph net) {
      const api::Network n = network(std::move(net));
      const api::KernelPlan plan = api::plan_kernels(n.optimized, n.partition, wide, {}, true, {}, {}, {}).value();
      std::string out;
      for (const api::PlannedKernel& k : plan.kernels) out += k.space + " ";
      return out;
    };
    Net alone;
    QCOMPARE(spaces(alone.finish({alone.conv(alone.input({1, 64, 32, 32}), 64, 6, 1)})), std::string("rule "));
    Net between;
    const int before = between.conv(between.input({1, 64, 32, 32}), 64, 64, 1);
    QCOMPARE(spaces(between.finish({between.conv(between.conv(before, 64, 6, 1), 6, 64, 1)})),
             std::string("rule conv2d_nchwc.cpu conv2d_nchwc.cpu conv2d_nchwc.cpu rule "));
    // Several of them do not keep each other in blocks, nor what is between them; blocks at one end keep all.
    graph::Attrs window{{{"kernel", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}}};
    for (const bool blocks : {false, true}) {
      Net several;
      const int one = several.conv(several.input({1, 3, 64, 64}), 3, 6, 5);
      const int two = several.conv(several.op("max_pool2d", {one}, window), 6, 7, 5);
      const std::string end = blocks ? "conv2d_nchwc.cpu conv2d_nchwc.cpu rule " : "rule ";
      QCOMPARE(spaces(several.finish({blocks ? several.conv(two, 7, 64, 1) : two})), (blocks ? "conv2d_nchwc.cpu rule " : "rule rule ") + end);
    }
  }

  /// Every second element of rows is taken by whole vectors where rows are written.
  void everySecondElementOfRows() {
    for (const int64_t step : {1, 2}) {
      Net n;  // the convolution would like blocks
      const int64_t size = 8 / step;
      using Dims = std::vector<int64_t>;
      const graph::Attrs part{{{"starts", Dims{0, 0, 0, 0}}, {"sizes", Dims{1, 16, 4, size}}, {"steps", Dims{1, 1, 2, step}}}};
      const api::Network net = network(n.finish({n.conv(n.op("slice", {n.input({1, 16, 8, 8})}, part), 16, 16)}));
      const api::KernelPlan plan = api::plan_kernels(net.optimized, net.partition, target_, {}, true, {}, {}, {}).value();
      const auto slices = [](const api::PlannedKernel& k) { return k.name.find("slice") != std::string::npos; };
      const auto slice = std::find_if(plan.kernels.begin(), plan.kernels.end(), slices);
      QVERIFY(slice != plan.kernels.end());
      QCOMPARE(api::argument_layouts(slice->schedule).back().empty(), step == 2);
    }
  }

  void passThroughValues() {
    Net n;  // an input and a constant that are outputs, one of them twice
    const int x = n.input({4}), w = n.weight({3});
    const int y = n.op("neg", {x});
    QCOMPARE(copies(n.finish({y, x, w, y})), 0);
  }
};

QTEST_APPLESS_MAIN(KernelPlanTest)
#include "kernel_plan_test.moc"
