// SPDX-License-Identifier: GPL-3.0-or-later
// One quantity has one number, wherever it is asked: over all views, the report and `tw`, in a workspace with measured, resumed, hand-made, simulated and
// replayed sessions.
#include <QAbstractItemView>
#include <QDockWidget>
#include <QLabel>
#include <QProcess>
#include <QTreeView>
#include <QTreeWidget>

#include "app/logs/session_page.h"
#include "app/views/tune_view.h"
#include "tests/app/app_fixture.h"
#include "tests/app/formula_engine.h"
#include "widgets/charts/curve_chart.h"
#include "widgets/charts/network_chart.h"
#include "widgets/common/format.h"
#include "widgets/records/session_model.h"
#include "widgets/tuning/task_model.h"
#include "widgets/tuning/trial_model.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class ConsistencyTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

  /// What the trials themselves say, added up here and nowhere else.
  struct Truth {
    int64_t trials = 0;
    double best = std::numeric_limits<double>::infinity(), byDefault = best;
    TrialRef trial;
  };
  static Truth truth(db::Database& database, TaskId task, db::TimeKind kind) {
    Truth t;
    std::map<int64_t, double> defaults;
    const auto sessions = database.sessions().value();
    for (const db::SessionRow& session : sessions) {
      if (session.kind != kind) continue;
      const auto rows = database.trials(session.id, task, {}, -1, true).value();
      for (const db::TrialRow& row : rows) {
        ++t.trials;
        const records::MeasureResult& r = row.record.result;
        if (!r.ok() || r.censored || !r.verified) continue;
        if (row.record.candidate.is_default()) defaults[session.id.value] = r.decided_s();
        if (r.decided_s() < t.best) t.best = r.decided_s(), t.trial = {session.id, 0, row.number};
      }
    }
    if (defaults.contains(t.trial.session.value))
      t.byDefault = defaults[t.trial.session.value];
    else if (!defaults.empty())
      t.byDefault = defaults.rbegin()->second;
    return t;
  }

  struct Own {
    int64_t trials = 0;
    double best = std::numeric_limits<double>::infinity();
  };
  static Own ownTruth(db::Database& database, SessionId session, TaskId task) {
    Own own;
    const auto rows = database.trials(session, task, {}, -1, true).value();
    for (const db::TrialRow& row : rows) {
      const records::MeasureResult& r = row.record.result;
      ++own.trials;
      if (r.ok() && !r.censored && r.verified) own.best = std::min(own.best, r.decided_s());
    }
    return own;
  }
  static QStringList textsOf(const QAbstractItemModel& model, const QModelIndex& parent = {}) {
    QStringList texts;
    for (int row = 0; row < model.rowCount(parent); ++row) {
      const QModelIndex at = model.index(row, 0, parent);
      texts << at.data().toString() << textsOf(model, at);
    }
    return texts;
  }

  static QString cell(const MainWindow& w, int column) {
    auto* table = named<QTreeView>(w, "table.tasks");
    for (int row = 0; row < table->model()->rowCount(); ++row)
      if (const QModelIndex at = table->model()->index(row, column); at.data(widgets::TaskModel::TaskRole).toInt() == 0) return at.data().toString();
    return {};
  }
  static void tune(MainWindow& w, int seed, int trials) {
    tune::SessionOptions options = w.tuneView().options();
    options.tuner = "random", options.seed = static_cast<uint64_t>(seed), options.trials = trials;
    w.tuneView().setOptions(options);
    w.tuneView().setOnlySelectedTask(true);
    w.startTuning();
  }
  static Json run(const QStringList& arguments) {
    QProcess tw;
    tw.start(QStringLiteral(TW_BIN_DIR "/tw"), arguments);
    if (!tw.waitForFinished(60'000) || tw.exitCode() != 0) qWarning() << tw.readAllStandardError();
    const auto document = parse_json(tw.readAllStandardOutput().toStdString());
    return document ? *document : Json();
  }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("consistency-test"), m_dir.path()); }

  void everyPlaceSaysTheSame() {
    FormulaEngine engine;
    engine.machine.failure_rate = 0.1, engine.machine.noise = 0.1;
    const QString path = m_dir.filePath(QStringLiteral("all.twdb"));
    const auto w = openWindow(engine, path);
    w->openZoo(QStringLiteral("resnet18"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model() && w->hub().model()->id, 30'000);
    const OpenModelPtr model = w->hub().model();
    const TaskId task = model->taskIds.at(0);
    // Measured, and resumed for more.
    tune(*w, 1, 40);
    QTRY_VERIFY_WITH_TIMEOUT(!w->tuning().isActive(), 120'000);
    QTRY_COMPARE(w->workspace().sessions().size(), size_t{1});
    db::SessionRow more = w->workspace().sessions()[0];
    more.options["trials"] = 80;
    w->tuning().resume(model, more);
    QTRY_VERIFY_WITH_TIMEOUT(!w->tuning().isActive(), 120'000);
    QCOMPARE(w->tuning().trialsDone(), 80);
    QTRY_COMPARE(QString::fromStdString(w->workspace().sessions()[0].state), QStringLiteral("done"));
    tune(*w, 2, 40);
    QTRY_VERIFY_WITH_TIMEOUT(!w->tuning().isActive(), 120'000);
    QTRY_COMPARE(w->workspace().sessions().size(), size_t{2});
    // By hand, faster than all; simulated, faster still; and all of it replayed.
    db::Database& database = *w->workspace().database();
    const auto best = database.best(model->tasks[0].task.key, records::Weights::unknown).value();
    QVERIFY(best);
    const auto put = [&](const char* tuner, const Json& options, int64_t index, double seconds) {
      const SessionId session = database.begin_session(model->id, tuner, model->target.str(), options, Json::object()).value();
      records::Record r = *best;
      r.candidate.space = "other", r.candidate.index = index;
      r.result.verdict.reset();
      r.result.samples_s = {seconds}, r.result.sample_flags = {false}, r.result.flagged = 0, r.result.verified = true, r.result.censored = false;
      QVERIFY(database.put_trials(session, task, {r}));
      QVERIFY(database.end_session(session, "done"));
    };
    put("hand", Json::object(), 1, 0.9 * best->result.decided_s());
    put("random", Json{{"device", "sim:a100"}}, 2, 0.01 * best->result.decided_s());
    TuneService::Request replay{model, {0}, w->tuneView().options(), {}, path.toStdString()};
    w->tuning().start(replay);
    QTRY_VERIFY_WITH_TIMEOUT(!w->tuning().isActive(), 60'000);
    w->workspace().refreshSessions();
    QTRY_COMPARE(w->workspace().sessions().size(), size_t{5});

    const Truth t = truth(database, task, db::TimeKind::measured);
    QVERIFY(t.trials > 50 && std::isfinite(t.best) && std::isfinite(t.byDefault));
    QCOMPARE(t.best, 0.9 * best->result.decided_s());
    const QString bestText = widgets::secondsText(t.best), defaultText = widgets::secondsText(t.byDefault), trials = widgets::countText(t.trials);
    const QString speedUp = widgets::numberText(t.byDefault / t.best, 3) + QChar(0x00D7);

    // Views. No session is chosen, so all of the kind are shown.
    QCOMPARE(w->hub().session(), SessionId{});
    QTRY_COMPARE(cell(*w, widgets::TaskModel::Trials), trials);
    QCOMPARE(cell(*w, widgets::TaskModel::Best), bestText);
    QCOMPARE(cell(*w, widgets::TaskModel::Speedup), speedUp);
    QTRY_VERIFY(w->trials().store() && !w->trials().isLoading());
    QTRY_COMPARE(w->trials().store()->size(), static_cast<int>(t.trials));
    QCOMPARE(w->trials().kind(), db::TimeKind::measured);
    QTRY_VERIFY2(named<QLabel>(*w, "label.trials.count")->text().startsWith(QStringLiteral("%1 of %1").arg(trials)), qPrintable(named<QLabel>(*w, "label.trials.count")->text()));
    auto* chart = w->findChild<widgets::CurveChart*>(QStringLiteral("view.curve.chart"));
    QTRY_VERIFY2(chart->summary().contains(bestText), qPrintable(chart->summary()));
    QVERIFY2(chart->summary().endsWith(tr("of %1").arg(trials)), qPrintable(chart->summary()));
    QCOMPARE(chart->defaultSeconds(), t.byDefault);
    w->actions().get(QStringLiteral("trial.best"))->trigger();
    QCOMPARE(w->hub().trialRef(), t.trial);
    QCOMPARE(w->hub().session(), SessionId{});
    auto* table = named<QTreeView>(*w, "table.trials");
    QTRY_COMPARE(table->model()->index(table->currentIndex().row(), widgets::TrialModel::Time).data().toString(), bestText);
    showDock(*w, "dock.inspector");
    const auto inspected = [&] {
      for (const QTreeWidgetItem* item : named<QWidget>(*w, "view.inspector")->findChild<QTreeWidget*>()->findItems(QStringLiteral("Time"), Qt::MatchExactly | Qt::MatchRecursive))
        return item->text(1);
      return QString();
    };
    QTRY_COMPARE(inspected(), bestText);
    showDock(*w, "dock.why");
    // The hand-made trial is a point of no space, yet its steps can be lowered.
    QTRY_VERIFY2_WITH_TIMEOUT(named<QLabel>(*w, "label.why.title")->text().contains(bestText), qPrintable(named<QLabel>(*w, "label.why.title")->text()), 20'000);

    // What the network spends on the task, in the table and as the navigator has it.
    QCOMPARE(cell(*w, widgets::TaskModel::Cost), widgets::secondsText(t.best * model->tasks[0].weight));
    showDock(*w, "dock.navigator");
    QTRY_VERIFY(!textsOf(*named<QTreeView>(*w, "tree.navigator")->model()).filter(QStringLiteral(" · ") + bestText).isEmpty());

    // Sessions, each by itself: in their table and side by side.
    showDock(*w, "dock.sessions");
    const auto* sessionRows = qobject_cast<const widgets::SessionModel*>(named<QTreeView>(*w, "table.sessions")->model());
    std::vector<SessionId> all;
    for (const db::SessionRow& row : w->workspace().sessions()) all.push_back(row.id);
    w->hub().setComparedSessions(all);
    showDock(*w, "dock.compare");
    auto* beside = named<QTreeView>(*w, "table.compare.bests")->model();
    QTRY_COMPARE(beside->columnCount(), static_cast<int>(all.size()) + 1);
    for (size_t i = 0; i < all.size(); ++i) {
      const Own own = ownTruth(database, all[i], task);
      const QString ownBest = std::isfinite(own.best) ? widgets::secondsText(own.best) : widgets::dashText();
      const auto said = [&](int column) { return sessionRows->indexOf(all[i]).siblingAtColumn(column).data().toString(); };
      QTRY_COMPARE(said(widgets::SessionModel::Best), ownBest);
      QCOMPARE(said(widgets::SessionModel::Trials), widgets::countText(own.trials));
      QTRY_COMPARE(beside->index(0, static_cast<int>(i) + 1).data().toString().remove(QStringLiteral("\u2605 ")), ownBest);  // a star stands at the best
    }
    w->hub().setComparedSessions({});

    // What is built rests on the best, in the window and on the command line.
    w->actions().get(QStringLiteral("build.network"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(w->build().built() != nullptr, 120'000);
    const QString record = QStringLiteral("session %1 (hand), trial %2").arg(t.trial.session.value).arg(t.trial.number);
    const auto* kernels = named<QTreeWidget>(*w, "table.build.kernels");
    const auto rests = kernels->findItems(record, Qt::MatchExactly, 3);
    QCOMPARE(rests.size(), qsizetype{1});
    QCOMPARE(rests[0]->text(4), bestText);
    const Json compiled = run({QStringLiteral("compile"), model->path, QStringLiteral("--db"), path, QStringLiteral("-o"), m_dir.filePath(QStringLiteral("all.twx")), QStringLiteral("--json")});
    QVERIFY(compiled.contains("kernels"));
    int found = 0;
    for (const Json& kernel : compiled["kernels"])
      if (kernel["task"] == model->tasks[0].task.key) found += kernel["record"] == record.toStdString() ? 1 : 100;
    QVERIFY2(found > 0 && found < 100, qPrintable(QString::number(found)));

    // The report, of the session that holds the best.
    const auto report = logs::session_page(database, t.trial.session, {});
    QVERIFY(report);
    for (const QString& text : {bestText, defaultText, speedUp}) QVERIFY2(QString::fromStdString(*report).contains(text.toHtmlEscaped()), qPrintable(text));

    // The command line, to the last digit.
    const Json tasks = run({QStringLiteral("tasks"), model->path, QStringLiteral("--db"), path, QStringLiteral("--json")});
    QVERIFY(tasks.contains("tasks"));
    const Json& line = tasks["tasks"].at(0);
    QCOMPARE(line["trials"].get<int64_t>(), t.trials);
    QCOMPARE(line["best_s"].get<double>(), t.best);
    QCOMPARE(line["default_s"].get<double>(), t.byDefault);
    QCOMPARE(line["best_session"].get<int64_t>(), t.trial.session.value);
    QCOMPARE(line["times"].get<std::string>(), std::string("measured"));
    const Json bests = run({QStringLiteral("records"), QStringLiteral("best"), QStringLiteral("--db"), path, QStringLiteral("--json")});
    QVERIFY(bests.contains("best"));
    QCOMPARE(bests["best"].at(0)["best_s"].get<double>(), t.best);

    // One session alone, which is seen and taken away again by a click.
    const SessionId first = w->workspace().sessions()[0].id;
    w->hub().setSession(first);
    const auto own = static_cast<int>(database.trials(first, task, {}, -1, false).value().size());
    QTRY_COMPARE(w->trials().store() ? w->trials().store()->size() : 0, own);
    QCOMPARE(chart->defaultSeconds(), t.byDefault);  // the task's, not the session's
    // The network's curve compares with the default as it is known now, not with that of its own first round.
    showDock(*w, "dock.network");
    auto* network = w->findChild<widgets::NetworkChart*>();
    QVERIFY(database.rounds(first).value().front().network_s != t.byDefault * model->tasks[0].weight);
    QTRY_VERIFY2(network->summary().endsWith(QStringLiteral("%1 by the default schedules").arg(widgets::secondsText(t.byDefault * model->tasks[0].weight))), qPrintable(network->summary()));
    auto* chip = named<QToolButton>(*w, "button.trials.session");
    QVERIFY(chip->isVisibleTo(chip->parentWidget()));
    chip->click();
    // Asked for while the others are read, the best is that of all of them.
    w->actions().get(QStringLiteral("trial.best"))->trigger();
    QTRY_COMPARE(w->hub().trialRef(), t.trial);
    QTRY_COMPARE(w->trials().store() ? w->trials().store()->size() : 0, static_cast<int>(t.trials));
    QVERIFY(!chip->isVisibleTo(chip->parentWidget()));

    // Of simulated trials the same function speaks.
    const db::TaskRow row = *database.task_by_key(model->tasks[0].task.key).value();
    QCOMPARE(row.of_kind[static_cast<size_t>(db::TimeKind::simulated)].trials, int64_t{1});
    QCOMPARE(row.of_kind[static_cast<size_t>(db::TimeKind::simulated)].best_s, 0.01 * best->result.decided_s());
  }
};

QTEST_MAIN(ConsistencyTest)
#include "consistency_test.moc"
