// SPDX-License-Identifier: GPL-3.0-or-later
// A menu never stays open when it cannot be used.
#include "widgets/common/menu_guard.h"

#include <QContextMenuEvent>
#include <QLineEdit>
#include <QMenu>
#include <QTest>
#include <QVBoxLayout>

using namespace tw::widgets;

class MenuGuardTest : public QObject {
  Q_OBJECT
  static QMenu* opened(QLineEdit& edit) {
    QContextMenuEvent event(QContextMenuEvent::Mouse, QPoint(4, 4), edit.mapToGlobal(QPoint(4, 4)));
    QApplication::sendEvent(&edit, &event);
    return qobject_cast<QMenu*>(QApplication::activePopupWidget());
  }

 private Q_SLOTS:
  void menusOfDisabledWidgetsClose() {
    MenuGuard guard(nullptr);
    QWidget form;
    auto* edit = new QLineEdit(&form);
    auto* box = new QVBoxLayout(&form);
    box->addWidget(edit);
    form.show();
    QVERIFY(opened(*edit));
    // What works stays.
    QTest::qWait(20);
    QVERIFY(QApplication::activePopupWidget());
    form.setEnabled(false);
    QTRY_VERIFY(!QApplication::activePopupWidget());
  }
};

QTEST_MAIN(MenuGuardTest)
#include "menu_guard_test.moc"
