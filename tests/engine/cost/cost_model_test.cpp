// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/cost_model.h"

#include <QtTest>
#include <fmt/format.h>

#include "engine/base/file.h"
#include "tests/engine/cost/model_fixture.h"
#include "tests/engine/learner/learner_fixture.h"

using namespace tw;
using namespace tw::cost;
using fixture::hills;

class CostModelTest : public QObject {
  Q_OBJECT

  /// The saved file with a part of its first line replaced.
  static std::string changed(const std::string& path, const char* from, const char* to) {
    std::string bytes = read_file(path).value();
    const size_t at = bytes.find(from);
    if (at == std::string::npos) qFatal("'%s' is not in the file", from);
    return bytes.replace(at, strlen(from), to);
  }

 private Q_SLOTS:
  void the_table_describes_itself() {
    for (const ModelDef& def : models()) {
      QCOMPARE(find_model(def.name), &def);
      QVERIFY(std::string(def.summary).size() > 40 && *def.source != 0);
      for (const Param& p : def.params) QVERIFY(!p.help.empty());
      const char* feature = def.feature != nullptr ? def.feature : "itervar";
      const auto model = def.make(def, *find_feature(feature), *resolve_params(def.params, Json::object()));
      QCOMPARE(model->samples(), size_t{0});
      QCOMPARE(model->name(), fmt::format("{}/{}-1", def.name, feature));
    }
    QVERIFY(find_model("oracle") == nullptr);
  }

  void every_model_comes_back_from_its_file_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("rows");
    for (const ModelDef& def : models())
      for (const int rows : {1, 4}) QTest::addRow("%s %d", def.name, rows) << def.name << rows;
  }
  void every_model_comes_back_from_its_file() {
    QFETCH(QString, name);
    QFETCH(int, rows);
    QTemporaryDir folder;
    const std::string path = folder.filePath("m.model").toStdString();
    const auto model = fixture::model(name.toLatin1());
    const bool apart = model->def().apart;
    if (apart) TW_NEEDS_LEARNER;
    const auto samples = [&](int count, uint64_t seed) {
      if (!apart) return hills(2, count, rows, seed);
      return name == "felix" ? learner_fixture::felix_dataset(2, count, seed) : learner_fixture::dataset(2, count, rows > 1, seed);
    };
    const Dataset data = samples(100, 1), more = samples(150, 2);
    QCOMPARE(save_model(*model, path).error().code, ErrorCode::not_applicable);
    QVERIFY(model->fit(data, {3}));
    QVERIFY(save_model(*model, path));
    QVERIFY(save_model(*model, path));  // takes the place of another model
    const auto again = load_model(path);
    QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
    QCOMPARE((*again)->name(), model->name());
    QCOMPARE((*again)->samples(), model->samples());
    QVERIFY((*again)->params() == model->params());
    QCOMPARE(*(*again)->predict(more.matrix()), *model->predict(more.matrix()));
  }
  void a_loaded_model_learns_on() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("m.model").toStdString();
    const Dataset data = hills(1, 100, 3, 1), more = hills(1, 150, 3, 2);
    const auto model = fixture::model("boosted-trees", {{"growth", 10}, {"tree_method", "hist"}});
    QVERIFY(model->fit(data, {3}));
    QVERIFY(save_model(*model, path));
    const auto again = load_model(path).value().release();
    const std::unique_ptr<CostModel> owned(again);
    QVERIFY(model->fit(more, {4}) && again->fit(more, {4}));
    QCOMPARE(*again->predict(more.matrix()), *model->predict(more.matrix()));
  }

  void other_files_are_refused_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* label, const char* from, const char* to, ErrorCode code, const char* says) {
      QTest::newRow(label) << from << to << static_cast<int>(code) << says;
    };
    row("features", R"("feature_version":1)", R"("feature_version":7)", ErrorCode::version, "version 1 of the features 'knob', found one that learned from version 7");
    row("format", R"("version":1)", R"("version":9)", ErrorCode::version, "format 9");
    row("another file", "tilewright cost model", "a list of dogs", ErrorCode::parse_error, "Expected a saved cost model");
    row("no model", "boosted-trees", "oracle", ErrorCode::not_found, "oracle");
    row("no features", R"("feature":"knob")", R"("feature":"smell")", ErrorCode::not_found, "smell");
    row("no seal", R"("bytes")", R"("bites")", ErrorCode::parse_error, "description");
    row("parameters", R"("max_depth":3)", R"("max_depth":0)", ErrorCode::invalid_argument, "max_depth");
  }
  void other_files_are_refused() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(int, code);
    QFETCH(QString, says);
    QTemporaryDir folder;
    const std::string path = folder.filePath("m.model").toStdString();
    const auto model = fixture::model("boosted-trees");
    QVERIFY(model->fit(hills(1, 50, 1, 1), {}));
    QVERIFY(save_model(*model, path));
    QVERIFY(write_file(path, kAnyOutput, changed(path, from.toLatin1(), to.toLatin1())));
    const auto loaded = load_model(path);
    QVERIFY(!loaded);
    QCOMPARE(static_cast<int>(loaded.error().code), code);
    QVERIFY2(QString::fromStdString(loaded.error().text()).contains(says), loaded.error().text().c_str());
  }
  void nothing_else_is_overwritten() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("notes.txt").toStdString();
    QVERIFY(write_file(path, kAnyOutput, "mine"));
    const auto model = fixture::model("boosted-trees");
    QVERIFY(model->fit(hills(1, 50, 1, 1), {}));
    QCOMPARE(save_model(*model, path).error().code, ErrorCode::invalid_argument);
    QCOMPARE(read_file(path).value(), std::string("mine"));
  }
  void damaged_files_are_refused() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("m.model").toStdString();
    QCOMPARE(load_model(path).error().code, ErrorCode::not_found);
    const auto model = fixture::model("boosted-trees");
    QVERIFY(model->fit(hills(1, 50, 1, 1), {}));
    QVERIFY(save_model(*model, path));
    const std::string bytes = read_file(path).value();
    for (const size_t length : {bytes.size() - 1, bytes.size() / 2, bytes.find('\n') + 1}) {
      QVERIFY(write_file(path, kAnyOutput, bytes.substr(0, length)));
      QCOMPARE(load_model(path).error().code, ErrorCode::corrupt);
    }
    std::string flipped = bytes;
    flipped[bytes.size() - 10] ^= 1;
    QVERIFY(write_file(path, kAnyOutput, flipped));
    QCOMPARE(load_model(path).error().code, ErrorCode::corrupt);
    QVERIFY(write_file(path, kAnyOutput, bytes.substr(0, 20)));
    QCOMPARE(load_model(path).error().code, ErrorCode::parse_error);
    QVERIFY(write_file(path, kAnyOutput, ""));
    QCOMPARE(load_model(path).error().code, ErrorCode::parse_error);
  }
};

QTEST_APPLESS_MAIN(CostModelTest)
#include "cost_model_test.moc"
