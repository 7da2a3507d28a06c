// SPDX-License-Identifier: GPL-3.0-or-later
// The job finished in the window: built from the best records, run, saved, exported.
#include <sys/resource.h>

#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QProcess>
#include <QSpinBox>
#include <QTreeWidget>

#include "app/services/local_engine.h"
#include "app/views/sizes_dialog.h"
#include "app/views/tune_view.h"
#include "engine/measure/device.h"
#include "tests/app/app_fixture.h"
#include "tests/app/fake_bench.h"
#include "tests/app/formula_engine.h"
#include "widgets/charts/arena_chart.h"
#include "widgets/common/format.h"
#include "widgets/graph/graph_view.h"

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
  /// Of this process and of those that it waited for.
  static double processorSeconds() {
    double sum = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage used{};
      ::getrusage(who, &used);
      for (const timeval& t : {used.ru_utime, used.ru_stime}) sum += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    }
    return sum;
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
    for (int i = 0; i < 10; ++i) QCOMPARE(table->topLevelItem(i)->data(0, Qt::UserRole).toInt(), i);  // in the order of their tasks, 2 before 10
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

  /// J6: a network tuned, built, run and saved in the window, on this machine, within 90 seconds of it.
  void aNetworkFromTheStartPageToItsFile() {
    const double begun = processorSeconds();
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
    const auto* table = named<QTreeWidget>(*w, "table.build.kernels");
    QVERIFY(table->topLevelItemCount() > 0);
    // Run: as often as asked for, its results those of the reference, a time for each kernel in its place and on the graph.
    QVERIFY(!w->build().ran());
    named<QSpinBox>(*w, "spin.build.runs")->setValue(20);
    press(*w, Qt::Key_R, Qt::ControlModifier | Qt::AltModifier);
    QVERIFY(w->build().isRunning());
    QTRY_VERIFY_WITH_TIMEOUT(w->build().ran().has_value(), 60'000);
    const NetworkRun& ran = *w->build().ran();
    QVERIFY(ran.passed && ran.error <= ran.allowed && !ran.simulated);
    QCOMPARE(ran.runs, 20);
    QVERIFY(ran.least_s > 0 && ran.least_s <= ran.median_s && ran.median_s <= ran.most_s);
    QCOMPARE(ran.calls_s.size(), w->build().built()->executable.calls.size());
    const QString said = named<QLabel>(*w, "label.build.ran")->text();
    QVERIFY2(said.contains(widgets::secondsText(ran.median_s)) && said.contains(QStringLiteral("those of the reference")), qPrintable(said));
    QVERIFY2(!column(*table, 5).contains(QChar(0x2014)), qPrintable(column(*table, 5)));
    named<QComboBox>(*w, "combo.graph.overlay")->setCurrentIndex(4);
    const widgets::Table shares = w->graphPage().view()->table();
    const auto saidOf = [&](const QStringList& row) { return row.value(static_cast<int>(shares.columns.indexOf(QStringLiteral("shown as")))); };
    QVERIFY(std::any_of(shares.rows.begin(), shares.rows.end(), [&](const QStringList& row) { return saidOf(row).endsWith(QStringLiteral(" %")); }));
    const QString file = m_dir.filePath(QStringLiteral("job.twx"));
    QSignalSpy written(&w->build(), &BuildService::written);
    w->build().save(file);
    QTRY_COMPARE_WITH_TIMEOUT(written.count(), 1, 30'000);
    QCOMPARE(twRun(file), 0);
    w->close();
    qInfo("%.1f s of processor time", processorSeconds() - begun);
#ifndef __SANITIZE_ADDRESS__
    QVERIFY(processorSeconds() - begun < 90);
#endif
  }

  /// A GPU that is a formula: built for it, run by the interpreter, said to be simulated.
  void aSimulatedDeviceRunsIt() {
    LocalEngine engine(parse_target("cuda:a100").value());
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("gpu.twdb")));
    w->openZoo(QStringLiteral("mlp"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->actions().get(QStringLiteral("build.network"))->isEnabled(), 30'000);
    w->actions().get(QStringLiteral("build.network"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(w->build().built() != nullptr, 60'000);
    w->actions().get(QStringLiteral("build.run"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(w->build().ran().has_value(), 120'000);
    QVERIFY(w->build().ran()->passed);
    if (measure::is_simulated(measure::device_for(w->hub().model()->target))) {
      QVERIFY(w->build().ran()->simulated);
      QVERIFY(named<QLabel>(*w, "label.build.ran")->text().contains(QStringLiteral("simulated")));
    }
    // By turns there is nothing to be learned there, which is said.
    if (w->build().ran()->simulated) {
      QSignalSpy refused(&w->finals(), &FinalsService::failed);
      w->actions().get(QStringLiteral("tune.finals"))->trigger();
      QTRY_COMPARE_WITH_TIMEOUT(refused.count(), 1, 30'000);
      QVERIFY2(refused[0][0].toString().startsWith(QStringLiteral("There is nothing to try")), qPrintable(refused[0][0].toString()));
    }
    // Another network is not the one that ran, and ends a run.
    w->actions().get(QStringLiteral("build.run"))->trigger();
    QVERIFY(w->build().isRunning());
    w->openZoo(QStringLiteral("lenet5"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model()->name == QStringLiteral("lenet5-tiny"), 30'000);
    QVERIFY(!w->build().isRunning() && !w->build().ran());
  }

  /// A bundled network with another batch is another network; what leaves nothing open says so.
  void anotherBatchIsChosen() {
    FormulaEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("batch.twdb")));
    w->openZoo(QStringLiteral("mlp"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model() && w->hub().model()->isWhole, 30'000);
    const auto batch = [&] {
      const graph::Graph& g = w->hub().model()->network.optimized;
      return g.values[static_cast<size_t>(g.inputs[0])].type.shape[0];
    };
    QCOMPARE(batch(), int64_t{1});
    for (const int64_t wanted : {4, 1}) {
      w->actions().get(QStringLiteral("file.sizes"))->trigger();
      auto* dialog = w->findChild<SizesDialog*>();
      QVERIFY(dialog && dialog->isVisible());
      auto* box = dialog->findChild<QSpinBox*>();
      QCOMPARE(box->value(), wanted == 4 ? 1 : 4);
      box->setValue(static_cast<int>(wanted));
      QVERIFY(click(*dialog, "button.sizes.open"));
      QTRY_VERIFY_WITH_TIMEOUT(w->hub().model()->isWhole && batch() == wanted, 30'000);
      QCOMPARE(w->hub().model()->name, wanted == 4 ? QStringLiteral("mlp-tiny-batch4") : QStringLiteral("mlp-tiny"));
      QTRY_VERIFY(!w->findChild<SizesDialog*>());
    }
    const QString copy = m_dir.filePath(QStringLiteral("fixed.onnx"));
    QVERIFY(QFile::copy(w->hub().model()->path, copy));
    QSignalSpy failed(&w->models(), &ModelService::failed);
    w->models().askSizes(copy);
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 30'000);
    QVERIFY2(failed[0][0].toString().contains(QStringLiteral("leaves no sizes open")), qPrintable(failed[0][0].toString()));
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
