// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/glossary.h"

#include <QHelpEvent>
#include <QLabel>
#include <QToolTip>
#include <QtTest>

using namespace tw::app;

class GlossaryTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void wordsAreFoundWherePeopleMeetThem() {
    const Glossary glossary;
    QVERIFY(glossary.words().size() > 40);
    for (const Glossary::Word& w : glossary.words()) QVERIFY2(w.sentence.endsWith(QLatin1Char('.')), qPrintable(w.word));
    const auto found = glossary.wordsIn(QStringLiteral("Default schedule of 3 &tasks, verified"));
    QStringList names;
    for (const auto& w : found) names << w.word;
    QCOMPARE(names, (QStringList{"Default schedule", "Schedule", "Task", "Verified"}));
    QVERIFY(glossary.wordsIn(QStringLiteral("multitasking is no word here")).empty());
  }

  void theyAreSaidUnderThePointerUnlessSomethingElseIs() {
    const Glossary glossary;
    QLabel label(QStringLiteral("Roofline"));
    label.resize(200, 40);
    label.show();
    QHelpEvent asked(QEvent::ToolTip, {10, 10}, label.mapToGlobal(QPoint(10, 10)));
    QApplication::sendEvent(&label, &asked);
    QTRY_VERIFY2(QToolTip::text().contains(QStringLiteral("arithmetic and memory")), qPrintable(QToolTip::text()));
    QToolTip::hideText();
    label.setToolTip(QStringLiteral("own"));
    QApplication::sendEvent(&label, &asked);
    QTRY_COMPARE(QToolTip::text(), QStringLiteral("own"));
  }
};

QTEST_MAIN(GlossaryTest)
#include "glossary_test.moc"
