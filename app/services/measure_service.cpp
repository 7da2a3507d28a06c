// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/measure_service.h"

#include <QCoreApplication>

#include "engine/base/json.h"

namespace tw::app {
namespace {

struct MeasureTexts {
  Q_DECLARE_TR_FUNCTIONS(MeasureService)
};

}  // namespace

QString measuringObstacle(const SelectionHub& hub, const Workspace& workspace, const TuneService& tuning, const ExplainService& explain) {
  const auto& model = hub.model();
  if (!hub.taskValue()) return MeasureTexts::tr("select a task first");
  if (tuning.isActive()) return MeasureTexts::tr("a session is running");
  if (!workspace.isWritable()) return MeasureTexts::tr("the workspace cannot be written");
  if (!model->id || static_cast<size_t>(hub.task()) >= model->taskIds.size()) return MeasureTexts::tr("the model is not in the workspace yet");
  if (explain.isPending()) return MeasureTexts::tr("the point is still being lowered");
  if (!explain.explanation()) return MeasureTexts::tr("nothing is shown that could be measured");
  if (explain.explanation()->error) return MeasureTexts::tr("this point cannot be built");
  return {};
}

Expected<StoredTrial> measureAndStore(Engine& engine, db::Database& database, const OpenModel& model, int task, const records::Candidate& candidate,
                                      SessionId session, const std::string& tuner, const StopToken& stop) {
  const records::Task& t = model.tasks[static_cast<size_t>(task)].task;
  const TaskId id = model.taskIds[static_cast<size_t>(task)];
  TW_TRY(records::MeasureResult result, engine.measure(t, candidate, stop));
  if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Measuring was stopped");
  const records::Record record{t.key, candidate, std::move(result), {}};
  StoredTrial stored{{session, task, -1}, record.result.status, QString::fromStdString(record.result.message), record.result.seconds()};
  const auto put = [&](SessionId into) { return database.put_trials(into, id, {record}); };
  if (!session || !put(session)) {
    TW_TRY(stored.trial.session, database.begin_session(model.id, tuner, model.target.str(), Json::object(), engine.host(model.target)));
    TW_CHECK(put(stored.trial.session));
  }
  TW_CHECK(database.end_session(stored.trial.session, "done"));
  TW_TRY(const auto rows, database.outcomes(stored.trial.session, id, 0, -1));
  stored.trial.number = rows.empty() ? -1 : rows.back().number;
  return stored;
}

MeasureService::MeasureService(Engine& engine, SelectionHub& hub, Workspace& workspace, TuneService& tuning, ExplainService& explain, JobBoard& board,
                               QObject* parent)
    : QObject(parent), m_engine(engine), m_hub(hub), m_workspace(workspace), m_tuning(tuning), m_explain(explain), m_board(board) {
  connect(&explain, &ExplainService::explained, this, &MeasureService::changed);
  connect(&explain, &ExplainService::busy, this, &MeasureService::changed);
  connect(&tuning, &TuneService::stateChanged, this, &MeasureService::changed);
  connect(&workspace, &Workspace::opening, this, [this] { m_sessionOf = {}; });  // other workspaces number their sessions by themselves
  connect(&workspace, &Workspace::opened, this, &MeasureService::changed);
}

QString MeasureService::obstacle() const { return m_busy ? tr("a point is being measured") : measuringObstacle(m_hub, m_workspace, m_tuning, m_explain); }

void MeasureService::measure() {
  if (!obstacle().isEmpty()) return;
  const OpenModelPtr model = m_hub.model();
  if (const auto of = std::pair(model->id, model->target.str()); std::exchange(m_sessionOf, of) != of) m_session = {};
  const int task = m_hub.task();
  const int job = m_board.begin(tr("Measuring a point of T%1").arg(task + 1), [this] { m_job.stop(); });
  const auto work = [&engine = m_engine, model, task, candidate = m_explain.candidate(), session = m_session, database = m_workspace.database()](
                        StopToken stop) { return measureAndStore(engine, *database, *model, task, candidate, session, "hand", stop); };
  m_busy = true;
  Q_EMIT changed();
  auto handle = m_workspace.jobs().run<StoredTrial>(Lane::work, this, work, [this, job, model](Expected<StoredTrial> stored) {
    m_busy = false;
    if (!stored) {
      m_board.end(job, JobBoard::Outcome::failed, QString::fromStdString(stored.error().text()));
      Q_EMIT failed(tr("The point cannot be measured: %1").arg(QString::fromStdString(stored.error().text())));
      return Q_EMIT changed();
    }
    m_session = stored->trial.session;
    m_board.end(job, JobBoard::Outcome::done, stored->message);
    m_workspace.refreshSessions();
    if (m_hub.model() == model) m_hub.setTrial(stored->trial);
    Q_EMIT changed();
  });
  // A stopped job has no result: say so here.
  m_job.replace(handle);
  auto* watch = new QTimer(this);
  watch->setInterval(100);
  connect(watch, &QTimer::timeout, this, [this, watch, handle, job] {
    if (!m_busy) return watch->deleteLater();
    if (!handle->stop_requested()) return;
    m_busy = false;
    m_board.end(job, JobBoard::Outcome::cancelled);
    watch->deleteLater();
    Q_EMIT changed();
  });
  watch->start();
}

}  // namespace tw::app
