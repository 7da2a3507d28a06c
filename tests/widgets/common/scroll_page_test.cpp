// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/scroll_page.h"

#include <QComboBox>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QSpinBox>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <QtTest>

#include "widgets/charts/roofline_chart.h"

using namespace tw::widgets;

class ScrollPageTest : public QObject {
  Q_OBJECT

  static void wheelOver(QWidget* w) {
    const QPointF at = QRectF(w->rect()).center();
    QWheelEvent event(at, w->mapToGlobal(at), {}, {0, -120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QSpontaneKeyEvent::setSpontaneous(&event);  // as from the mouse
    qApp->notify(w, &event);
  }

 private Q_SLOTS:
  /// The wheel scrolls the page wherever the pointer is; an input takes it once it was clicked.
  void theWheelScrolls() {
    QWidget window;
    auto* box = new QVBoxLayout(&window);
    QWidget* page = addScrollPage(box);
    auto* inner = new QVBoxLayout(page);
    auto* combo = new QComboBox(page);
    combo->addItems({QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("3")});
    auto* spin = new QSpinBox(page);
    spin->setValue(7);
    auto* slider = new QSlider(Qt::Horizontal, page);
    slider->setValue(50);
    auto* chart = new RooflineChart(page);
    for (QWidget* w : {static_cast<QWidget*>(combo), static_cast<QWidget*>(spin), static_cast<QWidget*>(slider), static_cast<QWidget*>(chart)}) inner->addWidget(w);
    auto* rest = new QWidget(page);
    rest->setMinimumHeight(3000);
    inner->addWidget(rest);
    window.resize(400, 300);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    window.activateWindow();
    auto* bar = window.findChild<QScrollArea*>()->verticalScrollBar();
    for (QWidget* w : {static_cast<QWidget*>(combo), static_cast<QWidget*>(spin), static_cast<QWidget*>(slider), chart->findChild<QWidget*>()}) {
      window.setFocus();
      bar->setValue(0);
      wheelOver(w);
      QVERIFY2(bar->value() > 0, qPrintable(QStringLiteral("%1, of %2").arg(QLatin1String(w->metaObject()->className())).arg(bar->maximum())));
      QVERIFY(!w->hasFocus());
    }
    QCOMPARE(combo->currentIndex(), 0);
    QCOMPARE(spin->value(), 7);
    QCOMPARE(slider->value(), 50);
    combo->setFocus();
    QTRY_VERIFY(combo->hasFocus());
    bar->setValue(0);
    wheelOver(combo);
    QCOMPARE(combo->currentIndex(), 1);
    QCOMPARE(bar->value(), 0);
  }
};

QTEST_MAIN(ScrollPageTest)
#include "scroll_page_test.moc"
