// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/operator_view.h"

#include <QComboBox>
#include <QLabel>
#include <QToolButton>

#include "engine/space/own/operators.h"
#include "tests/app/app_fixture.h"
#include "tests/app/fake_engine.h"
#include "widgets/common/error_label.h"
#include "widgets/ir/code_editor.h"
#include "widgets/ir/code_pane.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

/// The editor of computations: what is typed is looked through, what is wrong stands where it is, and what is right can be tuned.
class OperatorViewTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

  static std::unique_ptr<MainWindow> open(Engine& engine, const QString& workspace) {
    auto w = openWindow(engine, workspace);
    w->actions().get(QStringLiteral("file.operator"))->trigger();
    return w;
  }
  static QString problem(const MainWindow& w) {
    const auto* label = named<widgets::ErrorLabel>(w, "label.operator.problem");
    return label->isHidden() ? QString() : label->text();
  }
  static void type(const OperatorView& view, const QString& from, const QString& to) {
    QString text = view.editor()->text();
    QVERIFY(text.contains(from));
    paste(view.editor()->input(), text.replace(from, to));
  }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("operator-view-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  void mistakesStandWhereTheyAre() {
    FakeEngine engine;
    const auto w = open(engine, m_dir.filePath(QStringLiteral("mistakes.twdb")));
    auto* view = w->findChild<OperatorView*>();
    QVERIFY(view->isVisible());
    auto* tune = named<QToolButton>(*w, "button.operator.tune");
    QTRY_VERIFY(tune->isEnabled());
    QVERIFY(view->editor()->text().startsWith(QStringLiteral("# A product of matrices")));
    QVERIFY(!named<widgets::CodePane>(*w, "view.operator.loops")->text().isEmpty());
    QVERIFY(!named<widgets::CodePane>(*w, "view.operator.tir")->text().isEmpty());
    QVERIFY2(named<QLabel>(*w, "label.operator.state")->text().contains(QStringLiteral("3 knobs")), qPrintable(named<QLabel>(*w, "label.operator.state")->text()));
    type(*view, QStringLiteral("vectorize(xi)"), QStringLiteral("vectorize(xz)"));
    QVERIFY(!tune->isEnabled());
    QTRY_VERIFY(view->editor()->hasProblem());
    QCOMPARE(view->editor()->problemText(), QStringLiteral("xz"));
    QCOMPARE(view->editor()->text().split(QLatin1Char('\n'))[view->editor()->problemLine()], QStringLiteral("vectorize(xz)"));
    QVERIFY2(problem(*w).contains(QStringLiteral("found 'xz'")), qPrintable(problem(*w)));
    QVERIFY(!tune->isEnabled());
    type(*view, QStringLiteral("vectorize(xz)"), QStringLiteral("vectorize(xi)"));
    QTRY_VERIFY(tune->isEnabled());
    QVERIFY(!view->editor()->hasProblem() && problem(*w).isEmpty());
  }

  void everyOperatorIsAStart() {
    FakeEngine engine;
    const auto w = open(engine, m_dir.filePath(QStringLiteral("starts.twdb")));
    auto* view = w->findChild<OperatorView*>();
    auto* examples = named<QComboBox>(*w, "combo.operator.examples");
    QCOMPARE(examples->count(), static_cast<int>(space::own::operators().size()) + 1);
    for (int i = 1; i < examples->count(); ++i) QVERIFY(!examples->itemData(i, Qt::ToolTipRole).toString().isEmpty());
    const int softmax = examples->findText(QStringLiteral("softmax"));
    Q_EMIT examples->activated(softmax);
    QVERIFY(view->editor()->text().contains(QStringLiteral("param N = 256")));
    QTRY_VERIFY(named<QToolButton>(*w, "button.operator.tune")->isEnabled());
  }

  void textsAreWrittenAndReadBack() {
    FakeEngine engine;
    const auto w = open(engine, m_dir.filePath(QStringLiteral("files.twdb")));
    auto* view = w->findChild<OperatorView*>();
    QTRY_VERIFY(named<QToolButton>(*w, "button.operator.tune")->isEnabled());
    type(*view, QStringLiteral("param M = 512"), QStringLiteral("param M = 64"));
    QVERIFY(view->editor()->isModified());
    const QString path = m_dir.filePath(QStringLiteral("mine.te"));
    QVERIFY(view->save(path));
    QVERIFY(!view->editor()->isModified());
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(QString::fromUtf8(file.readAll()), view->editor()->text());
    QVERIFY(!view->save(m_dir.filePath(QStringLiteral("nowhere/mine.te"))));
    QVERIFY2(problem(*w).contains(QStringLiteral("cannot be written")), qPrintable(problem(*w)));
  }

  /// A text that is not saved is asked about before it goes with the window.
  void closingAsksAboutTheText() {
    FakeEngine engine;
    const auto w = open(engine, m_dir.filePath(QStringLiteral("close.twdb")));
    auto* view = w->findChild<OperatorView*>();
    QTRY_VERIFY(named<QToolButton>(*w, "button.operator.tune")->isEnabled());
    auto answer = MainWindow::QuitChoice::stay;
    int asked = 0;
    w->askQuit = [&] { return ++asked, answer; };
    type(*view, QStringLiteral("param M = 512"), QStringLiteral("param M = 64"));
    w->close();
    QVERIFY(w->isVisible() && asked == 1);
    answer = MainWindow::QuitChoice::stop;
    w->close();
    QVERIFY(!w->isVisible() && asked == 2);
  }

  void whatIsRightIsTuned() {
    FakeEngine engine;
    const auto w = open(engine, m_dir.filePath(QStringLiteral("tune.twdb")));
    QTRY_VERIFY(named<QToolButton>(*w, "button.operator.tune")->isEnabled());
    QVERIFY(click(*w, "button.operator.tune"));
    QTRY_VERIFY(w->tuning().isActive());
    QCOMPARE(w->perspective(), QStringLiteral("tune"));
    // In a file of its own: another text of the same name stays.
    QVERIFY2(w->hub().model()->path.contains(QStringLiteral("/operators/matmul")), qPrintable(w->hub().model()->path));
    QFile file(w->hub().model()->path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(QString::fromUtf8(file.readAll()), w->findChild<OperatorView*>()->editor()->text());
  }

  /// Whose opening is stopped is not tuned when it is opened later.
  void aStoppedOpeningStartsNothing() {
    FakeEngine engine;
    const auto w = open(engine, m_dir.filePath(QStringLiteral("stopped.twdb")));
    QTRY_VERIFY(named<QToolButton>(*w, "button.operator.tune")->isEnabled());
    engine.holdTasks = true;
    QVERIFY(click(*w, "button.operator.tune"));
    QTRY_VERIFY(w->hub().model());
    const QString path = w->hub().model()->path;
    w->models().cancel();
    engine.holdTasks = false;
    w->openFile(path);
    QTRY_VERIFY(w->hub().model() && w->hub().model()->isWhole);
    QTest::qWait(20);
    QVERIFY(!w->tuning().isActive());
  }
};

QTEST_MAIN(OperatorViewTest)
#include "operator_view_test.moc"
