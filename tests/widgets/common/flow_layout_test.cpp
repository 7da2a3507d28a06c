// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/flow_layout.h"

#include <QPushButton>
#include <QVBoxLayout>
#include <QtTest>
#include <set>

using namespace tw::widgets;

class FlowLayoutTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Whatever the width, every button has the size it likes, none lies over another, and the bar is as high as its rows.
  void goesOnInTheNextRow() {
    QWidget page;
    auto* box = new QVBoxLayout(&page);
    box->setContentsMargins(0, 0, 0, 0);
    auto* bar = new QWidget;
    auto* flow = new FlowLayout(bar);
    flow->setContentsMargins(6, 3, 6, 0);
    QList<QPushButton*> buttons;
    for (const char* text : {"Build", "Run what was built", "Save", "Export the code", "Try"}) {
      buttons << new QPushButton(QLatin1String(text));
      flow->addWidget(buttons.back());
    }
    buttons[2]->hide();
    box->addWidget(bar);
    box->addStretch();
    page.show();
    const QList<QPushButton*> shown{buttons[0], buttons[1], buttons[3], buttons[4]};
    const auto rows = [&](int width) {
      page.resize(width, 400);
      QApplication::processEvents();
      std::set<int> tops;
      QRegion taken;
      for (const auto* button : shown) {
        if (button->size() != button->sizeHint() || taken.intersects(button->geometry()) || !bar->rect().contains(button->geometry())) return -1;
        taken += button->geometry();
        tops.insert(button->y());
      }
      return static_cast<int>(tops.size());
    };
    const int all = flow->sizeHint().width();
    QCOMPARE(rows(all), 1);
    const int one = bar->height();
    QCOMPARE(rows(all - 1), 2);
    QVERIFY(bar->height() > one);
    QCOMPARE(rows(flow->minimumSize().width()), 4);
    // Those that come later stand further on, from whichever side reading begins.
    page.setLayoutDirection(Qt::RightToLeft);
    QCOMPARE(rows(all), 1);
    QVERIFY(shown[1]->x() < shown[0]->x());
    delete flow->takeAt(0);
    QCOMPARE(flow->count(), 4);
    QVERIFY(!flow->itemAt(4));
  }
};

QTEST_MAIN(FlowLayoutTest)
#include "flow_layout_test.moc"
