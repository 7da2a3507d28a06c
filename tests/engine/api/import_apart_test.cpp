// SPDX-License-Identifier: Apache-2.0
#include "engine/api/import_apart.h"

#include <QProcess>
#include <QtTest>
#include <fstream>

#include "engine/api/import_messages.h"
#include "engine/base/rng.h"
#include "engine/graph/derived_constants.h"
#include "engine/graph/evaluate.h"
#include "tests/engine/frontends/onnx/model_text.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::api;

namespace {

const ImportLimits kLimits{.worker_path = TW_BIN_DIR "/tw-worker"};

/// Fields of protobuf messages as they lie in a file.
std::string varint(uint64_t n) {
  std::string out;
  for (; n > 127; n >>= 7) out += static_cast<char>((n & 127) | 128);
  return out + static_cast<char>(n);
}
std::string field(int number, uint64_t value) { return varint(static_cast<uint64_t>(number) << 3) + varint(value); }
std::string field(int number, const std::string& bytes) { return varint((static_cast<uint64_t>(number) << 3) | 2) + varint(bytes.size()) + bytes; }

/// A model of some kilobytes whose folded constants take 32 MiB each. Numbers of fields: onnx.proto.
void write_greedy_model(const std::string& path, int constants) {
  constexpr uint64_t kElements = 1 << 22, kDouble = 11, kInt64 = 7;
  const auto value = [](const std::string& name) {
    const std::string shape = field(1, field(1, kElements));
    return field(1, name) + field(2, field(1, field(1, kDouble) + field(2, shape)));
  };
  const auto node = [](const std::string& op, const std::string& a, const std::string& b, const std::string& out) {
    return field(1, field(1, a) + field(1, b) + field(2, out) + field(4, op));
  };
  std::string graph = field(2, std::string("greedy")) + field(11, value("x0")) + field(12, value("x" + std::to_string(constants)));
  graph += field(5, field(1, uint64_t{1}) + field(2, kInt64) + field(7, kElements) + field(8, std::string("shape")));
  for (int i = 0; i < constants; ++i) {
    const std::string n = std::to_string(i);
    const double number = 1.5 + i;
    graph += field(5, field(2, kDouble) + field(8, "c" + n) + field(9, std::string(reinterpret_cast<const char*>(&number), sizeof number)));
    graph += node("Expand", "c" + n, "shape", "y" + n) + node("Mul", "x" + n, "y" + n, "x" + std::to_string(i + 1));
  }
  std::ofstream file(path, std::ios::binary);
  file << field(1, uint64_t{8}) << field(7, graph) << field(8, field(2, uint64_t{17}));
}

}  // namespace

class ImportApartTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string path(const char* name) const { return folder_.filePath(QString::fromLatin1(name)).toStdString(); }

 private Q_SLOTS:
  /// Started by hand, with no role, an unknown one, or without a limit, the worker says what it is for.
  void a_worker_started_by_hand() {
    for (const QStringList& arguments : {QStringList(), QStringList{"cook"}, QStringList{"import"}, QStringList{"import", "--memory-bytes", "0"}}) {
      QProcess worker;
      worker.start(TW_BIN_DIR "/tw-worker", arguments);
      QVERIFY(worker.waitForFinished(60000));
      QVERIFY(worker.exitStatus() == QProcess::NormalExit);
      QCOMPARE(worker.exitCode(), 2);
      QVERIFY(worker.readAllStandardError().startsWith("tw-worker is started by tilewright and tw"));
    }
  }

  void givesWhatReadingHereGives_data() {
    QTest::addColumn<std::string>("name");
    for (const frontends::ZooModel& m : frontends::zoo()) QTest::newRow(m.name) << std::string(m.name);
  }
  void givesWhatReadingHereGives() {
    QFETCH(const std::string, name);
    const std::string model = path("m.onnx");
    QVERIFY(frontends::write_zoo_model(name, {.tiny = true}, model));
    const Target target = host_target();
    const Network here = import_network(model, target).value();
    const auto apart = import_network_apart(model, target, {}, kLimits, {});
    QVERIFY2(apart.has_value(), apart ? "" : apart.error().text().c_str());
    QCOMPARE(graph::print(apart->imported), graph::print(here.imported));
    QCOMPARE(graph::print(apart->optimized), graph::print(here.optimized));
    QCOMPARE(apart->content_key, here.content_key);
    QCOMPARE(reading_to_json(*apart), reading_to_json(here));
    QCOMPARE(apart->partition.workloads.size(), here.partition.workloads.size());
    for (size_t i = 0; i < here.partition.workloads.size(); ++i) QCOMPARE(apart->partition.workloads[i].key, here.partition.workloads[i].key);
  }

  /// Weights of more than a megabyte lie in memory that both processes see; what passes turn or join of them is made when it is read.
  void largeWeights() {
    onnx::ModelProto m = onnx_test::model(17);
    onnx_test::input(m, "x", {2, 1100});
    Rng rng(1);
    const auto weight = [&](const char* name, int64_t columns) {
      onnx::TensorProto* t = onnx_test::floats(m, name, {1100, columns}, {});
      std::string raw;
      for (int64_t i = 0; i < 1100 * columns; ++i) {
        const auto v = static_cast<float>(rng.normal() / 25);
        raw.append(reinterpret_cast<const char*>(&v), sizeof v);
      }
      t->set_raw_data(raw);
    };
    for (const char* name : {"q", "k"}) {
      weight(name, 1100);
      onnx_test::node(m, "MatMul", {"x", name}, std::string(name) + "x");
    }
    onnx_test::node(m, "Mul", {"qx", "kx"}, "y");
    onnx_test::output(m, "y");
    const std::string model = path("large.onnx");
    std::ofstream(model, std::ios::binary) << onnx_test::bytes(m);
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=2").value();
    const Network here = import_network(model, target).value();
    const auto apart = import_network_apart(model, target, {}, kLimits, {});
    QVERIFY2(apart.has_value(), apart ? "" : apart.error().text().c_str());
    QCOMPARE(graph::print(apart->imported), graph::print(here.imported));
    QCOMPARE(graph::print(apart->optimized), graph::print(here.optimized));
    int shared = 0, derived = 0;
    for (const graph::Graph* g : {&apart->imported, &apart->optimized})
      for (const graph::Value& v : g->values) {
        shared += v.constant && v.constant->data.keeper() != nullptr;
        derived += v.constant && graph::derivation_of(*v.constant) != nullptr;
      }
    QCOMPARE(shared, 2);
    QVERIFY(derived > 0);
    const auto inputs = graph::testing::random_inputs(here.imported, 4);
    QVERIFY(graph::evaluate(apart->optimized, inputs).value()[0].data == graph::evaluate(here.optimized, inputs).value()[0].data);
    QCOMPARE(reading_to_json(*apart), reading_to_json(here));
    QVERIFY(!apart->reading.empty() && !apart->passes.empty());
  }

  void optionsAndHooksHold() {
    const std::string model = path("m.onnx");
    QVERIFY(frontends::write_zoo_model("lenet5", {.tiny = true}, model));
    graph::PassHooks hooks;
    hooks.disabled = {"fuse_operators"};
    size_t seen = 0;
    const auto plain = import_network_apart(model, host_target(), {}, kLimits, {}, hooks);
    hooks.after = [&](const graph::Pass&, const graph::Graph&, const graph::Graph&, double, bool) { ++seen; };
    const auto watched = import_network_apart(model, host_target(), {}, kLimits, {}, hooks);
    QVERIFY(plain && watched && seen > 5);
    QCOMPARE(graph::print(watched->optimized), graph::print(plain->optimized));
    QCOMPARE(plain->partition.groups.size(), plain->optimized.nodes.size());
    hooks.disabled = {"no_such_pass"};
    const auto wrong = import_network_apart(model, host_target(), {}, kLimits, {}, hooks);
    QVERIFY(!wrong && wrong.error().code == ErrorCode::invalid_argument);
    QVERIFY(wrong.error().message.find("no_such_pass") != std::string::npos);
    const auto missing = import_network_apart(path("missing.onnx"), host_target(), {}, kLimits, {});
    QVERIFY(!missing && missing.error().code == ErrorCode::not_found);
  }

  /// A few kilobytes ask for gigabytes, or for more time than there is.
  void greedyModelsAreRefused() {
    const std::string model = path("greedy.onnx");
    write_greedy_model(model, 40);
    QVERIFY(QFileInfo(QString::fromStdString(model)).size() < 16 << 10);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ImportLimits little = kLimits;
    little.memory_bytes = int64_t{300} << 20;
    const auto large = import_network_apart(model, host_target(), {}, little, {});
    QVERIFY(!large);
    QCOMPARE(large.error().code, ErrorCode::resource_limit);
    QVERIFY2(large.error().message.find("more than 300 MiB of memory") != std::string::npos, large.error().text().c_str());
    const auto by_rule = import_network_apart(model, host_target(), {}, kLimits, {});
    QVERIFY(!by_rule && by_rule.error().code == ErrorCode::resource_limit);
#endif
    ImportLimits hurry = kLimits;
    hurry.seconds = 1e-3;
    const auto late = import_network_apart(model, host_target(), {}, hurry, {});
    QVERIFY(!late && late.error().code == ErrorCode::timeout);
    QVERIFY2(late.error().message.find("greedy.onnx") != std::string::npos, late.error().text().c_str());
  }

  void openSizesAreReadThereToo() {
    const std::string models[] = {std::string(TW_TESTS_DIR "/engine/frontends/torch/programs/transformer/model.pt2"), path("m.onnx")};
    QVERIFY(frontends::write_zoo_model("lenet5", {.tiny = true}, models[1]));
    for (const std::string& model : models) {
      const auto apart = open_sizes_apart(model, kLimits, {});
      QVERIFY2(apart.has_value(), apart ? "" : apart.error().text().c_str());
      QCOMPARE(to_json(*apart), to_json(*frontends::open_sizes(model)));
    }
    QVERIFY(!open_sizes_apart(models[0], kLimits, {})->empty());
    const auto missing = open_sizes_apart(path("missing.onnx"), kLimits, {});
    QVERIFY(!missing && missing.error().code == ErrorCode::not_found);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const std::string large = path("large.onnx");
    write_greedy_model(large, 1);
    std::ofstream(large, std::ios::binary | std::ios::app) << field(6, std::string(size_t{64} << 20, 'x'));
    ImportLimits little = kLimits;
    little.memory_bytes = int64_t{16} << 20;
    const auto refused = open_sizes_apart(large, little, {});
    QVERIFY(!refused && refused.error().code == ErrorCode::resource_limit);
    QVERIFY(open_sizes_apart(large, kLimits, {}));
#endif
    QVERIFY(!open_sizes_from_json(Json::array({Json{{"name", "n"}}})));
  }

  void deathsAndStopsAreErrors() {
    const std::string model = path("m.onnx");
    QVERIFY(frontends::write_zoo_model("lenet5", {.tiny = true}, model));
    ImportLimits dying = kLimits;
    dying.worker_path = "/bin/false";
    const auto died = import_network_apart(model, host_target(), {}, dying, {});
    QVERIFY(!died && died.error().code == ErrorCode::crash);
    QVERIFY2(died.error().message.find("exit code 1") != std::string::npos, died.error().text().c_str());
    dying.worker_path = "/no/such/worker";
    const auto none = import_network_apart(model, host_target(), {}, dying, {});
    QVERIFY(!none && none.error().code == ErrorCode::infrastructure);
    StopSource stop;
    stop.request_stop();
    const auto stopped = import_network_apart(model, host_target(), {}, kLimits, stop.get_token());
    QVERIFY(!stopped && stopped.error().code == ErrorCode::cancelled);
  }

  void arraysThatDoNotAgreeAreRefused() {
    HostArray a = HostArray::make(kFloat32, {2, 3});
    Constants found;
    QVERIFY(add_array(array_header("k", a, nullptr), std::vector<std::byte>(24), nullptr, found));
    QCOMPARE(found.at("k")->shape, a.shape);
    QVERIFY(add_array(array_header("none", HostArray::make(kFloat32, {int64_t{1} << 39, 0}), nullptr), {}, nullptr, found));
    QVERIFY(!add_array(array_header("k", a, nullptr), std::vector<std::byte>(23), nullptr, found));
    QVERIFY(!add_array(array_header("k", a, nullptr), {}, nullptr, found));
    a.shape = {int64_t{1} << 62, int64_t{1} << 62, 6};
    QVERIFY(!add_array(array_header("k", a, nullptr), std::vector<std::byte>(24), nullptr, found));
    a.shape = {-2, -3};
    QVERIFY(!add_array(array_header("k", a, nullptr), std::vector<std::byte>(24), nullptr, found));
    Json header = array_header("k", HostArray::make(kFloat32, {1}), nullptr);
    header["dtype"] = "float31";
    QVERIFY(!add_array(header, std::vector<std::byte>(4), nullptr, found));

    // Places in shared memory, and arrays that follow from others.
    const auto shared = process::SharedMemory::create().value();
    const auto part = shared->room(24);
    HostArray b{kFloat32, {2, 3}, ArrayBytes::kept(part.bytes, part.keeper)};
    header = array_header("b", b, shared.get());
    QVERIFY(!has_payload(header));
    QVERIFY(add_array(header, {}, shared.get(), found));
    QVERIFY(found.at("b")->data == b.data);
    QVERIFY(!add_array(header, {}, nullptr, found));
    for (const int64_t place : {int64_t{-4096}, int64_t{7}, INT64_MAX - 4095}) {
      header["place"] = place;
      QVERIFY(!add_array(header, {}, shared.get(), found));
    }
    header = {{"array", "t"}, {"dtype", "float32"}, {"shape", {3, 2}}, {"derived", {{"how", "transposed"}, {"of", {"b"}}, {"numbers", {1, 0}}}}};
    QVERIFY(add_array(header, {}, nullptr, found));
    QVERIFY(found.at("t")->data == graph::transposed(b, {1, 0}).data);
    for (const auto& [key, wrong] : std::vector<std::pair<const char*, Json>>{{"of", Json::array({"unknown"})}, {"of", Json::array()}, {"numbers", Json::array({0, 7})}, {"how", 3}}) {
      Json other = header;
      other["derived"][key] = wrong;
      QVERIFY(!add_array(other, {}, nullptr, found));
    }
    header["shape"] = {3, 3};
    QVERIFY(!add_array(header, {}, nullptr, found));
  }

  void errorsTravelWhole() {
    const Error e = Error(ErrorCode::unsupported, "Expected this, found that", "node 'x'").note("First").note("Second");
    const Error back = error_from_json(to_json(e));
    QCOMPARE(back.text(), e.text());
    QCOMPARE(back.code, e.code);
  }
};

QTEST_APPLESS_MAIN(ImportApartTest)
#include "import_apart_test.moc"
