// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/navigator_view.h"

#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QTreeView>
#include <QVBoxLayout>
#include <cmath>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/mark_service.h"
#include "app/services/model_service.h"
#include "app/services/workspace.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"

namespace tw::app {
namespace {

constexpr int kPlaceRole = Qt::UserRole, kNounRole = Qt::UserRole + 1;

QString sessionText(const db::SessionRow& session, const db::BestRow& tried) {
  const QString best = std::isfinite(tried.best_s) ? widgets::secondsText(tried.best_s) : NavigatorView::tr("none succeeded");
  return NavigatorView::tr("Session %1 · %2 · %3 trials · %4")
      .arg(session.id.value)
      .arg(QString::fromStdString(session.tuner), widgets::countText(tried.trials), best);
}

}  // namespace

NavigatorView::NavigatorView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_filter(new QLineEdit(this)),
      m_tree(new QTreeView(this)),
      m_model(new QStandardItemModel(this)),
      m_filtered(new QSortFilterProxyModel(this)) {
  m_filter->setObjectName(QStringLiteral("edit.navigator.filter"));
  m_filter->setAccessibleName(tr("Filter the navigator"));
  m_filter->setPlaceholderText(tr("Filter: models, tasks, sessions, tags"));
  m_filter->setClearButtonEnabled(true);
  m_filtered->setSourceModel(m_model);
  m_filtered->setRecursiveFilteringEnabled(true);
  m_filtered->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_tree->setModel(m_filtered);
  m_tree->setObjectName(QStringLiteral("tree.navigator"));
  m_tree->setAccessibleName(tr("Models, tasks and sessions of the workspace"));
  widgets::setUpTable(m_tree);
  m_tree->setRootIsDecorated(true);
  m_tree->setHeaderHidden(true);
  m_tree->setAlternatingRowColors(false);
  m_tree->setExpandsOnDoubleClick(false);
  m_state = new widgets::EmptyState(m_tree, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 4, 0, 0);
  box->setSpacing(4);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(6, 0, 6, 0);
  top->addWidget(m_filter);
  box->addLayout(top);
  box->addWidget(m_state, 1);
  connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
    m_quiet = true;  // whose row goes is not followed by a choice of the next one
    m_filtered->setFilterFixedString(text);
    m_quiet = false;
    if (!text.isEmpty()) m_tree->expandAll();
    showSelection();
  });
  connect(&services.workspace, &Workspace::sessionsChanged, this, &NavigatorView::load);
  connect(&services.hub, &SelectionHub::modelChanged, this, [this] {
    load();
    finishChoice();
  });
  connect(&services.hub, &SelectionHub::taskChanged, this, &NavigatorView::showSelection);
  connect(&services.hub, &SelectionHub::sessionChanged, this, &NavigatorView::showSelection);
  connect(&services.marks, &MarkService::changed, this, &NavigatorView::showMarks);
  connect(m_tree->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (!m_quiet) choose(current, false);
  });
  connect(m_tree, &QTreeView::activated, this, [this](const QModelIndex& index) { choose(index, true); });
  connect(m_tree, &QTreeView::expanded, this, [this](const QModelIndex& index) { m_expanded.insert(index.data(kNounRole).toString()); });
  connect(m_tree, &QTreeView::collapsed, this, [this](const QModelIndex& index) { m_expanded.remove(index.data(kNounRole).toString()); });
  load();
}

void NavigatorView::load() {
  if (!m_services.workspace.reader()) {
    m_job.stop();
    m_model->clear();
    return m_state->showEmpty(tr("No workspace"), tr("The workspace keeps models, tasks and sessions. It is being opened, or could not be."),
                              m_services.actions.get(QStringLiteral("file.workspace")));
  }
  const auto work = [database = m_services.workspace.summaryReader()](StopToken stop) -> Expected<Contents> {
    Contents c;
    TW_TRY(c.models, database->models());
    for (const db::ModelRow& model : c.models) {
      if (stop.stop_requested()) break;
      TW_TRY(auto tasks, database->tasks_of(model.id));
      c.tasks.push_back(std::move(tasks));
    }
    TW_TRY(c.sessions, database->sessions());
    std::vector<SessionId> ids;
    for (const db::SessionRow& s : c.sessions) ids.push_back(s.id);
    TW_TRY(c.tried, database->bests(ids));
    return c;
  };
  m_job.replace(m_services.jobs.run<Contents>(Lane::summary, this, work, [this](Expected<Contents> contents) {
    if (contents)
      show(*contents);
    else
      m_state->showEmpty(tr("The workspace cannot be read"), QString::fromStdString(contents.error().text()));
  }));
}

QStandardItem* NavigatorView::addRow(QStandardItem* parent, const QString& text, const Place& place, const QString& noun) {
  auto* item = new QStandardItem(text);
  item->setData(QVariant::fromValue(QList<qint64>{place.model.value, place.task.value, place.session.value}), kPlaceRole);
  item->setData(noun, kNounRole);
  item->setData(text, Qt::AccessibleTextRole);
  item->setEditable(false);
  parent->appendRow(item);
  return item;
}

void NavigatorView::show(const Contents& c) {
  m_quiet = true;
  m_model->clear();
  std::map<int64_t, const db::SessionRow*> sessions;
  for (const db::SessionRow& s : c.sessions) sessions[s.id.value] = &s;
  for (size_t m = 0; m < c.models.size() && m < c.tasks.size(); ++m) {
    const db::ModelRow& model = c.models[m];
    auto* row = addRow(m_model->invisibleRootItem(), QString::fromStdString(model.name), {model.id, {}, {}},
                       QStringLiteral("model:") + QString::fromStdString(model.content_key));
    row->setToolTip(QString::fromStdString(model.path).toHtmlEscaped());
    for (const db::ModelTaskRow& t : c.tasks[m]) {
      QString text = QString::fromStdString(t.task.name);
      // Tasks of one name are told apart by their numbers, which a model has while it is open.
      const auto& open = m_services.hub.model();
      if (const int number = open && open->id == model.id ? open->taskByKey(t.task.key) : -1; number >= 0)
        text = QStringLiteral("T%1  %2").arg(number + 1).arg(open->titleOf(number));
      if (t.weight > 1) text += tr(" ×%1").arg(t.weight);
      if (std::isfinite(t.task.counts().best_s)) text += QStringLiteral(" · ") + widgets::secondsText(t.task.counts().best_s);
      auto* task = addRow(row, text, {model.id, t.task.id, {}}, QStringLiteral("task:") + QString::fromStdString(t.task.key));
      for (const db::BestRow& tried : c.tried) {
        const auto session = sessions.find(tried.session.value);
        if (tried.task != t.task.id || session == sessions.end() || session->second->model != model.id) continue;
        addRow(task, sessionText(*session->second, tried), {model.id, t.task.id, tried.session}, QStringLiteral("session:%1").arg(tried.session.value));
      }
    }
  }
  m_quiet = false;
  if (m_model->rowCount() == 0)
    m_state->showEmpty(tr("An empty workspace"), tr("Models appear here when they are opened, their sessions when they are tuned."),
                       m_services.actions.get(QStringLiteral("file.open")));
  else
    m_state->showContent();
  showMarks();
  showSelection();
}

void NavigatorView::showMarks() {
  const std::function<void(QStandardItem*)> mark = [&](QStandardItem* item) {
    for (int r = 0; r < item->rowCount(); ++r) {
      QStandardItem* child = item->child(r);
      const MarkService::Mark m = m_services.marks.mark(child->data(kNounRole).toString());
      const QString text = child->data(Qt::AccessibleTextRole).toString();
      QString shown = text;
      for (const QString& tag : m.tags) shown += QStringLiteral("  #") + tag;
      if (!m.note.isEmpty()) shown += QStringLiteral("  ") + QChar(0x270E);
      if (child->text() != shown) child->setText(shown);
      if (!m.note.isEmpty()) child->setToolTip(m.note.toHtmlEscaped());
      mark(child);
    }
  };
  mark(m_model->invisibleRootItem());
}

NavigatorView::Place NavigatorView::placeOf(const QModelIndex& index) const {
  const auto ids = index.data(kPlaceRole).value<QList<qint64>>();
  return ids.size() == 3 ? Place{ModelId{ids[0]}, TaskId{ids[1]}, SessionId{ids[2]}} : Place{};
}

void NavigatorView::choose(const QModelIndex& index, bool open) {
  if (!index.isValid()) return;
  const Place place = placeOf(index);
  const auto& model = m_services.hub.model();
  if (model && model->id == place.model) {
    m_wanted = place;
    return finishChoice();
  }
  if (!open) return;
  for (const db::ModelRow& row : m_services.workspace.models()) {
    if (row.id != place.model) continue;
    m_wanted = place;
    m_services.models.openStored(row.id);
  }
}

void NavigatorView::finishChoice() {
  const auto& model = m_services.hub.model();
  if (!model || model->id != m_wanted.model) return;
  const Place wanted = std::exchange(m_wanted, {});
  if (wanted.session) m_services.hub.setSession(wanted.session);
  for (size_t t = 0; t < model->taskIds.size(); ++t) {
    if (wanted.task && model->taskIds[t] == wanted.task) m_services.hub.setTask(static_cast<int>(t));
  }
}

void NavigatorView::showSelection() {
  const auto& model = m_services.hub.model();
  const int task = m_services.hub.task();
  if (!model || m_model->rowCount() == 0) return;
  m_quiet = true;
  // Rows that were open stay open; the model on screen is.
  const std::function<void(const QModelIndex&)> expand = [&](const QModelIndex& parent) {
    for (int r = 0; r < m_filtered->rowCount(parent); ++r) {
      const QModelIndex child = m_filtered->index(r, 0, parent);
      const bool mine = !parent.isValid() && placeOf(child).model == model->id;
      if (mine || m_expanded.contains(child.data(kNounRole).toString())) m_tree->expand(child);
      expand(child);
    }
  };
  expand({});
  QModelIndex best;
  const std::function<void(const QModelIndex&)> find = [&](const QModelIndex& parent) {
    for (int r = 0; r < m_filtered->rowCount(parent); ++r) {
      const QModelIndex child = m_filtered->index(r, 0, parent);
      const Place place = placeOf(child);
      if (place.model != model->id) continue;
      const bool isTask = task >= 0 && static_cast<size_t>(task) < model->taskIds.size() && place.task == model->taskIds[static_cast<size_t>(task)];
      const bool isSession = isTask && place.session && place.session == m_services.hub.session() && m_tree->isExpanded(parent);
      if (!place.task || (isTask && !place.session) || isSession) best = child;
      if (!place.session) find(child);
    }
  };
  find({});
  if (best.isValid() && best != m_tree->currentIndex()) m_tree->setCurrentIndex(best);
  m_quiet = false;
}

}  // namespace tw::app
