// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/gpu_executor.h"

#include <cstring>

#include "engine/runtime/cuda_device.h"

// After the engine: Qt makes a macro of the word that an executable calls its arrays by.
#include <QtTest>

using namespace tw;
using namespace tw::runtime;

/// A network of two calls on the stand-in for NVIDIA's driver (tests/support/fake_cuda.cpp).
class GpuExecutorTest : public QObject {
  Q_OBJECT

  static GpuFunction doubling(const std::string& symbol, bool twice) {
    GpuFunction f;
    f.symbol = symbol;
    f.arguments = 2;
    f.launches.assign(twice ? 2 : 1, {"k", {1, 1, 1}, {32, 1, 1}, 0, {0, 1}});
    for (const char* c = "k double 4"; *c; ++c) f.images[90].push_back(static_cast<std::byte>(*c));
    f.images[90].push_back(std::byte{0});
    return f;
  }
  /// y = 4 x, by a call of one launch and one of two.
  static Executable network() {
    Executable e;
    e.name = "net";
    e.target = e.artifact.target = "cuda:h200";
    const ArgSpec x{"x", kFloat32, {4}, {}}, t{"t", kFloat32, {4}, {}}, y{"y", kFloat32, {4}, {}, false, true};
    e.artifact.kernels = {{"first", {x, t}}, {"second", {t, y}}};
    for (KernelSignature& k : e.artifact.kernels) k.args[1].output = true;
    e.artifact.gpu = {doubling("first", false), doubling("second", true)};
    e.slots = {{Slot::Kind::input, x, -1, nullptr}, {Slot::Kind::intermediate, t, 0, nullptr}, {Slot::Kind::output, y, -1, nullptr}};
    e.calls = {{"first", "first", {0, 1}, "key1", "default", "rule", "", 0, "", 4, 0, 0, {"n1"}}, {"second", "second", {1, 2}, "key2", "default", "rule", "", 0, "", 4, 0, 0, {"n2"}}};
    e.inputs = {0};
    e.outputs = {2};
    e.arena_bytes = e.live_bytes = e.unplanned_bytes = 256;
    return e;
  }

 private Q_SLOTS:
  void initTestCase() { qputenv("TW_CUDA_DRIVER", TW_FAKE_CUDA_LIBRARY); }
  void cleanup() { qunsetenv("TW_FAKE_CUDA"); }

  void calls_are_timed_as_they_follow_each_other_data() {
    QTest::addColumn<QByteArray>("machine");
    QTest::addColumn<double>("first_ns");
    QTest::addColumn<double>("second_ns");
    // A launch takes 100 ns. Two points around the calls take what one between them takes, of which each call is spared a half.
    QTest::newRow("points cost nothing") << QByteArray("") << 100.0 << 200.0;
    QTest::newRow("points take 60 ns") << QByteArray("event=60") << 130.0 << 230.0;
  }
  void calls_are_timed_as_they_follow_each_other() {
    QFETCH(QByteArray, machine);
    QFETCH(double, first_ns);
    QFETCH(double, second_ns);
    qputenv("TW_FAKE_CUDA", machine);
    auto executor = create_gpu_executor(std::make_shared<const Executable>(network()), open_cuda_device(0).value(), nullptr);
    QVERIFY2(executor.has_value(), executor ? "" : executor.error().text().c_str());
    HostArray x = HostArray::make(kFloat32, {4});
    for (int i = 0; i < 4; ++i) x.set(i, i + 1);
    (*executor)->set_inputs({{"x", x}}).value();
    for (int again = 0; again < 2; ++again) {
      std::vector<CallTime> times;
      const double seconds = (*executor)->run(&times).value();
      QCOMPARE(times.size(), size_t{2});
      QVERIFY2(std::abs(times[0].seconds - 1e-9 * first_ns) < 1e-12, std::to_string(times[0].seconds).c_str());
      QVERIFY(std::abs(times[1].seconds - 1e-9 * second_ns) < 1e-12);
      QVERIFY(std::abs(times[0].seconds + times[1].seconds - seconds) < 1e-15);
      QVERIFY((*executor)->run().has_value());  // beside runs that nothing stands between
      const auto out = (*executor)->outputs().value();
      for (int i = 0; i < 4; ++i) QCOMPARE(out.at(0).get(i), 4.0 * (i + 1));
    }
  }
};

QTEST_APPLESS_MAIN(GpuExecutorTest)
#include "gpu_executor_test.moc"
