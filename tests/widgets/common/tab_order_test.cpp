// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/tab_order.h"

#include <QLineEdit>
#include <QSpinBox>
#include <QtTest>

using namespace tw::widgets;

class TabOrderTest : public QObject {
  Q_OBJECT

  static QLineEdit* edit(QWidget& in, const char* name, QRect place) {
    auto* e = new QLineEdit(&in);
    e->setObjectName(QLatin1String(name));
    e->setGeometry(place);
    return e;
  }
  static QString names(const QList<QWidget*>& stops) {
    QStringList all;
    for (const QWidget* w : stops) all << w->objectName();
    return all.join(QLatin1Char(' '));
  }

 private Q_SLOTS:
  /// Made in another order than they are seen in: a row over two columns, of which the left one has two rows that the right one reaches across.
  void rowsAndColumnsAreRead() {
    QWidget w;
    w.resize(400, 300);
    edit(w, "right", {210, 30, 190, 200});
    edit(w, "below", {0, 140, 190, 40});
    edit(w, "search", {300, 0, 100, 20});
    edit(w, "left", {0, 30, 190, 100});
    edit(w, "title", {0, 2, 100, 24});
    edit(w, "last", {0, 240, 400, 20});
    w.show();
    QCOMPARE(names(tabStops(w).stops), QStringLiteral("title search left below right last"));
  }

  /// Panels stay together, whatever is beside them; what cannot be used is left out, and so is what belongs to another.
  void panelsStayTogether() {
    QWidget w;
    w.resize(400, 300);
    QWidget left(&w), right(&w);
    left.setGeometry(0, 0, 190, 300);
    right.setGeometry(200, 0, 200, 300);
    edit(right, "r2", {0, 40, 100, 20});
    edit(right, "r1", {0, 10, 100, 20});
    edit(left, "l2", {0, 35, 100, 20});
    edit(left, "l1", {0, 5, 100, 20});
    edit(left, "off", {0, 70, 100, 20})->setEnabled(false);
    edit(left, "away", {0, 100, 100, 20})->hide();
    auto* number = new QSpinBox(&right);
    number->setObjectName(QStringLiteral("number"));
    number->setGeometry(0, 100, 100, 24);
    QLineEdit other(&w);
    other.setWindowFlag(Qt::Window);
    other.show();
    w.show();
    const QList<QWidget*> stops = tabStops(w).stops;
    QCOMPARE(names(stops), QStringLiteral("l1 l2 r1 r2 number"));
    // What is inside a stop, such as the text of a number, stands for it.
    QCOMPARE(nextStop(stops, number->findChild<QLineEdit*>(), true)->objectName(), QStringLiteral("l1"));
    QCOMPARE(nextStop(stops, stops[0], false), number);
    QCOMPARE(nextStop(stops, stops[1], true), stops[2]);
    QVERIFY(!nextStop(stops, &other, true));
    QVERIFY(!nextStop({}, stops[0], true));
  }
};

QTEST_MAIN(TabOrderTest)
#include "tab_order_test.moc"
