// SPDX-License-Identifier: Apache-2.0
#include "engine/records/history.h"

#include <QtTest>

#include "engine/base/json.h"

using namespace tw;
using namespace tw::records;

namespace {

const Json kArgs = Json::parse(R"([["TENSOR",[1,8],"float32"],["TENSOR",[4,8],"float32"],null,"float32"])");

AutotvmRecord line(const std::string& target, double cost, int64_t index, int error = 0, const std::string& name = "dense_pack.x86") {
  const Json json = {{"input", {target, name, kArgs, Json::object()}},
                     {"config", {{"index", index}, {"code_hash", nullptr}, {"entity", Json::array()}}},
                     {"result", {{cost}, error, 1.0, 1.0}},
                     {"version", 0.2}};
  return parse_autotvm_line(dump_json(json)).value();
}

int64_t found(const HistoryBest& history, const char* target, const Json& args = kArgs) {
  const AutotvmRecord* r = history.query(target, "dense_pack.x86", args);
  return r ? r->record.candidate.index : -1;
}

}  // namespace

class HistoryTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void targets_name_model_and_keys_data() {
    QTest::addColumn<QString>("target");
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("keys");
    QTest::newRow("llvm") << "llvm -mcpu=znver4 -num-cores=2"
                          << "unknown"
                          << "cpu";
    QTest::newRow("keys") << "llvm -keys=cpu -link-params=0"
                          << "unknown"
                          << "cpu";
    QTest::newRow("device") << "llvm -device=arm_cpu -model=pixel2"
                            << "pixel2"
                            << "arm_cpu,cpu";
    QTest::newRow("short cuda") << "cuda -model=titanx"
                                << "titanx"
                                << "cuda,gpu";
    QTest::newRow("cuda keys") << "cuda -keys=cuda,gpu -arch=sm_75"
                               << "unknown"
                               << "cuda,gpu";
    QTest::newRow("nothing") << ""
                             << "unknown"
                             << "";
    QTest::newRow("strange") << "zx81 -keys="
                             << "unknown"
                             << "";
  }
  void targets_name_model_and_keys() {
    QFETCH(QString, target);
    const TargetNames names = target_names(target.toStdString());
    QStringList keys;
    for (const std::string& k : names.keys) keys << QString::fromStdString(k);
    QTEST(QString::fromStdString(names.model), "model");
    QTEST(keys.join(','), "keys");
  }
  void the_least_cost_of_a_key_wins() {
    HistoryBest h;
    QCOMPARE(found(h, "llvm"), -1);
    for (const AutotvmRecord& r : {line("llvm", 3, 1), line("llvm -mcpu=skylake-avx512", 2, 2), line("llvm", 2, 3), line("llvm", 1, 4, 2)}) h.load(r);
    QCOMPARE(found(h, "llvm -mcpu=znver4"), 2);  // the processor is no part of the question, the first of equals stays, failures do not count
    QCOMPARE(found(h, "cuda"), -1);
    QCOMPARE(found(h, "llvm", Json::array({1})), -1);
  }
  void the_model_comes_before_the_keys() {
    HistoryBest h;
    h.load(line("llvm -model=a", 5, 1));
    h.load(line("llvm -model=b", 2, 2));
    QCOMPARE(found(h, "llvm -model=a"), 1);
    QCOMPARE(found(h, "llvm -model=b"), 2);
    QCOMPARE(found(h, "llvm -model=c"), 2);
    QCOMPARE(found(h, "llvm"), 2);
  }
  void keys_are_asked_in_order() {
    HistoryBest h;
    h.load(line("llvm", 1, 1));
    h.load(line("llvm -keys=arm_cpu", 9, 2));
    QCOMPARE(found(h, "llvm -device=arm_cpu"), 2);
    QCOMPARE(found(h, "llvm -keys=cpu,arm_cpu"), 1);
  }
  void spellings_of_a_workload_are_one() {
    HistoryBest h;
    Json args = kArgs;
    args[3] = nullptr;
    h.load(line("llvm", 1, 1));
    QCOMPARE(found(h, "llvm", args), 1);
  }
};

QTEST_APPLESS_MAIN(HistoryTest)
#include "history_test.moc"
