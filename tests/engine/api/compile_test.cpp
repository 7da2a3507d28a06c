// SPDX-License-Identifier: Apache-2.0
#include "engine/api/compile.h"
#include "engine/api/explain.h"
#include "engine/codegen/codegen.h"
#include "engine/runtime/graph_executor.h"
#include "engine/tune/candidate.h"
#include "tests/engine/api/tiny_network.h"
#include "tests/engine/graph/graphs.h"

// After the engine: Qt makes a macro of the word that an executable calls its arrays by.
#include <QtTest>

using namespace tw;

class CompileTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  Target target_;

  api::Network network(const std::string& name) const { return api::testing::tiny_network(name, target_); }
  std::vector<HostArray> execute(const runtime::Executable& e, const std::map<std::string, HostArray>& inputs, int threads = 1) {
    auto module = codegen::load_object(e.artifact.object);
    auto executor = runtime::GraphExecutor::create(std::make_shared<const runtime::Executable>(e), std::move(*module), threads).value();
    executor->set_inputs(inputs).value();
    executor->run().value();
    executor->run().value();  // a second run starts from what the first left in the arena
    return executor->outputs().value();
  }
  /// A record for every task with a template: a valid point chosen by seed.
  std::map<std::string, records::Record> random_records(const api::Network& n, uint64_t seed) {
    std::map<std::string, records::Record> out;
    Rng rng(seed);
    for (const api::NetworkTask& t : api::network_tasks(n, target_)) {
      if (t.space == "default") continue;
      for (int attempt = 0; attempt < 50; ++attempt) {
        auto c = api::candidate_at(t.task, rng.range(0, t.space_size - 1));
        if (!c) continue;
        records::Record r{t.task.key, *c, {}};
        r.result.status = records::Status::ok;
        r.result.samples_s = {1e-5};
        r.result.verified = true;
        out.emplace(t.task.key, r);
        break;
      }
    }
    return out;
  }
  struct Source : records::RecordSource {
    std::map<std::string, records::Record> records;
    Expected<std::optional<records::Record>> best(const std::string& key, records::Weights) override {
      const auto it = records.find(key);
      return it == records.end() ? std::nullopt : std::optional(it->second);
    }
  };
  static int copies(const runtime::Executable& e) {
    return static_cast<int>(std::count_if(e.calls.begin(), e.calls.end(), [](const runtime::Call& c) { return c.task_key.empty(); }));
  }

 private Q_SLOTS:
  void errors_below_normal_numbers_are_small() {
    HostArray want = HostArray::make(kFloat32, {1}), got = HostArray::make(kFloat32, {1});
    want.set(0, 1e-40);
    QVERIFY(api::compare(got, want).max_rel < 1e-6);
    want.set(0, 0);
    got.set(0, 1e-3);
    QVERIFY(api::compare(got, want).max_rel > 1);
  }

  void initTestCase() {
    target_ = host_target();
    QVERIFY(folder_.isValid());
  }

  void defaultSchedulesMatchTheReference_data() {
    QTest::addColumn<std::string>("name");
    for (const auto& m : frontends::zoo()) QTest::newRow(m.name) << std::string(m.name);
  }
  void defaultSchedulesMatchTheReference() {
    QFETCH(std::string, name);
    const api::Network n = network(name);
    const auto inputs = graph::testing::random_inputs(n.imported, 4);
    const auto want = api::run_reference(n.imported, inputs, target_).value();
    const auto oracle = graph::evaluate(n.imported, inputs).value();
    QVERIFY(api::compare(want[0], oracle[0]).max_rel < 1e-5);
    const runtime::Executable e = api::compile(n, target_, nullptr).value();
    QCOMPARE(copies(e), name == "lenet5" ? 1 : 0);  // where others flatten one pixel of each channel, it takes an image out of its blocks
    QVERIFY(e.arena_bytes > 0 && e.arena_bytes < e.unplanned_bytes);
    QVERIFY(api::compare(execute(e, inputs)[0], want[0]).max_rel <= api::output_tolerances(n.imported).value()[0]);
  }

  void tolerancesFollowTheOperators() {
    const auto chain = [](DType t, int64_t terms, int layers) {
      graph::GraphBuilder b("chain");
      int v = b.input("x", {t, {terms, terms}});
      const int w = b.constant("w", HostArray::make(t, {terms, terms}));
      for (int i = 0; i < layers; ++i) v = b.node("matmul", {v, w}).value()[0];
      b.output(v);
      return api::output_tolerances(std::move(b).finish()).value()[0];
    };
    const double one = chain(kFloat32, 64, 1);
    QVERIFY2(one > 1e-6 && one < 2e-5, QByteArray::number(one));
    QVERIFY(chain(kFloat32, 1024, 1) > 2 * one);
    QVERIFY(std::abs(chain(kFloat32, 64, 9) / one - 3) < 1e-9);  // independent errors
    QVERIFY(chain(kFloat16, 64, 1) > 1000 * one);
    QCOMPARE(chain(kInt32, 64, 3), 0.0);
  }

  /// A number that is rounded the other way is a step away, also behind integers; one that is exact is not.
  void roundingAllowsAStep() {
    const auto quantised = [](bool inexact) {
      graph::GraphBuilder b("quantised");
      int v = b.input("x", {kFloat32, {4}});
      if (inexact) v = b.node("sigmoid", {v}).value()[0];
      v = b.node("round", {v}).value()[0];
      for (const char* to : {"uint8", "int32", "float32"}) v = b.node("cast", {v}, graph::Attrs{{{"to", std::string(to)}}}).value()[0];
      b.output(v);
      return api::output_tolerances(std::move(b).finish()).value()[0];
    };
    QVERIFY(quantised(true) >= 1.0 / 127 && quantised(true) < 2.0 / 127);
    QVERIFY(quantised(false) < 1e-4);
  }

  void recordsAreUsedAndLayoutsMatched_data() {
    QTest::addColumn<std::string>("name");
    QTest::addColumn<int>("most_copies");
    QTest::newRow("mlp") << std::string("mlp") << 0;
    QTest::newRow("resnet18") << std::string("resnet18") << 3;
    QTest::newRow("mobilenet_v2") << std::string("mobilenet_v2") << 12;
    QTest::newRow("squeezenet1_1") << std::string("squeezenet1_1") << 8;
    QTest::newRow("shufflenet_v2") << std::string("shufflenet_v2") << 0;
    QTest::newRow("bert_base") << std::string("bert_base") << 0;
  }
  void recordsAreUsedAndLayoutsMatched() {
    QFETCH(std::string, name);
    QFETCH(int, most_copies);
    const api::Network n = network(name);
    const auto inputs = graph::testing::random_inputs(n.imported, 5);
    const auto want = api::run_reference(n.imported, inputs, target_).value();
    Source source;
    source.records = random_records(n, 1);
    QVERIFY(!source.records.empty());
    const runtime::Executable e = api::compile(n, target_, &source).value();
    int tuned = 0;
    for (const runtime::Call& c : e.calls) {
      const bool has_record = source.records.count(c.task_key) != 0;
      QCOMPARE(c.origin.rfind("default", 0) != 0, has_record);
      tuned += has_record;
    }
    QVERIFY(tuned > 0);
    QVERIFY2(copies(e) <= most_copies, QByteArray::number(copies(e)));
    const api::Difference d = api::compare(execute(e, inputs)[0], want[0]);
    QVERIFY2(d.max_rel < 1e-4, QByteArray::number(d.max_rel));
  }

  void whatDoesNotHoldInTheNetworkIsNotTaken() {
    struct Judged : Source {
      std::string network, refused;
      Expected<std::optional<records::InNetwork>> in_network(const std::string& key, const records::Record& record) override {
        if (key != network) return std::optional<records::InNetwork>();
        return std::optional(records::InNetwork{record.task_key != refused, 1, 1, 1, 3e-5});
      }
    };
    const api::Network n = network("mobilenet_v2");
    Judged source;
    source.records = random_records(n, 3);
    source.network = n.content_key;
    source.refused = source.records.begin()->first;
    for (const bool judged : {true, false}) {
      const runtime::Executable e = api::compile(n, target_, &source).value();
      for (const runtime::Call& c : e.calls) {
        if (c.task_key.empty()) continue;
        const bool has_record = source.records.count(c.task_key) != 0, refused = judged && c.task_key == source.refused;
        QCOMPARE(c.origin.rfind("default", 0) != 0, has_record && !refused);
        QCOMPARE(c.alone_s, refused ? 3e-5 : has_record ? 1e-5 : 0.0);
        if (refused) QVERIFY2(c.origin.find("not in this network") != std::string::npos, c.origin.c_str());
      }
      source.network = "another";
    }
  }

  void defaultRecordsAdoptLayouts() {
    const api::Network n = network("resnet18");
    const auto inputs = graph::testing::random_inputs(n.imported, 5);
    Source source;
    source.records = random_records(n, 2);
    int changed = 0;
    for (const api::NetworkTask& t : api::network_tasks(n, target_)) {
      const auto it = source.records.find(t.task.key);
      if (it != source.records.end() && ++changed % 2 == 0) it->second.candidate = tune::default_candidate(t.task);
    }
    const runtime::Executable e = api::compile(n, target_, &source).value();
    QCOMPARE(copies(e), 0);
    QVERIFY(std::any_of(e.calls.begin(), e.calls.end(), [](const runtime::Call& c) { return c.origin == "default, 10.0 us"; }));
    QVERIFY(api::compare(execute(e, inputs)[0], api::run_reference(n.imported, inputs, target_).value()[0]).max_rel < 1e-4);
  }

  void recordsThatNoLongerApplyAreReplaced() {
    const api::Network n = network("mlp");
    Source source;
    source.records = random_records(n, 3);
    for (auto& [key, record] : source.records) record.candidate.steps = {schedule::ReorderStep{0, {5, 4, 3}}};
    const runtime::Executable e = api::compile(n, target_, &source).value();
    for (const runtime::Call& c : e.calls)
      if (source.records.count(c.task_key)) QVERIFY(c.origin.find("no longer applies") != std::string::npos);
  }

  void equalKernelsAreShared() {
    const api::Network n = network("resnet18");
    const runtime::Executable e = api::compile(n, target_, nullptr).value();
    QVERIFY(e.artifact.kernels.size() < e.calls.size());
  }

  void savedExecutablesRun() {
    const api::Network n = network("lenet5");
    const auto inputs = graph::testing::random_inputs(n.imported, 6);
    const runtime::Executable e = api::compile(n, target_, nullptr).value();
    const std::string path = folder_.filePath("lenet5.twx").toStdString();
    QVERIFY(runtime::save(e, path));
    const runtime::Executable back = runtime::load_executable(path).value();
    QVERIFY(api::compare(execute(back, inputs, 2)[0], execute(e, inputs)[0]).max_abs == 0);
    const auto imported = graph::parse(back.graph_text, back.graph_constants);
    QVERIFY2(imported.has_value(), imported ? "" : imported.error().text().c_str());
    QVERIFY(api::compare(api::run_reference(*imported, inputs, target_).value()[0], execute(e, inputs)[0]).max_rel < 1e-4);
  }

  void tasksAreWeighedAndSorted() {
    const api::Network n = network("resnet18");
    const auto tasks = api::network_tasks(n, target_);
    double sum = 0;
    int groups = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
      sum += tasks[i].flops_share;
      groups += tasks[i].weight;
      QVERIFY(i == 0 || tasks[i].flops_share <= tasks[i - 1].flops_share);
    }
    QVERIFY(std::abs(sum - 1) < 1e-9);
    QCOMPARE(groups, static_cast<int>(n.partition.groups.size()));
  }

  void progressAndCancel() {
    const api::Network n = network("mlp");
    StopSource stop;
    int reports = 0;
    api::CompileOptions options;
    options.progress = [&](const std::string&, int done, int total) {
      QVERIFY(done <= total);
      if (++reports == 2) stop.request_stop();
    };
    options.stop = stop.get_token();
    const auto e = api::compile(n, target_, nullptr, options);
    QVERIFY(!e);
    QCOMPARE(e.error().code, ErrorCode::cancelled);
    QCOMPARE(api::run_reference(n.imported, graph::testing::random_inputs(n.imported, 1), target_, stop.get_token()).error().code, ErrorCode::cancelled);
  }

  /// A window of 7x7 whose tile is written out, and a long chain of operators for each element of the tile.
  void defaultsWhoseCodeIsTooLong() {
    graph::testing::Net n;
    int y = n.conv(n.input({1, 64, 64, 64}), 64, 16, 7);
    for (int i = 0; i < 66; ++i) y = n.op("max", {n.op("add", {n.op("mul", {y, n.weight({16, 1, 1})}), n.weight({16, 1, 1})}), n.weight({16, 1, 1})});
    const Target wide = parse_target("llvm -mcpu=znver4 -num-cores=1").value();
    api::Network network{n.finish({y}), {}, {}, "none"};
    network.optimized = graph::run_passes(network.imported, wide).value();
    network.partition = graph::partition(network.optimized).value();
    std::vector<std::string> notes;
    api::CompileOptions options;
    options.notes = &notes;
    const auto e = api::compile(network, wide, nullptr, options);
    QVERIFY2(e.has_value(), e ? "" : e.error().text().c_str());
    QCOMPARE(notes.size(), 1U);
    QVERIFY2(notes[0].find("has a schedule by rule: Expected at most") != std::string::npos, notes[0].c_str());
    QVERIFY(
        std::any_of(e->calls.begin(), e->calls.end(), [](const runtime::Call& c) { return c.space == "rule" && c.name.find("conv2d") != std::string::npos; }));
  }

  /// Their own size says nothing of how far they may be rounded.
  void meansOfWhatIsCentred() {
    graph::testing::Net n;
    const int x = n.input({64, 96});
    const graph::Attrs rows{{{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{1}}}};
    const graph::Graph g = n.finish({n.op("reduce_mean", {n.op("sub", {x, n.op("reduce_mean", {x}, rows)})}, rows)});
    const auto means = api::run_reference(g, graph::testing::random_inputs(g, 3), target_);
    QVERIFY2(means.has_value(), means ? "" : means.error().text().c_str());
    QVERIFY(means->front().num_elements() == 64);
  }

  /// What is left of a constant row is its mean's rounding error, many times as large.
  void constantRowsThatAreNormalised() {
    graph::testing::Net n;
    const int x = n.input({2, 3, 55});
    const graph::Graph g = n.finish({n.op("instance_norm", {x, n.input({3}), n.input({3})}, graph::Attrs{{{"epsilon", 1e-5}}})});
    auto inputs = graph::testing::random_inputs(g, 1);
    HostArray& rows = inputs.at(g.values[static_cast<size_t>(x)].name);
    for (int64_t i = 0; i < rows.num_elements(); ++i) rows.set(i, 2.0 / 3);
    const auto normalised = api::run_reference(g, inputs, target_);
    QVERIFY2(normalised.has_value(), normalised ? "" : normalised.error().text().c_str());
  }

  void wrongInputsAreNamed() {
    const api::Network n = network("mlp");
    QVERIFY(api::run_reference(n.imported, {}, target_).error().message.find("'input'") != std::string::npos);
  }

  void differences() {
    HostArray a = HostArray::make(kFloat32, {3}), b = a;
    a.set(1, 2);
    b.set(1, 4);
    b.set(2, NAN);
    a.set(2, NAN);
    const api::Difference d = api::compare(a, b);
    QCOMPARE(d.max_abs, 2.0);
    QCOMPARE(d.max_rel, 0.5);
    QCOMPARE(d.at, int64_t{1});
    a.set(2, 1);
    QVERIFY(std::isinf(api::compare(a, b).max_rel));
  }
};

QTEST_APPLESS_MAIN(CompileTest)
#include "compile_test.moc"
