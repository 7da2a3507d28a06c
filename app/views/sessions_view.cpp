// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/sessions_view.h"

#include <QHeaderView>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/model_service.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/table_view.h"
#include "widgets/records/session_model.h"

namespace tw::app {

SessionsView::SessionsView(Services& services, QWidget* parent)
    : QWidget(parent), m_services(services), m_model(new widgets::SessionModel(this)), m_table(new QTreeView(this)) {
  m_table->setModel(m_model);
  m_table->setObjectName(QStringLiteral("table.sessions"));
  m_table->setAccessibleName(tr("Tuning sessions"));
  widgets::setUpTable(m_table);
  const int widths[] = {56, 120, 70, 80, 80, 60, 120, 70, 200};
  for (int c = 0; c < widgets::SessionModel::ColumnCount; ++c) m_table->header()->resizeSection(c, widths[c]);
  m_state = new widgets::EmptyState(m_table, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);
  connect(&services.hub, &SelectionHub::comparedSessionsChanged, this, [this] { m_model->setCompared(m_services.hub.comparedSessions()); });
  connect(m_model, &widgets::SessionModel::compareToggled, this, [this](SessionId id, bool on) {
    std::vector<SessionId> sessions = m_services.hub.comparedSessions();
    std::erase(sessions, id);
    if (on) sessions.push_back(id);
    m_services.hub.setComparedSessions(std::move(sessions));
  });
  connect(&services.workspace, &Workspace::sessionsChanged, this, &SessionsView::showSessions);
  connect(&services.hub, &SelectionHub::sessionChanged, this, &SessionsView::showSelection);
  connect(&services.hub, &SelectionHub::modelChanged, this, &SessionsView::chooseWanted);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid() && !m_quiet) choose(current.row());
  });
  showSessions();
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
}

void SessionsView::chooseWanted() {
  const auto& model = m_services.hub.model();
  if (!model || m_wanted == 0 || m_services.tuning.isActive()) return;
  for (int row = 0; row < m_model->rowCount(); ++row) {
    const auto& session = m_model->session(row);
    if (session.model == model->id && session.id.value == m_wanted) {
      m_wanted = 0;
      m_services.hub.setSession(session.id);
      return;
    }
  }
}

void SessionsView::showSelection() {
  const int row = m_model->rowOf(m_services.hub.session());
  m_quiet = true;
  m_table->setCurrentIndex(row < 0 ? QModelIndex() : m_model->index(row, 0));
  m_quiet = false;
}

void SessionsView::choose(int row) {
  const db::SessionRow session = m_model->session(row);
  const auto& model = m_services.hub.model();
  if (model && session.model == model->id) return m_services.hub.setSession(session.id);
  m_wanted = session.id.value;
  m_services.models.openStored(session.model);
}

}  // namespace tw::app
