// SPDX-License-Identifier: Apache-2.0
#include "engine/api/ansor_trials.h"

#include <QtTest>

#include "engine/api/preparation.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/records/memory_store.h"
#include "engine/records/topi.h"
#include "engine/tune/strategy.h"
#include "engine/measure/check.h"
#include "engine/measure/inputs.h"
#include "tests/engine/api/compiled_graph.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;

class AnsorTrialsTest : public QObject {
  Q_OBJECT

  static std::vector<records::AnsorRecord> published(const char* file) {
    return records::read_ansor(read_file(std::string(TW_TESTS_DIR) + "/engine/records/ansor/" + file).value()).records;
  }

 private Q_SLOTS:
  /// Records of TVM for processors, compiled here: what they compute is right.
  void publishedRecordsComputeTheirTasks() {
    const Target target = host_target();
    api::ClaimChecker claims;
    int checked = 0;
    std::map<std::string, std::unique_ptr<space::testing::WithReference>> expected;
    for (const records::AnsorRecord& r : published("resnet-50-NHWC-B1-llvm.json")) {
      const auto task = api::ansor_task(r, target);
      if (!task) continue;
      if (checked >= 12 && expected.contains(r.workload_key)) continue;  // each computation once, some twice
      const auto trial = api::ansor_trial(*task, r, claims);
      QVERIFY2(trial, trial ? "" : trial.error().text().c_str());
      QVERIFY(trial->claimed && !trial->result.verified && trial->candidate.index < 0 && trial->candidate.fingerprint != 0);
      QVERIFY(trial->candidate.config.starts_with(R"([["sketch","ot","ansor"])"));
      QCOMPARE(trial->result.samples_s.size(), r.record.result.samples_s.size());
      const auto s = schedule::Schedule::replay(task->dag, trial->candidate.steps).value();
      const auto func = lower::lower_and_optimize(s, "kernel", target);
      QVERIFY2(func, func ? "" : func.error().text().c_str());
      const std::vector<HostArray> inputs = measure::make_inputs(*task->dag, 3);
      const auto want = measure::make_reference(*task->dag, 3).value();
      const std::vector<runtime::ArgSpec> specs = measure::signature_of(s, "kernel").args;
      std::vector<HostArray> args;
      for (const runtime::ArgSpec& spec : specs) {
        args.push_back(HostArray::make(spec.dtype, spec.physical_shape()));
        if (!spec.output) runtime::pack_layout(spec, inputs[args.size() - 1].data.data(), args.back().data.data());
      }
      const auto ran = codegen::testing::run(*func, args, target);
      QVERIFY2(ran, ran ? "" : ran.error().text().c_str());
      const measure::ReferenceOutput& output = want.outputs[0];
      std::vector<double> got;
      for (int64_t i = 0; i < (output.all ? args.back().num_elements() : static_cast<int64_t>(output.positions.size())); ++i)
        got.push_back(args.back().get(output.all ? i : output.positions[static_cast<size_t>(i)]));
      const measure::Comparison c = measure::compare(output, got);
      QVERIFY2(c.equal, (r.workload_key + ": " + std::to_string(c.max_rel_error) + "\n" + schedule::print_steps(s)).c_str());
      expected.try_emplace(r.workload_key);
      ++checked;
    }
    QVERIFY2(checked >= 12, qPrintable(QString::number(checked)));
  }
  /// A task's own line comes back by TVM's key, the fastest that replays, with its constant laid out as it is read.
  void logsAreASourceForCompiling() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {64, 32}, kFloat32), w = b.placeholder("w", {48, 32}, kFloat32, te::Role::constant);
    const te::Tensor y = b.reduce("T_dense", {64, 48}, {32}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
    const records::Task task = records::make_task("dense", std::move(b).finish({y}), Target());
    const auto line = [&](double seconds, std::vector<schedule::Step> steps) {
      records::Record record;
      record.candidate.steps = std::move(steps);
      record.result.status = records::Status::ok;
      record.result.samples_s = {seconds};
      record.result.sample_flags = {false};
      return records::ansor_line(task, record).value();
    };
    const schedule::Step split = schedule::SplitStep{2, 1, 48, {16}}, order = schedule::ReorderStep{2, {0, 1, 3, 2}};
    std::string broken = line(1e-4, {split});
    broken.replace(broken.find("[16]"), 4, "[-3]");
    const std::string text = line(3e-4, {split}) + "\n" + line(2e-4, {split, order}) + "\n" + broken + "\n";
    api::AnsorRecords source(std::vector{task}, {{"their.json", records::read_ansor(text)}});
    const auto best = source.best(task.key, records::Weights::unknown).value();
    QVERIFY(best && best->claimed);
    QCOMPARE(best->result.seconds(), 2e-4);
    const auto s = schedule::Schedule::replay(task.dag, best->candidate.steps).value();
    QCOMPARE(s.steps().size(), size_t{3});
    QVERIFY(s.stages()[1].layout == (std::vector<schedule::LayoutStep::Piece>{{0, 0}, {1, 0}, {0, 16}}));
    QCOMPARE(source.problems().size(), size_t{1});
    QVERIFY(source.problems()[0].starts_with("their.json, line 3: "));
    QVERIFY(!source.best("another", records::Weights::unknown).value());
  }
  /// A network from a framework with channels second, made ready with channels last: its tasks have the keys of TVM's library, and records that TVM published make
  /// its kernels.
  void publishedRecordsApplyToNetworks() {
    graph::testing::Net n;
    const int shortcut = n.op("sigmoid", {n.conv(n.input({1, 16, 14, 14}), 16, 1024, 1)}), narrow = n.op("sigmoid", {n.conv(shortcut, 1024, 256, 1)});
    const int bias = n.op("add", {n.conv(narrow, 256, 1024, 1), n.weight({1024, 1, 1})});
    const graph::Graph g = n.finish({n.op("relu", {n.op("add", {bias, shortcut})})});
    const Target target = host_target();
    const auto prepared = [&](const char* layout) {
      const graph::PassHooks hooks = api::passes_for(Json{{"layout", layout}}).value();
      api::Network network{g, graph::run_passes(g, target, hooks).value(), {}, "key"};
      network.partition = graph::partition(network.optimized).value();
      return network;
    };
    const auto tasks = [&](const api::Network& network) {
      std::vector<records::Task> out;
      for (const api::NetworkTask& t : api::network_tasks(network, target)) out.push_back(t.task);
      return out;
    };
    const std::vector<api::AnsorRecords::NamedLog> logs{{"their.json", {published("resnet-50-NHWC-B1-llvm.json")}}};
    const api::Network first = prepared("nchw"), last = prepared("nhwc");
    for (const records::Task& t : tasks(first)) QVERIFY(!api::AnsorRecords(tasks(first), logs).best(t.key, records::Weights::unknown).value());
    const std::vector<records::Task> ours = tasks(last);
    api::AnsorRecords source(ours, logs);
    QVERIFY2(source.problems().empty(), source.problems().empty() ? "" : source.problems()[0].c_str());
    const std::string theirs = R"(["1b524af89dd867d26059e1f621cf987c",[1,14,14,256],[1,1,256,1024],[1,14,14,1024],[1,1,1,1024],[1,14,14,1024]])";
    const auto task = std::find_if(ours.begin(), ours.end(), [&](const records::Task& t) { return records::tvm_workload_keys(*t.dag).back() == theirs; });
    QVERIFY(task != ours.end() && source.best(task->key, records::Weights::unknown).value());

    const runtime::Executable e = api::compile(last, target, &source).value();
    const auto applied = std::count_if(e.calls.begin(), e.calls.end(), [](const runtime::Call& c) { return c.claimed && c.record.starts_with("their.json, line "); });
    QCOMPARE(applied, 1);
    const auto results = [&](const runtime::Executable& made) {
      auto executor = runtime::GraphExecutor::create(std::make_shared<const runtime::Executable>(made), codegen::load_object(made.artifact.object).value(), 1).value();
      executor->set_inputs(graph::testing::random_inputs(g, 3)).value();
      executor->run().value();
      return executor->outputs().value()[0];
    };
    QVERIFY(graph::testing::relative_difference(results(e), results(api::compile(first, target, nullptr).value())) < 1e-5);
  }
  /// What the tuner finds lays constants out as its loops read them; the network compiled from it has them so, and computes what it did.
  void constantsOfSketchesAreLaidOut() {
    graph::testing::Net n;
    const int image = n.op("relu", {n.conv(n.input({1, 8, 6, 6}), 8, 16)});
    const int rows = n.op("reshape", {image}, graph::Attrs{{{"shape", std::vector<int64_t>{36, 16}}}});
    const graph::Graph g = n.finish({n.op("dense", {rows, n.weight({24, 16})})});
    const Target target = host_target();
    api::Network network{g, graph::run_passes(g, target).value(), {}, "key"};
    network.partition = graph::partition(network.optimized).value();
    records::MemoryStore store;
    size_t laid_out = 0;
    for (const api::NetworkTask& t : api::network_tasks(network, target)) {
      const tune::StrategyDef& ansor = *tune::find_strategy("ansor");
      const Json params = resolve_params(ansor.params, Json{{"templates", false}, {"population", 64}, {"generations", 1}, {"least_initial", 32}}).value();
      const auto strategy = tune::make_strategy(ansor, {.task = t.task, .params = params, .space = {}});
      const auto packs = [&](const schedule::Step& step) {
        const auto* layout = std::get_if<schedule::LayoutStep>(&step);
        return layout != nullptr && layout->stage < static_cast<int>(t.task.dag->ops.size()) && t.task.dag->ops[static_cast<size_t>(layout->stage)].role == te::Role::constant;
      };
      for (const tune::Proposal& p : strategy->propose(32)) {
        if (!p.refused.empty() || p.candidate.steps.empty() || !packs(p.candidate.steps.back())) continue;
        records::Record r{.task_key = t.task.key, .candidate = p.candidate};
        r.result.status = records::Status::ok, r.result.verified = true;
        r.result.samples_s = {1e-6}, r.result.sample_flags = {false};
        QVERIFY(store.store(t.task, {r}));
        ++laid_out;
        break;
      }
    }
    QCOMPARE(laid_out, size_t{2});
    const runtime::Executable e = api::compile(network, target, &store).value();
    int packed = 0;
    for (const runtime::Slot& slot : e.slots) packed += slot.kind == runtime::Slot::Kind::constant && !slot.spec.layout.empty();
    QCOMPARE(packed, 2);
    QCOMPARE(std::count_if(e.calls.begin(), e.calls.end(), [](const runtime::Call& c) { return c.space == "sketch"; }), 2);
    const std::string wrong = api::testing::wrong(g, e);
    QVERIFY2(wrong.empty(), wrong.c_str());
  }
  void targetsAreTold() {
    const auto cuda = published("resnet-18-NHWC-B1-cuda.json");
    QCOMPARE(api::ansor_task(cuda.front(), Target()).error().code, ErrorCode::unsupported);
    QVERIFY(api::ansor_task(cuda.front(), parse_target("cuda:a100").value()));
    const auto unknown = api::ansor_task(published("matmul.json").front(), Target());
    QVERIFY(unknown.error().message.find("matmul_add") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(AnsorTrialsTest)
#include "ansor_trials_test.moc"
