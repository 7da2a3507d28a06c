// SPDX-License-Identifier: Apache-2.0
#include <QDir>
#include <QFile>
#include <QtTest>
#include <map>

#include "engine/base/hash.h"
#include "tests/engine/tune/recorded_space.h"

using namespace tw;
using recorded::RecordedSpace;

/// What the tuners ask for in spaces that were measured exhaustively is written down, as one hash for each seed in spaces/sequences.txt: whatever changes
/// around them, the same seed and the same answers give the same questions. What differs is reported as the line that the file would need.
class SequencesTest : public QObject {
  Q_OBJECT

  static constexpr int kSeeds = 20, kTransferSeeds = 5;

  static QByteArray contents(const QString& path) {
    QFile file(path);
    if (!file.open(QFile::ReadOnly)) qFatal("cannot read %s", qPrintable(path));
    return file.readAll();
  }
  static RecordedSpace space(const QString& name) {
    const QString path = QStringLiteral(TW_TESTS_DIR "/engine/tune/spaces/%1.json").arg(name);
    auto r = recorded::recorded_space_from_json(parse_json(contents(path).toStdString()).value());
    if (!r) qFatal("%s", r.error().text().c_str());
    return *std::move(r);
  }
  /// Hashes by "tuner space seed".
  static std::map<QString, QString> recorded() {
    std::map<QString, QString> hashes;
    for (const QByteArray& line : contents(QStringLiteral(TW_TESTS_DIR "/engine/tune/spaces/sequences.txt")).split('\n')) {
      const qsizetype last = line.lastIndexOf(' ');
      if (last > 0) hashes[QString::fromLatin1(line.left(last))] = QString::fromLatin1(line.mid(last + 1));
    }
    return hashes;
  }
  /// Every second of the first points as another task of the template, where it all took five times as long.
  static tune::PriorPoints other_task(const RecordedSpace& r) {
    tune::PriorPoints prior;
    prior.space = r.space;
    for (int64_t i = 0; i < static_cast<int64_t>(r.seconds.size()); i += 2) {
      if (r.rejected[static_cast<size_t>(i)]) continue;
      prior.results.push_back(recorded::recorded_answer(r, i));
      for (double& s : prior.results.back().result.samples_s) s *= 5;
    }
    return prior;
  }

 private Q_SLOTS:
  void theSameQuestionsAsEver_data() {
    QTest::addColumn<QString>("tuner");
    QTest::addColumn<QString>("params");
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("trials");
    QTest::addColumn<bool>("transfer");
    const QDir folder(QStringLiteral(TW_TESTS_DIR "/engine/tune/spaces"));
    for (const QString& file : folder.entryList({QStringLiteral("*.json")})) {
      const QString name = file.chopped(5);
      const auto row = [&](const char* label, const char* tuner, const char* params, int trials, bool transfer = false) {
        QTest::newRow(qPrintable(QStringLiteral("%1 %2").arg(QLatin1String(label), name)))
            << QString::fromLatin1(tuner) << QString::fromLatin1(params) << name << trials << transfer;
      };
      row("random", "random", "{}", 400);
      row("grid", "grid", "{}", 400);
      row("genetic", "genetic", "{}", 400);
      row("xgb", "xgb", "{}", 136);  // models of 16, 32, 64 and 128 trials
      row("xgb-regression", "xgb", R"({"loss": "reg", "diversity": 2, "plan_size": 32})", 72);
      row("xgb-transfer", "xgb", "{}", 72, true);
    }
  }
  void theSameQuestionsAsEver() {
    QFETCH(QString, tuner);
    QFETCH(QString, params);
    QFETCH(QString, name);
    QFETCH(int, trials);
    QFETCH(bool, transfer);
    const RecordedSpace r = space(name);
    const std::map<QString, QString> hashes = recorded();
    const tune::StrategyDef& def = *tune::find_strategy(tuner.toStdString());
    const Json given = parse_json(params.toStdString()).value();
    const tune::PriorPoints prior = other_task(r);
    QStringList wrong;
    const int seeds = given.empty() && !transfer ? kSeeds : kTransferSeeds;
    for (int seed = 1; seed <= seeds; ++seed) {
      const auto strategy = recorded::searcher(r, def, given, static_cast<uint64_t>(seed));
      const tune::PriorPoints known[] = {prior};
      if (transfer) strategy->transfer(known);
      const QString key = QStringLiteral("%1 %2").arg(QString::fromLatin1(QTest::currentDataTag())).arg(seed);
      const QString hash = QString::number(stable_hash(recorded::asked_points(r, *strategy, trials)), 16);
      const auto expected = hashes.find(key);
      if (expected == hashes.end() || expected->second != hash) wrong += key + QLatin1Char(' ') + hash;
    }
    for (const QString& line : wrong) qWarning("%s", qPrintable(line));
    QVERIFY2(wrong.isEmpty(), "other sequences than those of spaces/sequences.txt: see above");
  }
};

QTEST_APPLESS_MAIN(SequencesTest)
#include "sequences_test.moc"
