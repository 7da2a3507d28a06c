// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/sessions_view.h"

#include <QHeaderView>
#include <QInputDialog>
#include <QTreeView>
#include <QUndoCommand>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/model_service.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/table_view.h"
#include "widgets/records/session_model.h"

namespace tw::app {
namespace {

constexpr int kSessionsLiveMillis = 1000;

/// Sessions taken out of the workspace.
class RemoveSessions : public QUndoCommand {
 public:
  RemoveSessions(Workspace& workspace, std::vector<SessionId> sessions)
      : QUndoCommand(SessionsView::tr("deleting %n session(s)", nullptr, static_cast<int>(sessions.size()))), m_workspace(workspace), m_sessions(std::move(sessions)) {}
  void undo() override { m_workspace.restoreSessions(m_sessions); }
  void redo() override { m_workspace.removeSessions(m_sessions); }

 private:
  Workspace& m_workspace;
  std::vector<SessionId> m_sessions;
};

/// The slot that opens an editor complains where one is open already.
class SessionTable : public QTreeView {
 public:
  using QTreeView::QTreeView;
  void open(const QModelIndex& index) { edit(index, AllEditTriggers, nullptr); }
};

}  // namespace

SessionsView::SessionsView(Services& services, QWidget* parent)
    : QWidget(parent), m_services(services), m_model(new widgets::SessionModel(this)), m_table(new SessionTable(this)) {
  using widgets::SessionModel;
  m_table->setModel(m_model);
  m_table->setObjectName(QStringLiteral("table.sessions"));
  m_table->setAccessibleName(tr("Tuning sessions"));
  widgets::setUpTable(m_table);
  m_table->setRootIsDecorated(true);
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(SessionModel::Id, Qt::DescendingOrder);
  widgets::offerActions(m_table);
  for (const char* name : {"tune.resume", "session.play", "session.rename", "session.group", "session.share", "file.exportReport", "session.delete", "session.restore"})
    m_table->addAction(services.actions.get(QLatin1String(name)));
  const int widths[] = {140, 110, 150, 76, 46, 110, 64, 80, 80, 120, 70, 200};
  for (int c = 0; c < SessionModel::ColumnCount; ++c) m_table->header()->resizeSection(c, widths[c]);
  // What tells sessions apart stands first: side panels are narrow.
  int at = 1;
  for (const int column : {SessionModel::Tuner, SessionModel::Seed, SessionModel::Best, SessionModel::Task, SessionModel::Trials, SessionModel::State})
    m_table->header()->moveSection(m_table->header()->visualIndex(column), at++);
  m_state = new widgets::EmptyState(m_table, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);
  m_live.setSingleShot(true);
  m_live.setInterval(kSessionsLiveMillis);
  connect(&m_live, &QTimer::timeout, this, &SessionsView::showLive);
  connect(&services.tuning, &TuneService::progressed, this, [this] {
    if (!m_live.isActive()) m_live.start();
  });
  connect(&services.hub, &SelectionHub::comparedSessionsChanged, this, [this] { m_model->setCompared(m_services.hub.comparedSessions()); });
  connect(m_model, &SessionModel::compareToggled, this, [this](const std::vector<SessionId>& toggled, bool on) {
    std::vector<SessionId> sessions = m_services.hub.comparedSessions();
    for (const SessionId id : toggled) {
      std::erase(sessions, id);
      if (on) sessions.push_back(id);
    }
    m_services.hub.setComparedSessions(std::move(sessions));
  });
  connect(m_model, &SessionModel::renamed, this, [this](SessionId id, const QString& name) {
    setNote(id, [&](MarkService::Mark& mark) {
      const QString rest = mark.note.section(QLatin1Char('\n'), 1);
      mark.note = rest.isEmpty() ? name : name + QLatin1Char('\n') + rest;
    });
  });
  connect(m_model, &QAbstractItemModel::modelAboutToBeReset, this, [this] { m_kept = selected(); });
  connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
    open({});
    for (const SessionId id : m_kept)
      m_table->selectionModel()->select(m_model->indexOf(id), QItemSelectionModel::Select | QItemSelectionModel::Rows);
  });
  connect(m_table, &QTreeView::collapsed, this, [this](const QModelIndex& index) { m_closed.insert(m_model->groupPath(index)); });
  connect(m_table, &QTreeView::expanded, this, [this](const QModelIndex& index) { m_closed.remove(m_model->groupPath(index)); });
  connect(&services.workspace, &Workspace::sessionsChanged, this, &SessionsView::showSessions);
  connect(&services.hub, &SelectionHub::sessionChanged, this, &SessionsView::showSelection);
  connect(&services.hub, &SelectionHub::modelChanged, this, [this] {
    chooseWanted();
    readFacts();
  });
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (const db::SessionRow* session = m_model->session(current); session && !m_quiet) choose(*session);
  });
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] { m_services.actions.refresh(); });
  showSessions();
}

void SessionsView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  readFacts();
}

void SessionsView::open(const QModelIndex& parent) {
  for (int row = 0; row < m_model->rowCount(parent); ++row) {
    const QModelIndex index = m_model->index(row, 0, parent);
    if (m_model->rowCount(index) == 0 || m_closed.contains(m_model->groupPath(index))) continue;
    m_table->expand(index);
    open(index);
  }
}

void SessionsView::showSessions() {
  std::map<int64_t, QString> names;
  for (const auto& model : m_services.workspace.models()) names[model.id.value] = QString::fromStdString(model.name);
  m_quiet = true;
  m_model->setSessions(m_services.workspace.sessions(), std::move(names));
  m_quiet = false;
  if (m_model->rowCount() > 0)
    m_state->showContent();
  else
    m_state->showEmpty(tr("No sessions yet"), tr("Every tuning session is kept in the workspace and listed here, also after a restart."),
                       m_services.actions.get(QStringLiteral("tune.start")));
  if (!m_services.hub.session()) chooseWanted();
  showSelection();
  readFacts();
}

void SessionsView::readFacts() {
  if (!isVisible() || !m_services.workspace.summaryReader()) return;
  struct Found {
    std::vector<db::BestRow> bests;
    std::map<int64_t, QString> names;
    std::map<int64_t, double> networks;
  };
  std::vector<SessionId> sessions;
  for (const db::SessionRow& row : m_services.workspace.sessions()) sessions.push_back(row.id);
  const auto work = [reader = m_services.workspace.summaryReader(), sessions](StopToken stop) -> Expected<Found> {
    Found found;
    TW_TRY(found.bests, reader->bests(sessions));
    TW_TRY(const auto tasks, reader->tasks());
    for (const db::TaskRow& task : tasks) found.names[task.id.value] = QString::fromStdString(task.name);
    std::map<int64_t, int> tried;
    for (const db::BestRow& best : found.bests) ++tried[best.session.value];
    for (const auto& [session, count] : tried) {
      if (count < 2 || stop.stop_requested()) continue;
      TW_TRY(const auto rounds, reader->rounds(SessionId{session}));
      if (!rounds.empty()) found.networks[session] = rounds.back().network_s;
    }
    return found;
  };
  m_facts.replace(m_services.jobs.run<Found>(Lane::summary, this, work, [this](Expected<Found> found) {
    if (found) showFacts(found->bests, found->names, found->networks);
  }));
}

void SessionsView::showFacts(const std::vector<db::BestRow>& bests, const std::map<int64_t, QString>& names, const std::map<int64_t, double>& networks) {
  const OpenModelPtr& model = m_services.hub.model();
  std::map<int64_t, std::vector<const db::BestRow*>> bySession;
  for (const db::BestRow& best : bests) bySession[best.session.value].push_back(&best);
  std::map<int64_t, widgets::SessionModel::Facts> facts;
  for (const auto& [session, tasks] : bySession) {
    widgets::SessionModel::Facts& f = facts[session];
    if (tasks.size() > 1) {
      f.task = tr("%n task(s)", nullptr, static_cast<int>(tasks.size()));
      f.ofNetwork = true;
      if (const auto network = networks.find(session); network != networks.end()) f.best_s = network->second;
      continue;
    }
    const TaskId task = tasks.front()->task;
    f.best_s = tasks.front()->best_s;
    const auto name = names.find(task.value);
    if (name != names.end()) f.task = name->second;
    if (!model) continue;
    const auto at = std::find(model->taskIds.begin(), model->taskIds.end(), task);
    if (at == model->taskIds.end()) continue;
    const auto number = static_cast<int>(at - model->taskIds.begin());
    f.task = QStringLiteral("T%1 %2").arg(number + 1).arg(model->titleOf(number));
  }
  m_quiet = true;
  m_model->setFacts(std::move(facts));
  m_quiet = false;
  showSelection();
}

void SessionsView::showLive() {
  const TuneService& tuning = m_services.tuning;
  if (!isVisible() || !tuning.session()) return;
  double best = INFINITY;
  int tasks = 0;
  for (size_t t = 0; tuning.model() && t < tuning.model()->tasks.size(); ++t) {
    const auto* p = tuning.progress(static_cast<int>(t));
    if (!p) continue;
    ++tasks;
    best = p->bestSeconds > 0 ? p->bestSeconds : INFINITY;
  }
  if (tasks > 1) best = tuning.rounds().empty() ? INFINITY : tuning.rounds().back().network_s;
  m_model->setLive(tuning.session(), tuning.trialsDone(), best);
}

void SessionsView::chooseWanted() {
  const auto& model = m_services.hub.model();
  if (!model || m_wanted == 0 || m_services.tuning.isActive()) return;
  const db::SessionRow* session = m_model->session(m_model->indexOf(SessionId{m_wanted}));
  if (!session || session->model != model->id) return;
  const SessionId id = session->id;
  m_wanted = 0;
  m_services.hub.setSession(id);
}

void SessionsView::showSelection() {
  const QModelIndex index = m_model->indexOf(m_services.hub.session());
  if (!index.isValid() && !m_model->session(m_table->currentIndex()) && m_table->currentIndex().isValid()) return;  // a group stays selected
  if (index == m_table->currentIndex().siblingAtColumn(0)) return;
  m_quiet = true;
  // Several that are selected stay so, whichever of them or of the others is shown.
  if (selected().size() > 1)
    m_table->selectionModel()->setCurrentIndex(index, QItemSelectionModel::NoUpdate);
  else
    m_table->setCurrentIndex(index);
  m_quiet = false;
}

void SessionsView::choose(const db::SessionRow& session) {
  const auto& model = m_services.hub.model();
  if (model && session.model == model->id) return m_services.hub.setSession(session.id);
  m_wanted = session.id.value;
  m_services.models.openStored(session.model);
}

std::vector<SessionId> SessionsView::selected() const {
  std::vector<SessionId> all;
  for (const QModelIndex& index : m_table->selectionModel()->selectedRows()) {
    for (const SessionId id : m_model->sessionsUnder(index))
      if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
  }
  return all;
}

void SessionsView::rename() {
  const QModelIndex index = m_table->currentIndex().siblingAtColumn(widgets::SessionModel::Id);
  if (!m_model->session(index)) return;
  m_table->scrollTo(index);
  static_cast<SessionTable*>(m_table)->open(index);
}

void SessionsView::setNote(SessionId session, const std::function<void(MarkService::Mark&)>& change) {
  const QString noun = QStringLiteral("session:%1").arg(session.value);
  MarkService::Mark mark = m_services.marks.mark(noun);
  change(mark);
  m_services.marks.setMark(noun, mark);
}

void SessionsView::group() {
  const std::vector<SessionId> sessions = selected();
  if (sessions.empty()) return;
  bool chosen = false;
  const QString name = QInputDialog::getItem(this, tr("Group sessions"), tr("Sessions of one group stand together. An empty name takes them out of their group."),
                                             m_services.marks.tags(), 0, true, &chosen)
                           .trimmed();
  if (!chosen) return;
  for (const SessionId id : sessions) {
    setNote(id, [&](MarkService::Mark& mark) {
      if (!mark.tags.isEmpty()) mark.tags.removeFirst();
      mark.tags.removeAll(name);
      if (!name.isEmpty()) mark.tags.prepend(name);
    });
  }
}

void SessionsView::remove() {
  const std::vector<SessionId> sessions = selected();
  if (sessions.empty()) return;
  const auto gone = [&](SessionId id) { return std::find(sessions.begin(), sessions.end(), id) != sessions.end(); };
  if (gone(m_services.hub.trialRef().session)) m_services.hub.setTrial(-1);
  if (gone(m_services.hub.session())) m_services.hub.setSession({});
  std::vector<SessionId> compared = m_services.hub.comparedSessions();
  if (std::erase_if(compared, gone) > 0) m_services.hub.setComparedSessions(compared, SelectionHub::Way::followed);
  m_services.hub.undoStack().push(new RemoveSessions(m_services.workspace, sessions));
}

}  // namespace tw::app
