// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <atomic>
#include <cmath>
#include <thread>

#include "engine/base/file.h"
#include "engine/base/rng.h"
#include "engine/frontends/frontend.h"
#include "engine/graph/evaluate.h"
#include "engine/learner/script.h"
#include "tests/engine/frontends/torch/archive.h"
#include "tests/engine/learner/learner_fixture.h"

using namespace tw;
using namespace tw::frontends;

/// TorchScript files that libtorch writes (tests/support/script_files.cpp), as graphs with libtorch's own numbers.
class TorchscriptReaderTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  std::string file(const char* name) const { return folder_.filePath(QString::fromUtf8(name) + ".pt").toStdString(); }
  static ImportOptions shaped(const std::string& name, std::vector<int64_t> shape) {
    ImportOptions o;
    o.shapes[name].shape = std::move(shape);
    return o;
  }
  /// The sentence that a file is refused with.
  static std::string refusal(const std::string& path, const ImportOptions& options, ErrorCode code) {
    const auto g = read_torchscript(path, options);
    if (g) return "it was read";
    return g.error().code == code ? g.error().text() : std::string(error_code_name(g.error().code)) + ": " + g.error().text();
  }
  static HostArray random(DType t, const std::vector<int64_t>& shape, Rng& rng) {
    HostArray a = HostArray::make(t, shape);
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, t.is_float() ? rng.uniform_real() * 2 - 1 : static_cast<double>(rng.uniform(8)));
    return a;
  }
  /// Reads the file for these inputs, and compares what the graph computes with what libtorch does.
  static void agrees(const std::string& path, const ImportOptions& options) {
    const auto g = read_torchscript(path, options);
    QVERIFY2(g, g ? "" : g.error().text().c_str());
    Rng rng(1);
    std::vector<HostArray> inputs;
    std::map<std::string, HostArray> named;
    for (const int v : g->inputs) {
      const graph::Value& input = g->values[static_cast<size_t>(v)];
      inputs.push_back(random(input.type.dtype, input.type.shape, rng));
      named[input.name] = inputs.back();
    }
    const auto wanted = run_torchscript(path, inputs);
    QVERIFY2(wanted, wanted ? "" : wanted.error().text().c_str());
    const auto found = graph::evaluate(*g, named);
    QVERIFY2(found, found ? "" : found.error().text().c_str());
    QCOMPARE(found->size(), wanted->size());
    for (size_t k = 0; k < wanted->size(); ++k) {
      const HostArray &a = (*found)[k], &b = (*wanted)[k];
      QCOMPARE(a.shape, b.shape);
      QCOMPARE(a.dtype, b.dtype);
      double largest = 0, apart = 0;
      for (int64_t i = 0; i < a.num_elements(); ++i) {
        largest = std::max(largest, std::abs(b.get(i)));
        apart = std::max(apart, std::abs(a.get(i) - b.get(i)));
      }
      QVERIFY2(largest > 0 && apart <= 1e-5 * largest, qPrintable(QStringLiteral("output %1: %2 of %3").arg(k).arg(apart).arg(largest)));
    }
  }

 private Q_SLOTS:
  void initTestCase() {
#ifdef TW_SCRIPT_FILES
    QProcess writer;
    writer.start(TW_SCRIPT_FILES, {folder_.path()});
    QVERIFY(writer.waitForFinished(60'000));
    QVERIFY2(writer.exitCode() == 0, writer.readAllStandardError().constData());
#endif
  }

  /// What a file that is no graph says, whether libtorch is here or not.
  void other_files_are_told() {
    const auto written = [&](const std::string& bytes) {
      const std::string path = folder_.filePath("other.pt").toStdString();
      return write_file(path, kAnyOutput, bytes) ? path : std::string();
    };
    const auto said = [&](const std::string& bytes) {
      const auto g = read_model(written(bytes));
      return g ? "it was read" : g.error().text();
    };
    const std::string weights = said(archive_test::zip({{"net/data.pkl", "\x80\x02}q\x00."}, {"net/data/0", "1234"}}));
    QVERIFY2(weights.find("has no graph") != std::string::npos && weights.find("torch.export.save") != std::string::npos, weights.c_str());
    const std::string old = said(std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15));
    QVERIFY2(old.find("old PyTorch") != std::string::npos, old.c_str());
    archive_test::Member bomb{"net/code/__torch__.py", "x", 8, int64_t{1} << 31};
    const std::string huge = said(archive_test::zip({{"net/constants.pkl", "x"}, bomb}));
    QVERIFY2(huge.find("64 MiB") != std::string::npos || huge.find("found") != std::string::npos, huge.c_str());
  }

  /// Without the program, one sentence says what is missing and how to add it.
  void a_missing_learner_is_said() {
    const auto inputs = learner::script_inputs(file("control"), {.program = "/nowhere/tw-learner"});
    QVERIFY(!inputs);
    QCOMPARE(inputs.error().code, ErrorCode::not_found);
    QVERIFY(inputs.error().text().find("installers/learner") != std::string::npos);
  }

  void networks_agree_with_libtorch() {
    TW_NEEDS_LEARNER;
    agrees(file("resnet_small"), shaped("x", {2, 3, 32, 32}));
  }
  void branches_loops_lists_and_writes_agree() {
    TW_NEEDS_LEARNER;
    agrees(file("control"), shaped("x", {3, 4}));
    agrees(file("control"), shaped("x", {1, 4}));  // another program
    agrees(file("own_statistics"), shaped("x", {5, 3}));
    agrees(file("named_padding"), shaped("x", {2, 1, 9, 8}));
  }
  void integers_agree() {
    TW_NEEDS_LEARNER;
    ImportOptions o = shaped("ids", {1, 6});
    o.shapes["weight"] = {{2}, kFloat64};
    o.shapes["weight"].shape = {8};
    o.shapes["weight"].type = kFloat32;
    agrees(file("texts"), o);
    o.shapes["ids"].type = kInt32;  // said otherwise than proposed
    const auto g = read_torchscript(file("texts"), o);
    QVERIFY2(g, g ? "" : g.error().text().c_str());
    QCOMPARE(g->values[static_cast<size_t>(g->inputs[0])].type.dtype, kInt32);
    const auto viewed = read_torchscript(file("viewed_texts"), shaped("ids", {1, 6}));  // nothing but the table says that these are integers
    QVERIFY2(viewed, viewed ? "" : viewed.error().text().c_str());
    QCOMPARE(viewed->values[static_cast<size_t>(viewed->inputs[0])].type.dtype, kInt64);
    ImportOptions graph = shaped("x", {6, 8});
    graph.shapes["edges"].shape = {2, 6};
    const auto edges = read_torchscript(file("edges"), graph);  // nor but what is added at them
    QVERIFY2(edges, edges ? "" : edges.error().text().c_str());
    QCOMPARE(edges->values[static_cast<size_t>(edges->inputs[1])].type.dtype, kInt64);
  }

  void bags_of_rows_agree() {
    TW_NEEDS_LEARNER;
    agrees(file("bags"), shaped("ids", {3, 4}));
  }
  void pools_are_undone() {
    TW_NEEDS_LEARNER;
    agrees(file("unpooled"), shaped("x", {2, 3, 7, 8}));
  }
  /// x / 2 of integers is float32 although tracing stores the 2 as float64.
  void traced_numbers_agree() {
    TW_NEEDS_LEARNER;
    agrees(file("traced_number"), shaped("x", {4}));
  }

  /// What weights say of an input is proposed; without a shape the file is refused with it.
  void shapes_are_proposed() {
    TW_NEEDS_LEARNER;
    const auto open = open_sizes(file("resnet_small"));
    QVERIFY2(open, open ? "" : open.error().text().c_str());
    QCOMPARE(open->size(), size_t{4});
    QCOMPARE((*open)[1].name, std::string("x.1"));
    QCOMPARE((*open)[1].proposal, int64_t{3});
    const std::string why = refusal(file("resnet_small"), {}, ErrorCode::invalid_argument);
    QVERIFY2(why.find("--input-shape x=1,3,224,224") != std::string::npos, why.c_str());
    ImportOptions sized;
    sized.dims = {{"x.0", 1}, {"x.1", 3}, {"x.2", 32}, {"x.3", 48}};
    const auto g = read_torchscript(file("resnet_small"), sized);
    QVERIFY2(g, g ? "" : g.error().text().c_str());
    QCOMPARE(g->values[static_cast<size_t>(g->inputs[0])].type.shape, (std::vector<int64_t>{1, 3, 32, 48}));
    const std::string misspelt = refusal(file("control"), shaped("y", {1, 4}), ErrorCode::invalid_argument);
    QVERIFY2(misspelt.find("found one of 'y', which is no input") != std::string::npos, misspelt.c_str());
    const std::string wrong = refusal(file("resnet_small"), shaped("x", {1, 4, 32, 32}), ErrorCode::invalid_argument);
    QVERIFY2(wrong.find("conv2d") != std::string::npos, wrong.c_str());
  }

  void parameters_keep_their_names() {
    TW_NEEDS_LEARNER;
    const auto g = read_torchscript(file("resnet_small"), shaped("x", {1, 3, 32, 32}));
    QVERIFY2(g, g ? "" : g.error().text().c_str());
    QVERIFY(std::any_of(g->values.begin(), g->values.end(), [](const graph::Value& v) { return v.name == "layer1_0.first_w"; }));
  }

  void what_values_decide_is_refused_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("part");
    QTest::newRow("branch") << "decided" << "prim::If";
    QTest::newRow("loop") << "decided_loop" << "prim::Loop";
    QTest::newRow("number") << "decided_number" << "aten::full";
    QTest::newRow("functions") << "unknown" << "'aten.special_bessel_j0', 'aten.special_bessel_j1'";
    QTest::newRow("kind of input") << "number_input" << "'n' of type int";
  }
  void what_values_decide_is_refused() {
    TW_NEEDS_LEARNER;
    QFETCH(QString, name);
    QFETCH(QString, part);
    const std::string why = refusal(file(name.toUtf8()), shaped("x", {2, 3}), ErrorCode::unsupported);
    QVERIFY2(why.find(part.toStdString()) != std::string::npos, why.c_str());
  }
  void what_the_model_refuses_is_said() {
    TW_NEEDS_LEARNER;
    QVERIFY(read_torchscript(file("raises"), shaped("x", {2, 3})));
    const std::string why = refusal(file("raises"), shaped("x", {3, 3}), ErrorCode::invalid_argument);
    QVERIFY2(why.find("expects a batch of two") != std::string::npos, why.c_str());
  }

  /// A stranger's code writes no files, and takes neither all memory nor all time.
  void strangers_change_nothing() {
    TW_NEEDS_LEARNER;
    [[maybe_unused]] const auto g = read_torchscript(file("saves"), shaped("x", {2, 3}));  // whether libtorch minds or not
    QVERIFY(!QFile::exists("written_by_a_stranger"));
    const std::string why = refusal(file("greedy"), shaped("x", {2, 3}), ErrorCode::out_of_memory);
    QVERIFY2(why.find("MiB") != std::string::npos, why.c_str());
    const std::string endless = refusal(file("endless"), shaped("x", {2, 3}), ErrorCode::resource_limit);
    QVERIFY2(endless.find("steps") != std::string::npos, endless.c_str());
  }

  /// The process is killed in the middle: a sentence.
  void a_death_is_said() {
    TW_NEEDS_LEARNER;
    std::atomic<bool> over = false;
    std::thread killer([&] {
      while (!over) {
        for (const pid_t pid : learner_fixture::children("tw-learner")) learner_fixture::end_process(pid);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    });
    const std::string why = refusal(file("endless"), shaped("x", {2, 3}), ErrorCode::crash);
    over = true;
    killer.join();
    QVERIFY2(why.find("SIGKILL while it read the file") != std::string::npos, why.c_str());
  }

  /// Whatever is wrong with a file is an error and neither a crash of ours nor a graph of something else.
  void damaged_files_are_refused() {
    TW_NEEDS_LEARNER;
    const auto whole = read_file(file("control"));
    QVERIFY(whole);
    Rng rng(7);
    for (int k = 0; k < 12; ++k) {
      std::string bytes = *whole;
      if (k < 4) bytes.resize(bytes.size() * static_cast<size_t>(k + 1) / 5);
      else
        for (int i = 0; i < 3; ++i) bytes[rng.uniform(bytes.size())] = static_cast<char>(rng.uniform(256));
      const std::string path = folder_.filePath("damaged.pt").toStdString();
      QVERIFY(write_file(path, kAnyOutput, bytes));
      const auto g = read_model(path, shaped("x", {3, 4}));
      QVERIFY2(k >= 4 || !g, "a part of a file is no file");
      if (!g) QVERIFY(!g.error().message.empty());
    }
  }
};

QTEST_GUILESS_MAIN(TorchscriptReaderTest)
#include "torchscript_reader_test.moc"
