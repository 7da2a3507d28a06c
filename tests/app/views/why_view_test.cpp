// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/why_view.h"

#include <QLabel>

#include "app/services/explain_service.h"
#include "tests/app/fake_bench.h"
#include "widgets/charts/footprint_chart.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

namespace {

/// Looks whenever something of a page is painted whether its parts lie over each other.
class Overlaps : public QObject {
 public:
  explicit Overlaps(QWidget* page) : m_page(page) {
    for (QWidget* part : page->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) part->installEventFilter(this);
  }
  int paints = 0;
  QStringList found;

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() != QEvent::Paint) return false;
    ++paints;
    QList<QPair<QString, QRect>> places;
    for (const QWidget* part : m_page->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
      if (!part->isVisible()) continue;
      if (part->objectName() != QLatin1String("why.rules")) {
        places.append({part->objectName(), part->geometry()});
        continue;
      }
      for (const auto* label : part->findChildren<QLabel*>())
        if (label->isVisible()) places.append({label->text(), QRect(label->mapTo(m_page, QPoint()), label->size())});
    }
    for (qsizetype i = 0; i < places.size(); ++i)
      for (qsizetype j = 0; j < i; ++j)
        if (places[i].second.intersects(places[j].second)) found << places[i].first + QStringLiteral(" over ") + places[j].first;
    return false;
  }

 private:
  QWidget* m_page;
};

}  // namespace

class WhyViewTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("why"), m_dir.path()); }

  /// Roofs, loops, counters and trials come one after the other, and each makes other sentences: nothing is ever painted over them.
  void nothingLiesOverTheSentencesWhileItFills() {
    auto b = openFake(m_dir.filePath(QStringLiteral("why.twdb")));
    showDock(*b->window, "dock.why");
    auto* view = b->window->findChild<WhyView*>();
    auto* chart = view->findChild<widgets::FootprintChart*>();
    Overlaps overlaps(chart->parentWidget());
    for (int point = 0; point < 6; ++point) {
      b->window->hub().setConfigIndex(point);
      QTRY_VERIFY(chart->isVisible() && !named<QWidget>(*view, "why.rules")->findChildren<QLabel*>().isEmpty());
      QTest::qWait(60);
      if (point == 3) b->window->resize(1300, 900);
    }
    QVERIFY(overlaps.paints > 0);
    QVERIFY2(overlaps.found.isEmpty(), qPrintable(overlaps.found.join(QLatin1Char('\n'))));
  }

  /// Loops and sentences are there without roofs, and it is said why there are none.
  void roofsThatCannotBeMeasuredAreSaidToBe() {
    auto b = openFake(m_dir.filePath(QStringLiteral("roofless.twdb")), false);
    b->engine.failRoofline = true;
    b->window->openZoo(QStringLiteral("fake"), false);
    showDock(*b->window, "dock.why");
    auto* machine = named<QLabel>(*b->window, "label.why.machine");
    QTRY_VERIFY2(machine->text().contains(QStringLiteral("no clock that can be read")), qPrintable(machine->text()));
    auto* view = b->window->findChild<WhyView*>();
    QTRY_VERIFY(view->findChild<widgets::FootprintChart*>()->isVisible());
    QVERIFY(!named<QWidget>(*view, "view.why.roofline")->isVisible());
  }
};

QTEST_MAIN(WhyViewTest)
#include "why_view_test.moc"
