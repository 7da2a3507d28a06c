// SPDX-License-Identifier: Apache-2.0
#include "engine/api/compile.h"
#include "engine/codegen/codegen.h"
#include "engine/measure/interpreted_gpu.h"
#include "engine/runtime/gpu_executor.h"
#include "tests/engine/api/tiny_network.h"

// After the engine: Qt makes a macro of the word that an executable calls its arrays by.
#include <QtTest>

using namespace tw;

/// Networks compiled for a GPU and run on one that is interpreted, against the reference on the processor.
class GpuCompileTest : public QObject {
  Q_OBJECT

  const target::Gpu& gpu_ = *target::find_gpu("a100");
  const Target target_ = gpu_target(gpu_);

  static std::map<std::string, HostArray> inputs_of(const runtime::Executable& e) {
    std::map<std::string, HostArray> out;
    Rng rng(7);
    for (const int s : e.inputs) {
      const runtime::ArgSpec& spec = e.slots[static_cast<size_t>(s)].spec;
      HostArray a = HostArray::make(spec.dtype, spec.shape);
      for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, spec.dtype.is_float() ? rng.uniform_real() - 0.5 : static_cast<double>(rng.range(0, 3)));
      out.emplace(spec.name, std::move(a));
    }
    return out;
  }
  Expected<std::unique_ptr<runtime::GraphExecutor>> executor(const runtime::Executable& e) const {
    std::unique_ptr<runtime::LoadedModule> host;
    if (!e.artifact.object.empty()) {
      TW_TRY(host, codegen::load_object(e.artifact.object));
    }
    return runtime::create_gpu_executor(std::make_shared<const runtime::Executable>(e), measure::interpreted_gpu(gpu_), std::move(host), 1);
  }
  void agrees(const runtime::Executable& e, const graph::Graph& imported) const {
    const auto inputs = inputs_of(e);
    auto run = executor(e);
    QVERIFY2(run.has_value(), run ? "" : run.error().text().c_str());
    (*run)->set_inputs(inputs).value();
    std::vector<runtime::CallTime> times;
    const auto seconds = (*run)->run(&times);
    QVERIFY2(seconds.has_value(), seconds ? "" : seconds.error().text().c_str());
    QCOMPARE(times.size(), e.calls.size());
    for (const runtime::CallTime& t : times) QVERIFY(t.seconds > 0);
    const auto got = (*run)->outputs().value();
    auto all = inputs;
    for (const int v : imported.inputs) {  // what no kernel reads
      const graph::Value& value = imported.values[static_cast<size_t>(v)];
      if (!all.count(value.name)) all.emplace(value.name, HostArray::make(value.type.dtype, value.type.shape));
    }
    const auto want = api::run_reference(imported, all, host_target()).value();
    const auto tolerances = api::output_tolerances(imported).value();
    for (size_t i = 0; i < got.size(); ++i) QVERIFY(api::compare(got[i], want[i]).max_rel <= tolerances[i]);
  }

 private Q_SLOTS:
  void networks_data() {
    QTest::addColumn<std::string>("name");
    for (const char* name : {"mlp", "mobilenet_v2", "bert_base"}) QTest::newRow(name) << std::string(name);
  }
  void networks() {
    QFETCH(std::string, name);
    const api::Network n = api::testing::tiny_network(name, target_);
    api::CompileOptions options;
    options.machine_code = false;
    const auto e = api::compile(n, target_, nullptr, options);
    QVERIFY2(e.has_value(), e ? "" : e.error().text().c_str());
    for (const runtime::Call& c : e->calls) QVERIFY2(!c.on_host, c.name.c_str());
    QVERIFY(e->artifact.object.empty());
    agrees(*e, n.imported);
  }

  /// Some operators stay on the processor; their arguments and results are copied.
  void host_fallback() {
    const api::Network n = api::testing::tiny_network("bert_base", target_);
    api::CompileOptions options;
    options.machine_code = false;
    options.on_host = {"softmax", "layer_norm"};
    const runtime::Executable e = api::compile(n, target_, nullptr, options).value();
    const auto on_host = std::count_if(e.calls.begin(), e.calls.end(), [](const runtime::Call& c) { return c.on_host; });
    QVERIFY(on_host >= 2 && on_host < static_cast<std::ptrdiff_t>(e.calls.size()));
    QVERIFY(!e.artifact.object.empty());
    agrees(e, n.imported);
  }

  /// Machine code where NVRTC is, and everything in the file.
  void files() {
    const api::Network n = api::testing::tiny_network("mlp", target_);
    std::vector<std::string> notes;
    api::CompileOptions options;
    options.notes = &notes;
    const runtime::Executable e = api::compile(n, target_, nullptr, options).value();
    QVERIFY(!e.artifact.gpu.empty());
    for (const runtime::GpuFunction& f : e.artifact.gpu)
      if (notes.empty()) QVERIFY(f.image_for(80) != nullptr);
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("n.twx")).toStdString();
    runtime::save(e, path).value();
    const runtime::Executable back = runtime::load_executable(path).value();
    QVERIFY(back.artifact.gpu == e.artifact.gpu);
    agrees(back, n.imported);
    runtime::Executable broken = e;
    broken.artifact.gpu[0].loops = "@T.prim_func\ndef k(a: T.Buffer((4,), \"float32\")):\n    T.func_attr({\"num_outputs\": 1})\n    a[0] = T.float32(1)\n";
    const auto unlike = executor(broken);
    QVERIFY2(!unlike && unlike.error().code == ErrorCode::corrupt, unlike ? "taken" : unlike.error().text().c_str());
    broken = e;
    broken.artifact.gpu.pop_back();
    const auto refused = executor(broken);
    QVERIFY(!refused && refused.error().message.find("for which the file has no GPU code") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(GpuCompileTest)
#include "gpu_compile_test.moc"
