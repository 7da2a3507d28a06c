// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/executable.h"

#include <QtTest>
#include <cstring>
#include <fstream>

#include "engine/runtime/graph_executor.h"

#undef slots  // Qt's word for a section of a class; executables have slots of their own

using namespace tw;
using namespace tw::runtime;

namespace {

std::shared_ptr<const ArrayBytes> floats(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return std::make_shared<const ArrayBytes>(std::move(bytes));
}

/// y = (x + w) * 2 in two calls; x arrives packed as [2][2 of 4], padded from 3.
Executable sample() {
  Executable e;
  e.name = "net";
  e.target = e.artifact.target = "llvm";
  e.artifact.object = {std::byte{1}, std::byte{2}};
  const ArgSpec x{"x", kFloat32, {3}, {{0, 0}, {0, 2}}}, w{"w", kFloat32, {3}, {}, true}, t{"t", kFloat32, {3}, {}}, y{"y", kFloat32, {3}, {}, false, true};
  e.artifact.kernels = {{"add", {x, w, t}}, {"twice", {t, y}}};
  const auto data = floats({10, 20, 30});
  e.slots = {{Slot::Kind::input, x, -1, nullptr},
             {Slot::Kind::constant, w, -1, data},
             {Slot::Kind::intermediate, t, 64, nullptr},
             {Slot::Kind::output, y, -1, nullptr}};
  e.calls = {{"add", "add", {0, 1, 2}, "key1", "default", "rule", "", 0, "", 3, 0, 0, {"n1"}},
             {"twice", "twice", {2, 3}, "key2", "dense_pack.cpu #7, 1.2 us", "dense_pack.cpu", "session 3 (xgb), trial 12", 1.2e-6, "cold", 3, 2, 8, {"n2", "n3"}}};
  e.inputs = {0};
  e.outputs = {3};
  e.arena_bytes = 128;
  e.live_bytes = 96;
  e.unplanned_bytes = 256;
  e.graph_text = "graph text\n";
  e.source_model = "abcd";
  e.graph_constants["w0"] = std::make_shared<const HostArray>(HostArray{kFloat32, {3}, *data});
  return e;
}

int32_t add_kernel(void* const* args, const RuntimeApi*) {
  for (int i = 0; i < 3; ++i) static_cast<float*>(args[2])[i] = static_cast<const float*>(args[0])[i] + static_cast<const float*>(args[1])[i];
  return 0;
}
int32_t twice_kernel(void* const* args, const RuntimeApi*) {
  for (int i = 0; i < 3; ++i) static_cast<float*>(args[1])[i] = 2 * static_cast<const float*>(args[0])[i];
  return 0;
}

class NativeModule : public LoadedModule {
 public:
  Expected<KernelFn> find(const std::string& symbol) override {
    if (symbol == "add") return &add_kernel;
    if (symbol == "twice") return &twice_kernel;
    return Error(ErrorCode::not_found, "No symbol \"" + symbol + "\"");
  }
};

std::string read(const QString& path) {
  std::ifstream in(path.toStdString(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const QString& path, const std::string& bytes) {
  QFile::remove(path);  // truncating a file in place makes ext4 write it out
  std::ofstream(path.toStdString(), std::ios::binary) << bytes;
}

std::string error_of(const Expected<void>& e) { return e ? "" : e.error().text(); }

}  // namespace

class ExecutableTest : public QObject {
  Q_OBJECT
  QTemporaryDir dir_;
  QString path_ = dir_.filePath("net.twx");

 private Q_SLOTS:
  void round_trip() {
    const Executable e = sample();
    QVERIFY2(save(e, path_.toStdString()).has_value(), error_of(save(e, path_.toStdString())).c_str());
    QCOMPARE(QDir(dir_.path()).entryList(QDir::Files), QStringList{"net.twx"});
    const auto back = load_executable(path_.toStdString());
    QVERIFY2(back.has_value(), back ? "" : back.error().text().c_str());
    QCOMPARE(back->name, e.name);
    QCOMPARE(back->artifact.object, e.artifact.object);
    QCOMPARE(back->calls.size(), e.calls.size());
    QCOMPARE(back->calls[1].origin, e.calls[1].origin);
    QCOMPARE(back->calls[1].space, e.calls[1].space);
    QCOMPARE(back->calls[1].record, e.calls[1].record);
    QCOMPARE(back->calls[1].nodes, e.calls[1].nodes);
    QCOMPARE(back->calls[1].alone_s, e.calls[1].alone_s);
    QCOMPARE(back->calls[1].alone_weights, e.calls[1].alone_weights);
    QCOMPARE(back->calls[0].alone_s, 0.0);
    QCOMPARE(back->calls[1].function_calls, 2.0);
    QCOMPARE(back->calls[1].unread_bytes, 8.0);
    QCOMPARE(back->slots.size(), e.slots.size());
    for (size_t i = 0; i < e.slots.size(); ++i) {
      QVERIFY(back->slots[i].spec == e.slots[i].spec);
      QVERIFY(back->slots[i].kind == e.slots[i].kind);
      QCOMPARE(back->slots[i].offset, e.slots[i].offset);
    }
    QCOMPARE(*back->slots[1].data, *e.slots[1].data);
    QCOMPARE(back->graph_constants.at("w0")->data, e.graph_constants.at("w0")->data);
    QCOMPARE(back->graph_text, e.graph_text);
    QCOMPARE(back->arena_bytes, e.arena_bytes);
    QCOMPARE(back->live_bytes, e.live_bytes);
    QCOMPARE(back->unplanned_bytes, e.unplanned_bytes);
    // Saving what was loaded gives the same bytes.
    const std::string first = read(path_);
    QVERIFY(save(*back, path_.toStdString()).has_value());
    QCOMPARE(read(path_), first);
  }

  void every_truncation_is_refused() {
    QVERIFY(save(sample(), path_.toStdString()).has_value());
    const std::string bytes = read(path_);
    const QString cut = dir_.filePath("cut.twx");
    for (size_t n = 0; n < bytes.size(); ++n) {
      write(cut, bytes.substr(0, n));
      const auto e = load_executable(cut.toStdString());
      QVERIFY(!e.has_value());
      QVERIFY(e.error().code == ErrorCode::parse_error || e.error().code == ErrorCode::corrupt);
      QVERIFY(!e.error().text().empty());
    }
    write(cut, bytes + "x");
    QVERIFY(!load_executable(cut.toStdString()).has_value());
  }

  void every_bit_flip_is_refused() {
    QVERIFY(save(sample(), path_.toStdString()).has_value());
    const std::string bytes = read(path_);
    const QString bad = dir_.filePath("bad.twx");
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
      write(bad, flipped);
      QVERIFY2(!load_executable(bad.toStdString()).has_value(), qPrintable(QString("byte %1").arg(i)));
    }
  }

  void wrong_structures_are_refused() {
    const auto refused = [&](auto change) {
      Executable e = sample();
      change(e);
      const auto saved = save(e, path_.toStdString());
      return !saved.has_value() && saved.error().code == ErrorCode::corrupt;
    };
    QVERIFY(refused([](Executable& e) { e.calls[0].slots[1] = 9; }));
    QVERIFY(refused([](Executable& e) { e.calls[0].slots.pop_back(); }));
    QVERIFY(refused([](Executable& e) { e.calls[0].symbol = "mul"; }));
    QVERIFY(refused([](Executable& e) { e.slots[2].offset = 120; }));
    QVERIFY(refused([](Executable& e) { e.slots[2].offset = -64; }));
    QVERIFY(refused([](Executable& e) { e.slots[1].data = floats({1, 2}); }));
    QVERIFY(refused([](Executable& e) { e.inputs = {3}; }));
    QVERIFY(refused([](Executable& e) { e.outputs = {-1}; }));
    QVERIFY(refused([](Executable& e) { e.artifact.kernels[1].args[0].dtype = kInt32; }));
  }

  void errors_say_where() {
    const auto missing = load_executable("/nonexistent/net.twx");
    QVERIFY(!missing.has_value());
    QVERIFY(missing.error().code == ErrorCode::not_found);
    QCOMPARE(missing.error().where, std::string("/nonexistent/net.twx"));
    QVERIFY(load_executable(dir_.path().toStdString()).error().code == ErrorCode::io_error);
    QVERIFY(!save(sample(), "/nonexistent/net.twx").has_value());
    const auto full = save(sample(), "/dev/full/net.twx");
    QVERIFY(!full.has_value());
  }

  void executes() {
    auto made = GraphExecutor::create(std::make_shared<const Executable>(sample()), std::make_unique<NativeModule>(), 1);
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    GraphExecutor& run = **made;
    HostArray x = HostArray::make(kFloat32, {3});
    for (int i = 0; i < 3; ++i) x.set(i, i + 1);
    QVERIFY(run.set_inputs({{"x", x}}).has_value());
    std::vector<CallTime> times;
    const double seconds = run.run(&times).value();
    QVERIFY(seconds > 0);
    QCOMPARE(times.size(), size_t{2});
    QVERIFY(times[1].call == 1 && times[1].seconds >= 0 && !times[1].woke);
    QVERIFY(std::abs(times[0].seconds + times[1].seconds - seconds) < 1e-12);
    const std::vector<HostArray> out = run.outputs().value();
    QCOMPARE(out.size(), size_t{1});
    QCOMPARE(out[0].shape, (std::vector<int64_t>{3}));
    for (int i = 0; i < 3; ++i) QCOMPARE(out[0].get(i), 2.0 * (i + 1 + 10 * (i + 1)));
  }

  void executors_may_share_threads() {
    const auto pool = std::make_shared<ThreadPool>(2);
    const auto e = std::make_shared<const Executable>(sample());
    HostArray x = HostArray::make(kFloat32, {3});
    x.set(1, 5);
    for (int i = 0; i < 2; ++i) {
      auto made = GraphExecutor::create(e, std::make_unique<NativeModule>(), pool);
      QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
      QVERIFY((*made)->set_inputs({{"x", x}}).has_value());
      QVERIFY((*made)->run().has_value());
      QCOMPARE((*made)->outputs().value()[0].get(1), 50.0);
    }
    QCOMPARE(pool.use_count(), 1L);
  }

  void wrong_inputs_are_named() {
    auto made = GraphExecutor::create(std::make_shared<const Executable>(sample()), std::make_unique<NativeModule>(), 1);
    GraphExecutor& run = **made;
    const HostArray good = HostArray::make(kFloat32, {3});
    const auto names = [&](const std::map<std::string, HostArray>& inputs, const char* word) {
      const auto set = run.set_inputs(inputs);
      return !set && set.error().code == ErrorCode::invalid_argument && set.error().message.find(word) != std::string::npos;
    };
    QVERIFY(names({}, "\"x\" is missing"));
    QVERIFY(names({{"x", good}, {"z", good}}, "no input \"z\""));
    QVERIFY(names({{"x", HostArray::make(kFloat32, {4})}}, "[4]"));
    QVERIFY(names({{"x", HostArray::make(kFloat64, {3})}}, "float64"));
    Executable unknown = sample();
    unknown.calls[0].symbol = unknown.artifact.kernels[0].name = "gone";
    QVERIFY(!GraphExecutor::create(std::make_shared<const Executable>(unknown), std::make_unique<NativeModule>(), 1).has_value());
  }
};

QTEST_APPLESS_MAIN(ExecutableTest)
#include "executable_test.moc"
