// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme/theme.h"

#include <QtTest>

#include "widgets/theme/icons.h"

using namespace tw::widgets;

class ThemeTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void contrastOfKnownPairs() {
    QCOMPARE(qRound(contrastRatio(Qt::black, Qt::white) * 10), 210);
    QCOMPARE(contrastRatio(Qt::red, Qt::red), 1.0);
    // #767676 on white is the well-known limit of 4.5:1.
    QVERIFY(qAbs(contrastRatio(QColor("#767676"), Qt::white) - 4.54) < 0.02);
  }

  void everyPairOfBothThemesReachesItsContrast() {
    for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
      const auto rules = contrastRules(*theme);
      QVERIFY(rules.size() > 40);
      for (const ContrastRule& rule : rules) {
        const double ratio = contrastRatio(rule.foreground, rule.background);
        QVERIFY2(ratio >= rule.minimum, qPrintable(QStringLiteral("%1 %2: %3 on %4 is %5")
                                                       .arg(theme->dark ? "dark" : "light", rule.name, rule.foreground.name(), rule.background.name())
                                                       .arg(ratio)));
      }
    }
  }

  void paletteSaysWhichThemeItIs() {
    QVERIFY(!themeOf(paletteFor(lightTheme())).dark);
    QVERIFY(themeOf(paletteFor(darkTheme())).dark);
  }

  void seriesStayApart() {
    for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
      for (size_t i = 0; i < theme->series.size(); ++i) {
        for (size_t j = i + 1; j < theme->series.size(); ++j) QVERIFY(theme->series[i] != theme->series[j]);
      }
    }
  }

  void choicesHaveStableNames() {
    for (const auto choice : {ThemeChoice::system, ThemeChoice::light, ThemeChoice::dark})
      QCOMPARE(themeChoiceFromName(QLatin1String(themeChoiceName(choice))), choice);
  }

  void iconsAreDrawnInBothThemes() {
    for (const Theme* theme : {&lightTheme(), &darkTheme()}) {
      const QImage image = themedIcon(QStringLiteral("tune.start"), *theme).pixmap(32, 32).toImage();
      QVERIFY(!image.isNull());
      QCOMPARE(image.pixelColor(image.width() / 2 - 2, image.height() / 2).name(), theme->text.name());
    }
  }

  void applyingChangesTheApplication() {
    applyTheme(ThemeChoice::dark);
    QVERIFY(themeOf(QApplication::palette()).dark);
    applyTheme(ThemeChoice::light);
    QVERIFY(!themeOf(QApplication::palette()).dark);
  }
};

QTEST_MAIN(ThemeTest)
#include "theme_test.moc"
