// SPDX-License-Identifier: GPL-3.0-or-later
// Files of other programs on the window: a program exported by PyTorch, its sizes, and where its operators come from.
#include <QComboBox>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStatusBar>
#include <QTreeWidget>

#include "app/perspectives.h"
#include "app/views/sizes_dialog.h"
#include "tests/app/app_fixture.h"
#include "tests/app/fake_engine.h"
#include "tests/app/formula_engine.h"
#include "widgets/common/banner.h"
#include "widgets/graph/graph_view.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class OpeningTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

  static QString program(const char* name) { return QStringLiteral(TW_TESTS_DIR "/engine/frontends/torch/programs/") + QLatin1String(name) + QStringLiteral("/model.pt2"); }
  /// The dialog that asks for sizes, when it is there.
  static SizesDialog* askedFor(const MainWindow& w) {
    SizesDialog* dialog = nullptr;
    [&] { QTRY_VERIFY2_WITH_TIMEOUT((dialog = w.findChild<SizesDialog*>()) && dialog->isVisible(), qPrintable(named<widgets::Banner>(w, "banner")->text()), 20'000); }();
    return dialog;
  }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("opening-test"), m_dir.path()); }

  /// Dropped, asked for its batch, opened; an operator shows its module and its line, and the search finds it by both.
  void aProgramIsDropped() {
    FormulaEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("program.twdb")));
    QVERIFY(drop(*w, program("convolutions")));
    SizesDialog* dialog = askedFor(*w);
    QVERIFY(dialog);
    const auto boxes = dialog->findChildren<QSpinBox*>();
    QCOMPARE(boxes.size(), qsizetype{1});
    QCOMPARE(boxes[0]->value(), 2);  // as the example that it was exported with
    QCOMPARE(boxes[0]->maximum(), 16);
    boxes[0]->setValue(3);
    QVERIFY(click(*dialog, "button.sizes.open"));
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model() && w->hub().model()->isWhole, 30'000);
    const graph::Graph& g = w->hub().model()->network.optimized;
    QCOMPARE(g.values[static_cast<size_t>(g.inputs[0])].type.shape[0], int64_t{3});
    int conv = -1;
    for (size_t i = 0; i < g.nodes.size(); ++i)
      if (g.nodes[i].origin.module == "layer1.0.conv") conv = static_cast<int>(i);
    QVERIFY(conv >= 0);
    w->hub().setNode(conv);
    auto* properties = named<QTreeWidget>(*w, "table.inspector");
    // The node was chosen, and took its task along: what is shown is the node.
    QCOMPARE(w->hub().task(), w->hub().model()->taskOfNode(conv));
    QCOMPARE(named<QComboBox>(*w, "combo.inspector.about")->currentText(), QStringLiteral("Node ") + QString::fromStdString(g.nodes[static_cast<size_t>(conv)].name));
    QTRY_VERIFY(!properties->findItems(QStringLiteral("layer1.0.conv"), Qt::MatchExactly | Qt::MatchRecursive, 1).isEmpty());
    QVERIFY(!properties->findItems(QStringLiteral("torch_fixtures.py:"), Qt::MatchStartsWith | Qt::MatchRecursive, 1).isEmpty());
    auto* view = w->graphPage().findChild<widgets::GraphView*>();
    QTRY_VERIFY_WITH_TIMEOUT(view->scene(), 20'000);
    QVERIFY(!view->scene()->find(QStringLiteral("layer1.0.conv")).empty());
    QVERIFY(!view->scene()->find(QStringLiteral("torch_fixtures.py")).empty());
    // What became of the file's operators, and of the graph's.
    auto* changes = named<QTreeWidget>(*w, "table.graph.changes");
    QVERIFY(!changes->isVisible());
    QVERIFY(click(w->graphPage(), "button.graph.changes"));
    QVERIFY(changes->isVisible());
    const auto what = [&](const char* name) {
      const auto items = changes->findItems(QLatin1String(name), Qt::MatchExactly | Qt::MatchRecursive);
      return items.isEmpty() ? QString() : items.first()->text(1);
    };
    QVERIFY2(what("aten.upsample_bilinear2d").contains(QStringLiteral("1 of 1 expanded")), qPrintable(what("aten.upsample_bilinear2d")));
    QVERIFY2(what("simplify_inference").contains(QStringLiteral(" became ")), qPrintable(what("simplify_inference")));
  }

  /// An input that is one integer stays one unless it is fixed, and by itself asks for nothing.
  void integersAreFixed() {
    FakeEngine engine;
    const frontends::OpenSize rate{.name = "rate", .places = {"rate"}, .least = 0, .is_input = true};
    engine.sizes = {{.name = "length", .places = {"x.1"}, .proposal = 128, .required = true}, rate};
    QFile file(m_dir.filePath(QStringLiteral("rate.onnx")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("rate.twdb")));
    const auto opened = [&](int value) -> std::map<std::string, int64_t> {
      if (!drop(*w, file.fileName())) return {};
      SizesDialog* dialog = askedFor(*w);
      if (!dialog) return {};
      auto* box = named<QSpinBox>(*dialog, "spin.sizes.rate");
      if (value < 0 && box->text() != QLatin1String("stays an input")) return {};
      box->setValue(value);
      engine.givenSizes.clear();
      if (!click(*dialog, "button.sizes.open") || !QTest::qWaitFor([&] { return !engine.givenSizes.empty() && !w->findChild<SizesDialog*>(); })) return {};
      return engine.givenSizes;
    };
    QCOMPARE(opened(-1), (std::map<std::string, int64_t>{{"length", 128}}));
    QCOMPARE(opened(16000), (std::map<std::string, int64_t>{{"length", 128}, {"rate", 16000}}));
    engine.sizes = {rate};
    QFile other(m_dir.filePath(QStringLiteral("rate-alone.onnx")));
    QVERIFY(other.open(QIODevice::WriteOnly));
    QVERIFY(drop(*w, other.fileName()));
    QTRY_VERIFY(w->hub().model() && w->hub().model()->path == other.fileName() && w->hub().model()->isWhole);
    QVERIFY(!w->findChild<SizesDialog*>());
  }

  /// What a file was opened with is proposed the next time, and taken without asking where it comes from the workspace.
  void sizesAreRemembered() {
    FakeEngine engine;
    engine.sizes = {{.name = "batch", .places = {"x.0"}, .least = 1, .most = 8, .proposal = 1}, {.name = "length", .places = {"x.1", "y.1"}, .proposal = 128, .required = true}};
    QFile file(m_dir.filePath(QStringLiteral("open.onnx")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("sizes.twdb")));
    QVERIFY(drop(*w, file.fileName()));
    SizesDialog* dialog = askedFor(*w);
    QVERIFY(dialog);
    QCOMPARE(named<QSpinBox>(*dialog, "spin.sizes.length")->value(), 128);
    named<QSpinBox>(*dialog, "spin.sizes.length")->setValue(64);
    dialog->reject();
    QVERIFY(!w->hub().model());
    QVERIFY(drop(*w, file.fileName()));
    QTRY_VERIFY(w->findChildren<SizesDialog*>().size() == 1);
    dialog = askedFor(*w);
    QVERIFY(dialog);
    QCOMPARE(named<QSpinBox>(*dialog, "spin.sizes.length")->value(), 128);  // nothing was opened
    named<QSpinBox>(*dialog, "spin.sizes.length")->setValue(64);
    QVERIFY(click(*dialog, "button.sizes.open"));
    QTRY_VERIFY(w->hub().model() && w->hub().model()->isWhole);
    QVERIFY((engine.givenSizes == std::map<std::string, int64_t>{{"batch", 1}, {"length", 64}}));
    const ModelId id = w->hub().model()->id;
    w->workspace().refreshSessions();
    const auto listed = [&] { return std::any_of(w->workspace().models().begin(), w->workspace().models().end(), [&](const db::ModelRow& m) { return m.id == id; }); };
    QTRY_VERIFY(listed());
    engine.givenSizes.clear();
    w->models().openStored(id);
    QTRY_VERIFY(!engine.givenSizes.empty());
    QCOMPARE(engine.givenSizes.at("length"), int64_t{64});
    QTRY_VERIFY(!w->models().isBusy());
    QVERIFY(drop(*w, file.fileName()));
    dialog = askedFor(*w);
    QVERIFY(dialog);
    QCOMPARE(named<QSpinBox>(*dialog, "spin.sizes.length")->value(), 64);
    dialog->reject();
  }

  /// The graph is there before the tasks: the window can be used, and says how far it is.
  void theGraphComesBeforeTheTasks() {
    FakeEngine engine;
    engine.holdTasks = true;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("graph-first.twdb")));
    QSignalSpy drawnFirst(&w->graphPage(), &GraphPage::drawnFirst), laidOut(&w->graphPage(), &GraphPage::laidOut), opened(&w->models(), &ModelService::opened);
    w->openZoo(QStringLiteral("fake"), false);
    QTRY_COMPARE(drawnFirst.count(), 1);
    QCOMPARE(laidOut.count(), 0);
    QVERIFY(w->hub().model() && !w->hub().model()->isWhole && !named<QWidget>(*w, "page.start")->isVisible());
    QTRY_VERIFY2(w->statusBar()->currentMessage().endsWith(QStringLiteral("making tasks: 0 of 2")), qPrintable(w->statusBar()->currentMessage()));
    QVERIFY(!w->actions().get(QStringLiteral("tune.start"))->isEnabled());
    QVERIFY(w->actions().get(QStringLiteral("tune.start"))->toolTip().contains(QStringLiteral("its tasks are being made")));
    // What is chosen and moved meanwhile stays.
    const int last = static_cast<int>(w->hub().model()->network.optimized.nodes.size()) - 1;
    w->hub().setNode(last);
    for (const PerspectiveDef& def : perspectives()) w->setPerspective(QString::fromLatin1(def.id)), QCoreApplication::processEvents();
    w->setPerspective(QStringLiteral("explore"));
    auto* view = w->graphPage().findChild<widgets::GraphView*>();
    view->zoomBy(0.5);
    const double zoom = view->zoom();
    engine.holdTasks = false;
    QTRY_COMPARE(laidOut.count(), 1);
    QCOMPARE(opened.count(), 1);
    QVERIFY(w->hub().model()->isWhole);
    QCOMPARE(w->hub().node(), last);
    QCOMPARE(w->hub().task(), w->hub().model()->taskOfNode(last));
    QCOMPARE(view->zoom(), zoom);
    QTRY_VERIFY(w->actions().get(QStringLiteral("tune.start"))->isEnabled());
    QCOMPARE(w->jobBoard().rowCount(), 1);
    QCOMPARE(w->jobBoard().running(), 0);
  }

  /// Closed, cancelled or failed before it has its tasks, a model leaves the start page.
  void aModelWithoutItsTasksCanBeLeft() {
    FakeEngine engine;
    engine.holdTasks = true;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("left.twdb")));
    QSignalSpy opened(&w->models(), &ModelService::opened);
    for (const bool byClosing : {true, false}) {
      w->openZoo(QStringLiteral("fake"), false);
      QTRY_VERIFY(w->hub().model() && !w->hub().model()->isWhole);
      if (byClosing)
        w->actions().get(QStringLiteral("file.close"))->trigger();
      else
        w->models().cancel();
      QVERIFY(!w->hub().model() && !w->models().isBusy());
      QVERIFY(named<QWidget>(*w, "page.start")->isVisible());
    }
    w->openZoo(QStringLiteral("fake"), false);
    QTRY_VERIFY(w->hub().model());
    w->openFile(m_dir.filePath(QStringLiteral("nowhere.onnx")));  // cannot be read, and ends the other's opening
    QTRY_VERIFY(!w->hub().model() && named<widgets::Banner>(*w, "banner")->isVisible());
    QCOMPARE(opened.count(), 0);
    engine.holdTasks = false;
  }

  /// A bundled network says how large its file is and when its graph was there, once it was opened.
  void cardsSayWhatTheMachineKnows() {
    FakeEngine engine;
    QSettings().clear();
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("cards.twdb")));
    auto* card = named<QWidget>(*w, "card.fake");
    w->openZoo(QStringLiteral("fake"), false);
    QTRY_VERIFY(w->hub().model() && w->hub().model()->isWhole);
    w->actions().get(QStringLiteral("file.close"))->trigger();
    QVERIFY2(card->isVisible() && card->accessibleDescription().contains(QStringLiteral("4 bytes on this machine")), qPrintable(card->accessibleDescription()));
    QCOMPARE(QSettings().contains(QStringLiteral("opening/fake")), true);
  }

  /// Its file is kept once it is on the disk; another file in its place is not taken for it.
  void aBundledNetworkIsWrittenOnce() {
    FakeEngine engine;
    const QString path = QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/zoo/fake.onnx"), stamp = path + QStringLiteral(".by");
    QFile::remove(stamp);
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("once.twdb")));
    const auto opens = [&] {
      w->openZoo(QStringLiteral("fake"), false);
      QTRY_VERIFY(w->hub().model() && w->hub().model()->isWhole);
      w->actions().get(QStringLiteral("file.close"))->trigger();
      QTRY_VERIFY(QFileInfo(stamp).size() > 0);
    };
    opens();
    opens();
    QCOMPARE(engine.zooFilesWritten, 1);
    QVERIFY(QFile::copy(path, path + QStringLiteral(".other")) && QFile::remove(path) && QFile::rename(path + QStringLiteral(".other"), path));
    opens();
    QCOMPARE(engine.zooFilesWritten, 2);
  }

  /// A file that was opened under another name is the same network, with the sessions that it has.
  void anotherNameKeepsTheSessions() {
    FormulaEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("names.twdb")));
    w->openZoo(QStringLiteral("mlp"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model() && w->hub().model()->isWhole && w->hub().model()->id, 30'000);
    const ModelId id = w->hub().model()->id;
    const QString copy = m_dir.filePath(QStringLiteral("renamed.onnx"));
    QVERIFY(QFile::copy(w->hub().model()->path, copy));
    w->workspace().database()->begin_session(id, "random", w->hub().model()->target.str(), Json::object(), Json::object()).value();
    w->openFile(copy);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model()->name == QStringLiteral("renamed") && w->hub().model()->isWhole, 30'000);
    QCOMPARE(w->hub().model()->id, id);
    w->workspace().refreshSessions();
    QTRY_COMPARE(w->workspace().sessions().size(), size_t{1});
    QCOMPARE(w->workspace().sessions()[0].model, id);
    const auto models = w->workspace().database()->models().value();
    QCOMPARE(models.size(), size_t{1});
    QCOMPARE(QString::fromStdString(models[0].name), QStringLiteral("mlp-tiny"));
  }
};

QTEST_MAIN(OpeningTest)
#include "opening_test.moc"
