// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/focus_ring.h"

#include <QLineEdit>
#include <QTableView>
#include <QVBoxLayout>
#include <QtTest>
#include <algorithm>

#include "widgets/theme/theme.h"

using namespace tw::widgets;

class FocusRingTest : public QObject {
  Q_OBJECT

  static bool isFramed(QWidget& w) {
    const auto rings = w.findChildren<QWidget*>(kFocusRing, Qt::FindDirectChildrenOnly);  // those that are dropped go later
    const bool covered = std::any_of(rings.begin(), rings.end(), [&](const QWidget* ring) { return ring->isVisible() && ring->geometry() == w.rect(); });
    return covered && w.grab().toImage().pixelColor(0, w.height() / 2) == themeOf(&w).accent;
  }

 private Q_SLOTS:
  void cleanup() { applyTheme(ThemeChoice::light); }

  void keysFrameAndClicksDoNot() {
    FocusRing ring(nullptr);
    QWidget window;
    auto* box = new QVBoxLayout(&window);
    auto *table = new QTableView(&window), *other = new QTableView(&window);
    auto* edit = new QLineEdit(&window);
    for (QWidget* w : std::initializer_list<QWidget*>{table, other, edit}) box->addWidget(w);
    window.show();
    QApplication::setActiveWindow(&window);
    table->setFocus(Qt::OtherFocusReason);
    QVERIFY(!isFramed(*table));
    QTest::keyClick(table, Qt::Key_Shift);  // from now on keys are used
    for (const auto theme : {ThemeChoice::light, ThemeChoice::dark}) {
      applyTheme(theme);
      edit->setFocus(Qt::TabFocusReason);
      QVERIFY(isFramed(*edit));
      table->setFocus(Qt::BacktabFocusReason);
      QVERIFY(isFramed(*table));
      QVERIFY(!isFramed(*edit));
    }
    window.resize(window.size() * 2);
    QCoreApplication::processEvents();
    QVERIFY(isFramed(*table));
    // The frame takes no clicks, and one takes it away.
    QCOMPARE(table->childAt(1, 1) && table->childAt(1, 1)->objectName() == kFocusRing, false);
    QTest::mouseClick(edit, Qt::LeftButton);
    edit->setFocus(Qt::MouseFocusReason);
    QVERIFY(!isFramed(*table));
    QVERIFY(!isFramed(*edit));
  }

  void aWidgetThatGoesTakesItAlong() {
    FocusRing ring(nullptr);
    QWidget window;
    auto* first = new QLineEdit(&window);
    auto* second = new QLineEdit(&window);
    second->move(0, 60);
    window.show();
    QApplication::setActiveWindow(&window);
    second->setFocus(Qt::OtherFocusReason);
    QTest::keyClick(second, Qt::Key_Shift);
    first->setFocus(Qt::TabFocusReason);
    QVERIFY(isFramed(*first));
    delete first;
    second->setFocus(Qt::TabFocusReason);
    QVERIFY(isFramed(*second));
    // Where the window had lost the focus, it is framed again when it comes back.
    QFocusEvent out(QEvent::FocusOut, Qt::ActiveWindowFocusReason), in(QEvent::FocusIn, Qt::ActiveWindowFocusReason);
    QApplication::sendEvent(second, &out);
    QVERIFY(!isFramed(*second));
    QApplication::sendEvent(second, &in);
    QVERIFY(isFramed(*second));
  }
};

QTEST_MAIN(FocusRingTest)
#include "focus_ring_test.moc"
