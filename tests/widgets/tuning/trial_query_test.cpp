// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/trial_query.h"

#include <QtTest>

using namespace tw;
using namespace tw::widgets;

namespace {

void add(TrialStore& store, int64_t index, double seconds, records::Status status = records::Status::ok, const char* message = "") {
  db::TrialOutcome t;
  t.number = store.size() + 1;
  t.space = "dense";
  t.index = index;
  t.status = status;
  t.message = message;
  t.seconds = status == records::Status::ok ? seconds : HUGE_VAL;
  t.build_s = 0.02;
  t.run_s = 0.1 * static_cast<double>(t.number);
  store.append(t);
}

SpaceMap spaces() {
  auto space = std::make_shared<space::ConfigSpace>();
  space->define_split("tile_x", 16, {});  // 1..16: [-1,1] [-1,2] [-1,4] [-1,8] [-1,16]
  space->define_knob("unroll", {0, 16, "auto"});
  space->define_annotate("ann", 1, "candidate", {{"unroll"}, {"vec"}});
  return {{"dense", space}};
}

}  // namespace

class TrialQueryTest : public QObject {
  Q_OBJECT

  /// Numbers of the trials that a filter keeps.
  static QString kept(const QString& text) {
    TrialStore store(1e9);
    add(store, 0, 0.010);                                                   // 1: 100 GFLOP/s, tile_x [16,1]
    add(store, 3, 0.020);                                                   // 2: 50, [2,8]
    add(store, 4, 0.040);                                                   // 3: 25, [1,16]
    add(store, 5, 0, records::Status::run_timeout, "ran longer than 1 s");  // 4: unroll 16
    add(store, 10, 0, records::Status::wrong_output, "off by 0.5");         // 5: unroll auto
    add(store, 15, 0.011);                                                  // 6: ann vec
    QString problem;
    const auto query = TrialQuery::parse(text, spaces(), &problem);
    if (!query) return problem;
    TrialMatcher matches(*query, 0.010);
    QStringList numbers;
    for (int row = 0; row < store.size(); ++row) {
      if (matches(store, row)) numbers << QString::number(store.number(row));
    }
    return numbers.join(QLatin1Char(' '));
  }

 private Q_SLOTS:
  void filters_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("numbers");
    const auto row = [](const char* text, const char* numbers) { QTest::newRow(text) << QString::fromUtf8(text) << QString::fromUtf8(numbers); };
    row("", "1 2 3 4 5 6");
    row("  ", "1 2 3 4 5 6");
    row("gflops>50", "1 6");
    row("gflops>=50 & status=ok", "1 2 6");
    row("GFLOPS >= 50 status=ok", "1 2 6");
    row("gflops>50 | number=5", "1 5 6");
    row("!(gflops>50)", "2 3 4 5");
    row("not gflops>50 and status=ok", "2 3");
    row("status=failed", "4 5");
    row("status!=ok", "4 5");
    row("status=run_timeout", "4");
    row("status~timeout", "4");
    row("status=\"wrong output\"", "5");
    row("time<15", "1 6");
    row("time<15ms", "1 6");
    row("time<0.015s", "1 6");
    row("time<15us", "");
    row("time!=10", "2 3 4 5 6");
    row("ratio<=1.1", "1 6");
    row("run>=0.4s", "4 5 6");
    row("build=20", "1 2 3 4 5 6");
    row("config=3", "2");
    row("tile_x=8", "2");
    row("tile_x>4", "2 3");
    row("tile_x[0]=16", "1 4 5 6");
    row("tile_x[0]<=2 & tile_x[1]=16", "3");
    row("unroll=16", "4");
    row("unroll=auto", "5");
    row("unroll>0", "4");
    row("ann=vec", "6");
    row("message~longer", "4");
    row("message=\"off by 0.5\"", "5");
    row("space=dense & number<3", "1 2");
    row("timeout", "4");
    row("4", "3 4");
    row("\"off by\"", "5");
    row("gflops>", "Expected a value to compare 'gflops' with, found the end of the filter");
    row("tile_q=8", "Expected one of number, time, gflops, ratio, build, run, config, predicted, status, space, message, tile_x, unroll, ann, found 'tile_q'");
    row("gflops=fast", "Expected a number to compare 'gflops' with, found 'fast'");
    row("(gflops>5", "Expected ')', found the end of the filter");
    row("gflops>5)", "Expected the end or '&', found ')'");
    row("&", "Expected a name such as gflops, status or a knob, found '&'");
    row("time<5kg", "Expected a time with ns, us, ms or s, found '5kg'");
    row("status>ok", "Expected '=', '!=' or '~' after 'status', which is a text");
    row("tile_x[a]=3", "Expected the number of a factor, 0 for the outermost, found 'a'");
    row("\"open", "Expected a name such as gflops, status or a knob, found '\"'");
  }
  void filters() {
    QFETCH(QString, text);
    QFETCH(QString, numbers);
    QCOMPARE(kept(text), numbers);
  }

  void noTextCrashesTheParser() {
    std::mt19937 rng(7);
    const QString alphabet = QStringLiteral("gflops time tile_x[0]()!&|<>=~\"5 .e+-ms\u00b5 status");
    for (int i = 0; i < 20'000; ++i) {
      QString text;
      for (int n = static_cast<int>(rng() % 24); n > 0; --n) text += alphabet[static_cast<int>(rng() % static_cast<unsigned>(alphabet.size()))];
      kept(text);
    }
    kept(QString(5000, QLatin1Char('(')));
    kept(QString(5000, QLatin1Char('!')));
  }

  /// Trials without a number are filtered by what their records name; the axis' extent is the space's, where there is one.
  void recordsNameTheirKnobs() {
    TrialStore store(1e9);
    const auto add = [&](const char* space, const char* config) {
      db::TrialOutcome t;
      t.number = store.size() + 1, t.space = space, t.config = config, t.status = records::Status::ok, t.seconds = 1e-3;
      store.append(t);
    };
    add("sketch", R"([["i","sp",[4,8]],["vectorize","ot","yes"]])");
    add("sketch", R"([["i","sp",[2,16]],["vectorize","ot","no"]])");
    add("sketch", R"([["j","sp",[2,16]]])");
    add("dense", R"([["tile_x","sp",[-1,4]],["unroll","ot",16],["ann","an",["vec"]]])");
    const auto kept = [&](const char* text) {
      QString problem;
      const auto query = TrialQuery::parse(QLatin1String(text), spaces(), &problem, store.knobNames());
      if (!query) return problem;
      TrialMatcher matches(*query, 1e-3);
      QStringList numbers;
      for (int row = 0; row < store.size(); ++row)
        if (matches(store, row)) numbers << QString::number(store.number(row));
      return numbers.join(QLatin1Char(' '));
    };
    QCOMPARE(kept("i=8"), QStringLiteral("1"));
    QCOMPARE(kept("i[0]<3"), QStringLiteral("2"));
    QCOMPARE(kept("vectorize=yes"), QStringLiteral("1"));
    QCOMPARE(kept("vectorize!=yes"), QStringLiteral("2 3 4"));
    QCOMPARE(kept("j>8"), QStringLiteral("3"));
    QCOMPARE(kept("tile_x=4 & unroll=16 & ann=vec"), QStringLiteral("4"));
    QCOMPARE(kept("tile_x[0]=4"), QStringLiteral("4"));  // 16 over 4
    QVERIFY2(kept("k=1").startsWith(QStringLiteral("Expected one of")), qPrintable(kept("k=1")));
    QVERIFY(TrialQuery::names(spaces(), store.knobNames()).contains(QStringLiteral("vectorize")));
  }
};

QTEST_GUILESS_MAIN(TrialQueryTest)
#include "trial_query_test.moc"
