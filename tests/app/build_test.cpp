// SPDX-License-Identifier: GPL-3.0-or-later
// The job finished in the window: built from the best records, run, saved, exported.
#include <QDockWidget>
#include <QLabel>
#include <QProcess>
#include <QTreeWidget>

#include "app/services/local_engine.h"
#include "app/views/tune_view.h"
#include "tests/app/app_fixture.h"
#include "tests/app/fake_bench.h"
#include "tests/app/formula_engine.h"
#include "widgets/charts/arena_chart.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class BuildTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

  static void tune(MainWindow& w, int trials) {
    tune::SessionOptions options = w.tuneView().options();
    options.tuner = "random", options.trials = trials;
    w.tuneView().setOptions(options);
    w.tuneView().setOnlySelectedTask(false);
    w.startTuning();
  }
  static QString column(const QTreeWidget& table, int c) {
    QStringList out;
    for (int i = 0; i < table.topLevelItemCount(); ++i) out << table.topLevelItem(i)->text(c);
    return out.join(QLatin1Char('\n'));
  }
  static int twRun(const QString& file) {
    QProcess tw;
    tw.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    tw.start(QStringLiteral(TW_BIN_DIR "/tw"), {QStringLiteral("run"), file, QStringLiteral("--random-input"), QStringLiteral("--check")});
    return tw.waitForFinished(120'000) ? tw.exitCode() : -1;
  }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("build-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  void whatIsBuiltSaysItsRecordsAndItsMemory() {
    FormulaEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("records.twdb")));
    w->openZoo(QStringLiteral("resnet18"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model() && w->hub().model()->id, 30'000);
    QVERIFY(!w->actions().get(QStringLiteral("build.save"))->isEnabled());
    QVERIFY(w->actions().get(QStringLiteral("build.save"))->toolTip().contains(QStringLiteral("build the network first")));
    tune(*w, 64);
    QTRY_VERIFY_WITH_TIMEOUT(!w->tuning().isActive(), 120'000);
    QTRY_VERIFY(w->actions().get(QStringLiteral("build.network"))->isEnabled());
    press(*w, Qt::Key_B, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(w->build().built() != nullptr, 120'000);
    QVERIFY(named<QDockWidget>(*w, "dock.build")->isVisible());
    const auto* table = named<QTreeWidget>(*w, "table.build.kernels");
    QVERIFY(table->topLevelItemCount() >= 10);
    QVERIFY2(column(*table, 3).contains(QStringLiteral("session 1 (random), trial ")), qPrintable(column(*table, 3)));
    QVERIFY(named<QLabel>(*w, "label.build.summary")->text().contains(QStringLiteral("kernel calls")));
    // Every intermediate lies inside the arena while it is needed, and no two that are needed at once share a place.
    const auto& e = w->build().built()->executable;
    const auto& buffers = named<widgets::ArenaChart>(*w, "view.build.arena")->buffers();
    QVERIFY(buffers.size() > 10);
    for (const auto& b : buffers) {
      QVERIFY(b.offset >= 0 && b.offset + b.bytes <= e.arena_bytes && b.first <= b.last);
      for (const auto& o : buffers) {
        const bool apart = &b == &o || o.last < b.first || b.last < o.first || o.offset + o.bytes <= b.offset || b.offset + b.bytes <= o.offset;
        // A result may take the place of an operand in the call that reads it last.
        QVERIFY2(apart || o.last == b.first || b.last == o.first, qPrintable(b.name + QStringLiteral(" and ") + o.name));
      }
    }
    // A row leads to its task, a buffer to its node.
    QTreeWidgetItem* row = table->topLevelItem(1);
    const_cast<QTreeWidget*>(table)->setCurrentItem(row);
    QCOMPARE(w->hub().task(), row->data(0, Qt::UserRole).toInt());
    QTest::keyClick(named<widgets::ArenaChart>(*w, "view.build.arena"), Qt::Key_Right);
    QVERIFY(w->hub().node() >= 0);
    // The other way: a node of the graph leads to what its call makes, and to its kernel's row.
    auto* arena = named<widgets::ArenaChart>(*w, "view.build.arena");
    const auto& nodes = w->hub().model()->network.optimized.nodes;
    int shown = 0;
    for (size_t n = 0; n < nodes.size(); ++n) {
      w->hub().setNode(static_cast<int>(n));
      if (arena->current() < 0) continue;  // it makes an output, or nothing of its own
      const auto& names = e.calls[static_cast<size_t>(arena->buffers()[static_cast<size_t>(arena->current())].first)].nodes;
      QVERIFY2(std::find(names.begin(), names.end(), nodes[n].name) != names.end(), nodes[n].name.c_str());
      QCOMPARE(w->hub().node(), static_cast<int>(n));
      if (w->hub().task() >= 0) QCOMPARE(table->currentItem()->data(0, Qt::UserRole).toInt(), w->hub().task());
      ++shown;
    }
    QVERIFY(shown > 10);
    // Saved and run with a check against the reference; exported for C.
    const QString file = m_dir.filePath(QStringLiteral("net.twx"));
    QSignalSpy written(&w->build(), &BuildService::written);
    w->build().save(file);
    QTRY_COMPARE_WITH_TIMEOUT(written.count(), 1, 30'000);
    QCOMPARE(twRun(file), 0);
    QVERIFY(QDir(m_dir.path()).mkpath(QStringLiteral("c")));
    w->build().exportCode(m_dir.filePath(QStringLiteral("c")));
    QTRY_COMPARE_WITH_TIMEOUT(written.count(), 2, 30'000);
    for (const char* name : {"resnet18_tiny.h", "resnet18_tiny.o", "resnet18_tiny_data.o", "tilewright_runtime.c"})
      QVERIFY2(QFileInfo(m_dir.filePath(QStringLiteral("c/") + QLatin1String(name))).size() > 0, name);
    // What somebody else put into a folder stays.
    const QString foreign = m_dir.filePath(QStringLiteral("theirs/tilewright_runtime.c"));
    QVERIFY(QDir(m_dir.path()).mkpath(QStringLiteral("theirs")));
    QFile theirs(foreign);
    QVERIFY(theirs.open(QIODevice::WriteOnly) && theirs.write("theirs") == 6);
    theirs.close();
    QSignalSpy failed(&w->build(), &BuildService::failed);
    w->build().exportCode(m_dir.filePath(QStringLiteral("theirs")));
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 30'000);
    QCOMPARE(QFileInfo(foreign).size(), qint64{6});
    // Another network is not this one.
    w->openZoo(QStringLiteral("mlp"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model()->name == QStringLiteral("mlp-tiny") && w->hub().model()->isWhole, 30'000);
    QVERIFY(!w->build().built());
  }

  /// J6: a network tuned, built, run and saved in the window, on this machine.
  void aNetworkFromTheStartPageToItsFile() {
    LocalEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("job.twdb")));
    QVERIFY(click(*w, "check.start.tiny"));
    QVERIFY(click(*w, "card.mlp"));
    QTRY_VERIFY_WITH_TIMEOUT(w->actions().get(QStringLiteral("tune.start"))->isEnabled(), 30'000);
    tune(*w, 24);
    QTRY_VERIFY_WITH_TIMEOUT(!w->tuning().isActive(), 120'000);
    // The whole network runs by itself after a session over all tasks.
    QTRY_VERIFY_WITH_TIMEOUT(named<QLabel>(*w, "label.build.run")->text().startsWith(QStringLiteral("As it ran: ")), 120'000);
    w->actions().get(QStringLiteral("build.network"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(w->build().built() != nullptr, 60'000);
    const QString file = m_dir.filePath(QStringLiteral("job.twx"));
    QSignalSpy written(&w->build(), &BuildService::written);
    w->build().save(file);
    QTRY_COMPARE_WITH_TIMEOUT(written.count(), 1, 30'000);
    QCOMPARE(twRun(file), 0);
    const auto* table = named<QTreeWidget>(*w, "table.build.kernels");
    QVERIFY(table->topLevelItemCount() > 0);
    QVERIFY(!column(*table, 5).remove(QChar(0x2014)).trimmed().isEmpty());  // times inside the network
  }

  void whatCannotBeBuiltIsSaid() {
    auto b = openFake(m_dir.filePath(QStringLiteral("fake.twdb")));
    QSignalSpy failed(&b->window->build(), &BuildService::failed);
    b->window->build().build(b->window->hub().model());
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(failed[0][0].toString().contains(QStringLiteral("Nothing is built here")));
    QVERIFY(!b->window->build().isActive());
  }
};

QTEST_MAIN(BuildTest)
#include "build_test.moc"
