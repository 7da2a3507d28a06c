// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/tune/recorded_space.h"

#include <QDir>
#include <QFile>
#include <QtTest>

#include "engine/tune/valid_points.h"

using namespace tw;
using recorded::RecordedSpace;

namespace {

RecordedSpace load(const QString& path) {
  QFile file(path);
  if (!file.open(QFile::ReadOnly)) qFatal("cannot read %s", qPrintable(path));
  auto r = recorded::recorded_space_from_json(parse_json(file.readAll().toStdString(), path.toStdString()).value());
  if (!r) qFatal("%s", r.error().text().c_str());
  return *std::move(r);
}

}  // namespace

class RecordedSpaceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void keepsKnobsTimesAndRejections() {
    RecordedSpace r;
    r.name = "t";
    r.where = "here";
    r.space.define_split("s", 12, {.num_outputs = 2, .policy = "candidate", .candidates = {{-1, 1}, {-1, 4}}});
    r.space.define_reorder("r", 2, "all");
    r.space.define_annotate("a", 1, "try_none_vec");
    r.space.define_knob("k", {0, true, "x"});
    const auto size = static_cast<size_t>(r.space.size());
    for (size_t i = 0; i < size; ++i) {
      r.rejected.push_back(i % 5 == 1);
      r.seconds.push_back(i % 5 == 1 || i % 7 == 2 ? INFINITY : 1.2345678e-5 * static_cast<double>(i + 1));
    }
    const auto again = recorded::recorded_space_from_json(recorded::to_json(r));
    QVERIFY2(again, again ? "" : again.error().text().c_str());
    QCOMPARE(again->space.size(), r.space.size());
    for (int64_t i = 0; i < r.space.size(); ++i) {
      const auto k = static_cast<size_t>(i);
      QCOMPARE(again->space.get(i)->json_text(), r.space.get(i)->json_text());
      QCOMPARE(tune::is_valid_point(again->space, i), !r.rejected[k]);
      QCOMPARE(std::isfinite(again->seconds[k]), std::isfinite(r.seconds[k]));
      if (std::isfinite(r.seconds[k])) QVERIFY(std::abs(again->seconds[k] / r.seconds[k] - 1) < 1e-3);
    }
  }

  void medianOfRandomDraws() {
    RecordedSpace r;
    r.seconds = {1, 2, 3, 4};
    r.rejected.assign(4, false);
    QCOMPARE(recorded::random_median_trials(r, 0.95), 2);  // one of four: 1/4 after one, 1/2 after two
    r.rejected[3] = true;
    QCOMPARE(recorded::random_median_trials(r, 0.5), 1);  // two of three
  }

  void refusesOtherDocuments() {
    for (const char* text : {"[]", "{}", R"({"name": "n", "where": "w", "knobs": [{"name": "k", "kind": "ot", "candidates": [1, 2]}], "us": [1]})",
                             R"({"name": "n", "where": "w", "knobs": [{"name": "k", "kind": "ot", "candidates": [1, 2]}], "us": [0, null]})"}) {
      QVERIFY2(!recorded::recorded_space_from_json(parse_json(text).value()), text);
    }
  }

  void xgbNeedsHalfOfRandomsTrials_data() {
    QTest::addColumn<QString>("path");
    const QDir folder(QStringLiteral(TW_TESTS_DIR "/engine/tune/spaces"));
    for (const QString& file : folder.entryList({QStringLiteral("*.json")})) QTest::newRow(qPrintable(file)) << folder.filePath(file);
  }

  /// Times recorded on a machine, so that the figure is the same everywhere.
  void xgbNeedsHalfOfRandomsTrials() {
    QFETCH(QString, path);
    const RecordedSpace r = load(path);
    constexpr double kReached = 0.95;
    const int random = recorded::random_median_trials(r, kReached);
    const double xgb = recorded::median_trials(r, *tune::find_strategy("xgb"), Json::object(), kReached, 20);
    QVERIFY2(2 * xgb <= random, qPrintable(QStringLiteral("xgb %1, random %2").arg(xgb).arg(random)));
  }
};

QTEST_APPLESS_MAIN(RecordedSpaceTest)
#include "recorded_space_test.moc"
