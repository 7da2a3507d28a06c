// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/dataset_file.h"

#include <QtTest>

#include "tests/engine/cost/model_fixture.h"

using namespace tw;
using namespace tw::cost;

class DatasetFileTest : public QObject {
  Q_OBJECT

  static DatasetFile some() {
    DatasetFile f{find_feature("stores"), "llvm", "measured", {{"0", "conv"}}, fixture::hills(2, 20, 3, 1)};
    f.data.add("0", {{1, 2, 3}, 1}, 0);  // it failed
    return f;
  }

 private Q_SLOTS:
  void itComesBack() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("d.twds").toStdString();
    const DatasetFile file = some();
    QVERIFY(save_dataset(file, path));
    const auto again = load_dataset(path);
    QVERIFY2(again, again ? "" : again.error().text().c_str());
    QCOMPARE(again->feature, file.feature);
    QCOMPARE(again->target, file.target);
    QCOMPARE(again->times, file.times);
    QCOMPARE(again->names.at("0"), std::string("conv"));
    QCOMPARE(again->data.labels(), file.data.labels());
    QCOMPARE(again->data.group_sizes(), file.data.group_sizes());
    for (size_t t = 0; t < 2; ++t)
      for (size_t s = 0; s < file.data.tasks()[t].samples.size(); ++s) QVERIFY(again->data.tasks()[t].samples[s].rows == file.data.tasks()[t].samples[s].rows);
    const Json about = describe(*again);
    QCOMPARE(about["samples"].get<int>(), 41);
    QCOMPARE(about["tasks"][0]["failed"].get<int>(), 1);
    QCOMPARE(about["tasks"][1]["name"].get<std::string>(), std::string());
    QCOMPARE(about["columns"].get<int>(), 3);
  }
  void othersAreRefused_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<int>("code");
    const auto row = [](const char* label, const char* from, const char* to, ErrorCode code) { QTest::newRow(label) << QByteArray(from) << QByteArray(to) << static_cast<int>(code); };
    row("another file", "tilewright cost dataset", "a list of dogs", ErrorCode::parse_error);
    row("format", R"("version":1)", R"("version":9)", ErrorCode::version);
    row("features", R"("feature_version":1)", R"("feature_version":7)", ErrorCode::version);
    row("no features", R"("feature":"stores")", R"("feature":"smells")", ErrorCode::not_found);
    row("more samples", R"("samples":21)", R"("samples":91)", ErrorCode::corrupt);
    row("no target", R"("target")", R"("market")", ErrorCode::parse_error);
  }
  void othersAreRefused() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(int, code);
    QTemporaryDir folder;
    const std::string path = folder.filePath("d.twds").toStdString();
    QVERIFY(save_dataset(some(), path));
    std::string bytes = read_file(path).value();
    const size_t at = bytes.rfind(from.toStdString(), bytes.find('\n'));
    QVERIFY(at != std::string::npos);
    QVERIFY(write_file(path, kAnyOutput, bytes.replace(at, static_cast<size_t>(from.size()), to.toStdString())));
    const auto loaded = load_dataset(path);
    QVERIFY(!loaded);
    QCOMPARE(static_cast<int>(loaded.error().code), code);
  }
  /// Bytes that changed, and bytes that are missing.
  void damageIsSeen() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("d.twds").toStdString();
    QVERIFY(save_dataset(some(), path));
    const std::string bytes = read_file(path).value();
    std::string changed = bytes;
    changed.back() = static_cast<char>(changed.back() ^ 1);
    for (const std::string& bad : {changed, bytes.substr(0, bytes.size() - 4)}) {
      QVERIFY(write_file(path, kAnyOutput, bad));
      QCOMPARE(static_cast<int>(load_dataset(path).error().code), static_cast<int>(ErrorCode::corrupt));
    }
  }
};

QTEST_APPLESS_MAIN(DatasetFileTest)
#include "dataset_file_test.moc"
