// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/passes_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QTabWidget>
#include <QTreeWidget>

#include "app/services/pass_cost_service.h"
#include "app/views/pass_picture.h"
#include "tests/app/fake_bench.h"
#include "widgets/graph/graph_view.h"
#include "widgets/ir/code_pane.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class PassesViewTest : public QObject {
  Q_OBJECT
 private:
  QTemporaryDir m_dir;

  template <class W>
  static W* part(const PassesView& view, const char* name) {
    return view.findChild<W*>(QLatin1String(name));
  }
  /// The window with the view in front, floating at a width of its own.
  PassesView* open(FakeBench& b, int width) {
    auto* dock = named<QDockWidget>(*b.window, "dock.passes");
    dock->setFloating(true);
    dock->show();
    dock->resize(width, 700);
    auto* view = dock->findChild<PassesView*>();
    auto* strip = view->findChild<widgets::PassStrip*>();
    for (int i = 0; i < 250 && strip->passes().empty(); ++i) QTest::qWait(20);
    return view;
  }

 private Q_SLOTS:
  void initTestCase() {
    QLocale::setDefault(QLocale::c());
    ownHome(QStringLiteral("passes"), m_dir.path());
  }

  /// Nodes that the pass made, removed or changed are lit; picture and text lead to each other.
  void graphPassesHaveAPictureThatIsLinkedToTheText() {
    auto b = openFake(m_dir.filePath(QStringLiteral("picture.twdb")));
    PassesView* view = open(*b, 1300);
    part<QComboBox>(*view, "combo.passes.what")->setCurrentIndex(1);
    auto* strip = view->findChild<widgets::PassStrip*>();
    QTRY_COMPARE(strip->passes().size(), size_t{2});
    QCOMPARE(strip->last(), 1);
    auto* picture = view->findChild<PassPicture*>();
    auto* tabs = part<QTabWidget>(*view, "tabs.passes");
    QTRY_VERIFY(picture->scene() && picture->scene()->made == 1);  // and no longer that of the kernel
    QCOMPARE(picture->scene()->removed, 1);
    QVERIFY(picture->isVisible() && tabs->indexOf(picture) < 0);  // beside the text
    auto* before = part<widgets::GraphView>(*view, "view.passes.before");
    auto* after = part<widgets::GraphView>(*view, "view.passes.after");
    QVERIFY(before->isVisible() && after->isVisible());
    auto* text = part<widgets::CodePane>(*view, "view.passes.text");
    QTRY_VERIFY(text->changeCount() > 0);
    // A made node leads to its line; the line back to the node.
    const auto nodeNamed = [](const widgets::GraphView& v, const char* name) {
      for (size_t i = 0; i < v.scene()->nodes.size(); ++i)
        if (v.scene()->nodes[i].name == QLatin1String(name)) return static_cast<int>(i);
      return -1;
    };
    QSignalSpy chosen(picture, &PassPicture::lineChosen);
    Q_EMIT after->nodeActivated(nodeNamed(*after, "made"));
    QCOMPARE(chosen.count(), 1);
    QVERIFY(chosen[0][0].toBool() && chosen[0][2].toBool());
    const int line = chosen[0][1].toInt();
    QCOMPARE(after->selectedNode(), nodeNamed(*after, "made"));
    QCOMPARE(before->selectedNode(), -1);  // it is not there
    Q_EMIT text->lineActivated(line + 1);
    QCOMPARE(after->selectedNode(), nodeNamed(*after, "last"));
    QCOMPARE(before->selectedNode(), nodeNamed(*before, "last"));
    Q_EMIT text->lineActivated(line);
    QCOMPARE(after->selectedNode(), nodeNamed(*after, "made"));
    // And a removed one.
    Q_EMIT before->nodeActivated(nodeNamed(*before, "body.relu_2"));
    QVERIFY(!chosen.back()[0].toBool() && chosen.back()[2].toBool());
    const int removed = chosen.back()[1].toInt();
    Q_EMIT text->removedLineActivated(removed);
    QCOMPARE(before->selectedNode(), nodeNamed(*before, "body.relu_2"));
    // Steps through the changes are followed.
    view->stepChange(false);
    view->stepChange(true);
    QVERIFY(after->selectedNode() >= 0 || before->selectedNode() >= 0);
    // What the passes begin with is one picture.
    view->step(-1);
    QTRY_VERIFY(picture->scene() && picture->scene()->made == 0 && picture->scene()->removed == 0);
    QVERIFY(!before->isVisible());
  }

  /// Where there is no room beside the text, the picture is a tab; a lit box opens the text there.
  void kernelPassesHaveOneTooAndInANarrowViewItIsATab() {
    auto b = openFake(m_dir.filePath(QStringLiteral("narrow.twdb")));
    PassesView* view = open(*b, 640);
    auto* strip = view->findChild<widgets::PassStrip*>();
    QTRY_COMPARE(strip->passes().size(), size_t{5});
    auto* tabs = part<QTabWidget>(*view, "tabs.passes");
    auto* picture = view->findChild<PassPicture*>();
    QCOMPARE(tabs->count(), 3);
    QCOMPARE(tabs->indexOf(picture), 1);
    QVERIFY(!picture->scene());  // nobody looks
    strip->select(4, 4);
    Q_EMIT strip->selected(4, 4);
    tabs->setCurrentIndex(1);
    QTRY_VERIFY(picture->scene());
    QCOMPARE(picture->scene()->changed, 1);  // the loop over i
    auto* after = part<widgets::GraphView>(*view, "view.passes.after");
    Q_EMIT after->nodeActivated(picture->scene()->after.lit().front());
    QCOMPARE(tabs->currentIndex(), 0);
    // Wide again, it stands beside the text.
    view->window()->resize(1300, 700);
    QTRY_VERIFY(tabs->indexOf(picture) < 0 && picture->isVisible());
    QCOMPARE(tabs->count(), 2);
    // Where it would be narrow and low, before over after would be slits.
    view->window()->resize(1010, 320);
    QTRY_VERIFY(tabs->indexOf(picture) == 1);
  }

  void whatAPassIsWorthIsMeasuredInTheBackground() {
    auto b = openFake(m_dir.filePath(QStringLiteral("cost.twdb")));
    PassesView* view = open(*b, 1300);
    auto* strip = view->findChild<widgets::PassStrip*>();
    QTRY_COMPARE(strip->passes().size(), size_t{5});
    auto* without = part<QToolButton>(*view, "button.passes.without");
    auto* cost = part<QLabel>(*view, "label.passes.cost");
    const auto choose = [&](int pass) {
      strip->select(pass, pass);
      Q_EMIT strip->selected(pass, pass);
    };
    // What must run says why, and what the passes begin with is none.
    choose(1);
    QVERIFY(!without->isEnabled() && cost->text().contains(QStringLiteral("later passes know no other form")));
    choose(0);
    QVERIFY(!without->isEnabled());
    choose(2);
    QVERIFY(without->isEnabled() && cost->text().isEmpty());
    // It can be stopped, in the view and in the list of jobs.
    PassCostService& service = b->window->passCosts();
    b->engine.holdCosts = true;
    QTest::mouseClick(without, Qt::LeftButton);
    QVERIFY(service.isActive());
    QTRY_VERIFY2(cost->text().contains(QStringLiteral("process 1")), qPrintable(cost->text()));
    QCOMPARE(without->text(), QStringLiteral("Stop"));
    QTest::mouseClick(without, Qt::LeftButton);
    QVERIFY(!service.isActive() && service.costs().empty());
    b->engine.holdCosts = false;
    QTest::mouseClick(without, Qt::LeftButton);
    QTRY_VERIFY(!service.isActive());
    QTRY_VERIFY2(cost->text().contains(QStringLiteral("1.100 (1.080 to 1.120)")) && cost->text().contains(QStringLiteral("surely slower")),
                 qPrintable(cost->text()));
    QTRY_COMPARE(strip->passes()[2].cost.ratio, QString(QChar(0x25B2)) + QStringLiteral("1.10") + QChar(0x00D7));
    QCOMPARE(strip->passes()[2].cost.interval, QStringLiteral("1.08") + QChar(0x2013) + QStringLiteral("1.12"));
    // All of them, as a table.
    part<QTabWidget>(*view, "tabs.passes")->setCurrentIndex(1);
    QTest::mouseClick(part<QToolButton>(*view, "button.passes.measureAll"), Qt::LeftButton);
    QTRY_VERIFY(!service.isActive() && service.costs().size() == 3);
    auto* table = part<QTreeWidget>(*view, "table.passes.costs");
    QCOMPARE(table->topLevelItemCount(), 4);
    QCOMPARE(table->topLevelItem(0)->text(0), QStringLiteral("pass_3"));  // the dearest
    QVERIFY(table->topLevelItem(3)->text(2).contains(QStringLiteral("cannot be left out")));
    QVERIFY(widgets::tableOf(table).rows.size() == 4);
    table->setCurrentItem(table->topLevelItem(0));
    QCOMPARE(strip->last(), 3);
    // In the kernels of one task nothing is known yet.
    choose(2);
    part<QCheckBox>(*view, "check.passes.alone")->setChecked(true);
    QVERIFY(cost->text().isEmpty() && strip->passes()[2].cost.ratio.isEmpty());
    QTest::mouseClick(without, Qt::LeftButton);
    QTRY_VERIFY(!service.isActive());
    QCOMPARE(service.costs().back().task, b->window->hub().taskValue()->key);
    QTRY_VERIFY(!strip->passes()[2].cost.ratio.isEmpty());
    // Another network is being opened, whose tasks are not known yet: the one whose passes are still here is none of its.
    auto begun = std::make_shared<OpenModel>(*b->window->hub().model());
    begun->tasks.clear(), begun->taskIds.clear(), begun->titles.clear();
    b->window->hub().setModel(begun);
    QVERIFY(service.costs().empty());
    QCOMPARE(part<QLabel>(*view, "label.passes.costs")->text(), QStringLiteral("In all kernels"));
  }

  void whatGoesWrongIsSaid() {
    auto b = openFake(m_dir.filePath(QStringLiteral("wrong.twdb")));
    PassesView* view = open(*b, 1300);
    PassCostService& service = b->window->passCosts();
    b->engine.failCosts = Error(ErrorCode::infrastructure, "The worker program is missing");
    auto* strip = view->findChild<widgets::PassStrip*>();
    strip->select(2, 2);
    Q_EMIT strip->selected(2, 2);
    auto* without = part<QToolButton>(*view, "button.passes.without");
    QTest::mouseClick(without, Qt::LeftButton);
    QTRY_VERIFY(!service.isActive());
    QTRY_VERIFY(part<QLabel>(*view, "label.passes.cost")->text().contains(QStringLiteral("worker program is missing")));
    b->engine.failCosts.reset();
    // A session stops it: both would disturb each other.
    b->engine.holdCosts = true;
    QTest::mouseClick(without, Qt::LeftButton);
    QVERIFY(service.isActive());
    setTrials(*b->window, 20);
    b->window->startTuning();
    QVERIFY(!service.isActive());
    QVERIFY(!service.cannotMeasure().isEmpty());
    b->engine.holdCosts = false;
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
  }
};

QTEST_MAIN(PassesViewTest)
#include "passes_view_test.moc"
