// SPDX-License-Identifier: Apache-2.0
#include "app/logs/lesson_page.h"

#include <QtTest>

using namespace tw;

class LessonPageTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void steps_stand_with_their_state_and_answers() {
    using lesson::StepState;
    const lesson::Handed one{"Someone", {{"tiling", "Caches & tiling", {{"look", StepState::done, 1, 2, "<42>", 1.7e9}, {"try", StepState::skipped, 0, 0, "", 0}}}}};
    const lesson::Handed none{"Another", {}};
    const QString page = QString::fromStdString(logs::lesson_page(std::span(&one, 1)));
    for (const char* part : {"Lessons of Someone", "Caches &amp; tiling", "&lt;42&gt;", "<td>look</td><td>done</td><td>1</td><td>2</td>", "1 done, 1 skipped"}) QVERIFY2(page.contains(QLatin1String(part)), part);
    QVERIFY(!page.contains(QStringLiteral("<42>")) && !page.contains(QStringLiteral("src=")) && !page.contains(QStringLiteral("href=")));
    const std::vector<lesson::Handed> both{one, none};
    const QString all = QString::fromStdString(logs::lesson_page(both));
    QVERIFY(all.contains(QStringLiteral("<h2>Another</h2>\n<p>No lesson was begun.</p>")));
  }
};

QTEST_APPLESS_MAIN(LessonPageTest)
#include "lesson_page_test.moc"
