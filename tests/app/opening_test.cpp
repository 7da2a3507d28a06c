// SPDX-License-Identifier: GPL-3.0-or-later
// Files of other programs on the window: a program exported by PyTorch, its sizes, and where its operators come from.
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTreeWidget>

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
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model(), 30'000);
    const graph::Graph& g = w->hub().model()->network.optimized;
    QCOMPARE(g.values[static_cast<size_t>(g.inputs[0])].type.shape[0], int64_t{3});
    int conv = -1;
    for (size_t i = 0; i < g.nodes.size(); ++i)
      if (g.nodes[i].origin.module == "layer1.0.conv") conv = static_cast<int>(i);
    QVERIFY(conv >= 0);
    w->hub().setNode(conv);
    auto* properties = named<QTreeWidget>(*w, "table.inspector");
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
    QTRY_VERIFY(w->hub().model());
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
};

QTEST_MAIN(OpeningTest)
#include "opening_test.moc"
