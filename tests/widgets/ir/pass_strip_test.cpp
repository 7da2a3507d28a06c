// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/pass_strip.h"

#include <QtTest>

using namespace tw::widgets;

class PassStripTest : public QObject {
  Q_OBJECT

  static std::vector<PassStrip::Pass> passes() {
    return {{QStringLiteral("lowered"), 0, false, 0, 0},
            {QStringLiteral("simplify"), 1e-3, true, 3, 9},
            {QStringLiteral("vectorize_loops"), 1e-4, false, 0, 0},
            {QStringLiteral("unroll_loops"), 4e-3, true, 40, 2}};
  }

 private Q_SLOTS:
  void longPassesAreWideAndAllCanBeClicked() {
    PassStrip strip;
    strip.setPasses(passes());
    strip.resize(400, strip.sizeHint().height());
    std::map<int, int> pixels;
    connect(&strip, &PassStrip::selected, &strip, [&](int first, int last) {
      QCOMPARE(first, last);
      ++pixels[first];
    });
    for (int x = 0; x < 400; ++x) {
      QTest::mouseClick(&strip, Qt::LeftButton, {}, QPoint(x, 20));
      strip.select(-1, -1);
    }
    QCOMPARE(pixels.size(), size_t{4});
    for (const auto& [pass, width] : pixels) QVERIFY(width >= 50);
    QVERIFY(pixels[3] > 2 * pixels[2]);
    QVERIFY(pixels[1] > pixels[2]);
  }

  void keysChooseAPassAndARange() {
    PassStrip strip;
    strip.setPasses(passes());
    strip.select(1, 1);
    QSignalSpy selected(&strip, &PassStrip::selected);
    QTest::keyClick(&strip, Qt::Key_Right);
    QCOMPARE(strip.first(), 2);
    QTest::keyClick(&strip, Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(strip.first(), 2);
    QCOMPARE(strip.last(), 3);
    QTest::keyClick(&strip, Qt::Key_Left, Qt::ShiftModifier);
    QTest::keyClick(&strip, Qt::Key_Left, Qt::ShiftModifier);
    QCOMPARE(strip.first(), 1);
    QCOMPARE(strip.last(), 2);
    QTest::keyClick(&strip, Qt::Key_End);
    QCOMPARE(strip.first(), 3);
    QCOMPARE(selected.count(), 5);
    QTest::keyClick(&strip, Qt::Key_Right);  // there is no further one
    QCOMPARE(selected.count(), 5);
    QVERIFY(strip.accessibleDescription().contains(QStringLiteral("unroll_loops")));
  }

  void costsAreSaidAndWhatMustRunSaysWhy() {
    PassStrip strip;
    auto all = passes();
    all[3].needed = QStringLiteral("registers need it");
    strip.setPasses(all);
    strip.select(1, 1);
    strip.setCosts({{}, {QStringLiteral("\u25B21.43\u00D7"), QStringLiteral("1.40\u20131.46"), QStringLiteral("surely slower without it")}});
    QCOMPARE(strip.first(), 1);
    QCOMPARE(strip.passes()[1].cost.ratio, QStringLiteral("\u25B21.43\u00D7"));
    QCOMPARE(strip.table().rows[1][6], QStringLiteral("surely slower without it"));
    QCOMPARE(strip.table().rows[3][7], QStringLiteral("registers need it"));
    strip.select(3, 3);
    QVERIFY(strip.accessibleDescription().contains(QStringLiteral("Cannot be left out: registers need it")));
    // Where there is little height it takes less.
    const int high = strip.sizeHint().height();
    strip.setLow(true);
    QVERIFY(strip.sizeHint().height() < high);
    strip.setLow(false);
    QCOMPARE(strip.sizeHint().height(), high);
  }

  void tableSaysWhatIsPainted() {
    PassStrip strip;
    strip.setPasses(passes());
    const Table table = strip.table();
    QCOMPARE(table.rows.size(), size_t{4});
    QCOMPARE(table.rows[1], (QStringList{"1", "simplify", "0.001", "yes", "3", "9", "", ""}));
    QCOMPARE(table.rows[2][3], QStringLiteral("no"));
    QVERIFY(strip.summary().startsWith(QStringLiteral("3 passes, 2 of them")));
  }

  void withoutPassesNothingHappens() {
    PassStrip strip;
    strip.resize(300, 80);
    QTest::keyClick(&strip, Qt::Key_Right);
    QTest::mouseClick(&strip, Qt::LeftButton, {}, QPoint(20, 20));
    strip.grab();
    QCOMPARE(strip.last(), -1);
  }
};

QTEST_MAIN(PassStripTest)
#include "pass_strip_test.moc"
