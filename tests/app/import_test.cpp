// SPDX-License-Identifier: GPL-3.0-or-later
// The journey of a log: dropped, looked at, imported, compared.
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTreeView>
#include <QTreeWidget>
#include <QtTest>

#include "app/main_window.h"
#include "app/views/import_dialog.h"
#include "tests/app/fake_engine.h"
#include "widgets/charts/curve_chart.h"
#include "widgets/common/banner.h"
#include "widgets/tuning/task_model.h"

using namespace tw;
using namespace tw::app;

class ImportTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  FakeEngine m_engine;
  std::unique_ptr<MainWindow> m_window;

  QString log(const char* name, int trials, const QByteArray& more = {}) {
    QFile file(m_dir.filePath(QLatin1String(name)));
    if (!file.open(QIODevice::WriteOnly)) return {};
    for (int i = 0; i < trials; ++i) {
      const Json line = {{"i", Json::array({Json::array({i % 2 == 0 ? "[\"even\", 4]" : "[\"odd\", 4]", "llvm"}),
                                            Json::array({Json::array(), Json::array({Json::array({"SP", i})})})})},
                         {"r", Json::array({Json::array({i % 5 == 4 ? 1e10 : 1e-3 / (i + 1)}), i % 5 == 4 ? 7 : 0, 0.5, 1.6e9 + i})},
                         {"v", "v0.6"}};
      file.write(QByteArray::fromStdString(line.dump()) + "\n");
    }
    file.write(more);
    return file.fileName();
  }

 private Q_SLOTS:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("tilewright-test"));
    QCoreApplication::setApplicationName(QStringLiteral("import-test"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_dir.path());
    widgets::applyTheme(widgets::ThemeChoice::light);
  }
  void init() {
    static int count = 0;
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->askQuit = [] { return MainWindow::QuitChoice::stop; };
    QSignalSpy opened(&m_window->workspace(), &Workspace::opened);
    m_window->openWorkspace(m_dir.filePath(QString::number(++count) + QStringLiteral(".twdb")));
    m_window->show();
    if (opened.isEmpty()) QVERIFY(opened.wait(5000));
  }
  void cleanup() { m_window.reset(); }

  void aLogIsShownThenImportedThenCompared() {
    m_window->openFile(log("theirs.json", 40, "broken\n"));
    QTRY_COMPARE(m_window->importing().state(), ImportService::State::previewed);
    auto* dialog = m_window->findChild<ImportDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    const QString summary = dialog->findChild<QLabel*>(QStringLiteral("label.import.summary"))->text();
    QVERIFY2(summary.contains(QStringLiteral("Ansor")) && summary.contains(QStringLiteral("40 trials")), qPrintable(summary));
    QCOMPARE(dialog->findChild<QTreeWidget*>(QStringLiteral("table.import.tasks"))->topLevelItemCount(), 2);
    auto* problems = dialog->findChild<QTreeWidget*>(QStringLiteral("table.import.problems"));
    QCOMPARE(problems->topLevelItemCount(), 1);
    QCOMPARE(problems->topLevelItem(0)->text(0), QStringLiteral("41"));
    QVERIFY(m_window->workspace().sessions().empty());

    QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("button.import.start")), Qt::LeftButton);
    QTRY_VERIFY(m_window->hub().model());
    QCOMPARE(m_window->hub().model()->tasks.size(), size_t{2});
    QTRY_COMPARE(m_window->hub().comparedSessions().size(), size_t{1});
    QTRY_VERIFY(m_window->trials().store() && m_window->trials().store()->size() == 20);
    QCOMPARE(m_window->trials().store()->failures().size(), size_t{1});
    QCOMPARE(m_window->perspective(), QStringLiteral("tune"));  // where the curve of one session is
    QVERIFY(m_window->findChild<QTreeView*>(QStringLiteral("table.trials"))->model()->rowCount() == 20);
    QTRY_VERIFY(!m_window->findChild<ImportDialog*>());
    // Selecting a trial that has no code does no harm, and says why there is none.
    QTRY_VERIFY(m_window->trials().store() && !m_window->trials().isLoading());
    m_window->trials().choose(3);
    QTRY_VERIFY(m_window->explaining().spacesKnown());
    QVERIFY(m_window->explaining().spaces().empty());
    for (const char* name : {"tune.start", "tune.task", "tune.race"}) {
      const QAction* action = m_window->actions().get(QLatin1String(name));
      QVERIFY2(!action->isEnabled() && ActionRegistry::whyNotOf(action).contains(QStringLiteral("log")), name);
    }
    // The fastest trial of the log stands in the table of tasks, though nothing was compared with a reference here.
    const QAbstractItemModel* tasks = m_window->findChild<QTreeView*>(QStringLiteral("table.tasks"))->model();
    QTRY_VERIFY(tasks->index(0, widgets::TaskModel::Best).data(widgets::TaskModel::SortRole).toDouble() < 1e-3);
    m_window->grab();
    QCOMPARE(m_window->jobBoard().running(), 0);
  }

  /// A log's trials of two templates are two sessions.
  void sessionsOfALogStandSideBySide() {
    logs::ImportedLog imported;
    m_window->openFile(log("one.json", 10));
    QTRY_COMPARE(m_window->importing().state(), ImportService::State::previewed);
    QObject::connect(&m_window->importing(), &ImportService::imported, m_window.get(), [&](const logs::ImportedLog& log) { imported = log; });
    m_window->importing().start();
    QTRY_COMPARE(imported.sessions.size(), size_t{1});
    QTRY_COMPARE(m_window->hub().comparedSessions().size(), size_t{1});
    auto second = m_window->workspace().database()->begin_session(imported.model, db::kImported, "llvm", Json::object(), Json::object());
    QVERIFY2(second, second ? "" : second.error().text().c_str());
    imported.sessions.push_back(*second);
    Q_EMIT m_window->importing().imported(imported);
    QTRY_COMPARE(m_window->perspective(), QStringLiteral("compare"));
    QCOMPARE(m_window->hub().comparedSessions().size(), size_t{2});
  }

  void theSessionOfALogComesBack() {
    m_window->openFile(log("again.json", 10));
    QTRY_COMPARE(m_window->importing().state(), ImportService::State::previewed);
    m_window->importing().start();
    QTRY_VERIFY(m_window->hub().model());
    const QString path = m_window->workspace().path();
    m_window->close();
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    m_window->openWorkspace(path);
    auto* table = m_window->findChild<QTreeView*>(QStringLiteral("table.sessions"));
    QTRY_COMPARE(table->model()->rowCount(), 1);
    table->setCurrentIndex(table->model()->index(0, 0));
    QTRY_VERIFY(m_window->trials().store() && m_window->trials().store()->size() == 5);
  }

  void whatIsThereIsNotImportedAgain() {
    for (const char* words : {"12 trials", "0 trials"}) {
      m_window->openFile(log("twice.json", 12));
      QTRY_COMPARE(m_window->importing().state(), ImportService::State::previewed);
      m_window->importing().start();
      const auto* banner = m_window->findChild<widgets::Banner*>(QStringLiteral("banner"));
      QTRY_VERIFY(banner->isVisible() && banner->text().startsWith(QLatin1String(words)));
      QVERIFY2(banner->text().contains(words[0] == '0' ? QStringLiteral("12 were already there") : QStringLiteral("0 were already there")), qPrintable(banner->text()));
      QTRY_COMPARE(m_window->importing().state(), ImportService::State::idle);
    }
  }

  void damagedRowsAreLeftOutAndSaid() {
    m_window->openFile(log("damaged.json", 10));
    QTRY_COMPARE(m_window->importing().state(), ImportService::State::previewed);
    m_window->importing().start();
    QTRY_VERIFY(m_window->hub().model());
    const QString path = m_window->workspace().path();
    m_window->close();
    m_window.reset();
    {
      QFile file(path);
      QVERIFY(file.open(QIODevice::ReadWrite));
      const QByteArray bytes = file.readAll();
      const qsizetype at = std::max(bytes.indexOf("\"SP\",0]"), bytes.indexOf("\"SP\", 0]"));  // a choice of the first trial
      QVERIFY(at > 0);
      file.seek(at + 1);
      QVERIFY(file.write("XX") == 2);
    }
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    m_window->openWorkspace(path);
    auto* table = m_window->findChild<QTreeView*>(QStringLiteral("table.sessions"));
    QTRY_COMPARE(table->model()->rowCount(), 1);
    table->setCurrentIndex(table->model()->index(0, 0));
    QTRY_VERIFY(m_window->trials().store() && m_window->trials().store()->size() == 4);
    const auto* banner = m_window->findChild<widgets::Banner*>(QStringLiteral("banner"));
    QTRY_VERIFY(banner->isVisible() && banner->text().contains(QStringLiteral("damaged")));
  }

  void aFileThatIsNoLogSaysSo() {
    QFile file(m_dir.filePath(QStringLiteral("no.json")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"a\": 1}\n");
    file.close();
    m_window->openFile(file.fileName());
    QTRY_COMPARE(m_window->importing().state(), ImportService::State::previewed);
    auto* dialog = m_window->findChild<ImportDialog*>();
    QVERIFY(!dialog->findChild<QPushButton*>(QStringLiteral("button.import.start"))->isEnabled());
    QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("button.import.cancel")), Qt::LeftButton);
    QTRY_COMPARE(m_window->importing().state(), ImportService::State::idle);
    m_window->openFile(QStringLiteral("/nowhere/log.json"));
    QTRY_VERIFY(m_window->findChild<widgets::Banner*>(QStringLiteral("banner"))->text().contains(QStringLiteral("cannot be imported")));
  }
};

QTEST_MAIN(ImportTest)
#include "import_test.moc"
