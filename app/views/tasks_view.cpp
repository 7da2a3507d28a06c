// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/tasks_view.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/task_board.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/table_view.h"

namespace tw::app {

TasksView::TasksView(Services& services, QWidget* parent)
    : QWidget(parent), m_services(services), m_table(new QTreeView(this)), m_sorted(new QSortFilterProxyModel(this)) {
  using widgets::TaskModel;
  m_sorted->setSourceModel(services.tasks.model());
  m_sorted->setSortRole(TaskModel::SortRole);
  m_table->setModel(m_sorted);
  m_table->setObjectName(QStringLiteral("table.tasks"));
  m_table->setAccessibleName(tr("Tuning tasks"));
  widgets::setUpTable(m_table);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(TaskModel::Name, Qt::AscendingOrder);
  m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
  m_table->addActions({services.actions.get(QStringLiteral("tune.task")), services.actions.get(QStringLiteral("tune.race"))});
  auto* header = m_table->header();
  header->setStretchLastSection(false);
  const int widths[] = {178, 92, 52, 68, 64, 126, 84, 66, 46, 74, 64, 70, 66};
  for (int c = 0; c < TaskModel::ColumnCount; ++c) header->resizeSection(c, widths[c]);
  m_table->setColumnHidden(TaskModel::Space, true);
  m_table->setColumnHidden(TaskModel::Size, true);
  header->setContextMenuPolicy(Qt::ActionsContextMenu);
  for (int c = 1; c < TaskModel::ColumnCount; ++c) {
    auto* toggle = new QAction(services.tasks.model()->headerData(c, Qt::Horizontal).toString(), header);
    toggle->setCheckable(true);
    toggle->setChecked(!m_table->isColumnHidden(c));
    connect(toggle, &QAction::toggled, m_table, [this, c](bool on) { m_table->setColumnHidden(c, !on); });
    header->addAction(toggle);
  }
  m_state = new widgets::EmptyState(m_table, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) m_services.hub.setTask(m_sorted->mapToSource(current).row());
  });
  connect(&services.hub, &SelectionHub::taskChanged, this, &TasksView::showSelection);
  connect(services.tasks.model(), &QAbstractItemModel::modelReset, this, &TasksView::showState);
  showState();
}

void TasksView::showState() {
  const auto model = m_services.hub.model();
  if (!model)
    m_state->showEmpty(tr("No tasks"), tr("Open a model: it is cut into tuning tasks, one per distinct computation."),
                       m_services.actions.get(QStringLiteral("file.open")));
  else if (model->tasks.empty())
    m_state->showEmpty(tr("No tasks"), tr("This model has no operator that can be tuned."));
  else
    m_state->showContent();
  showSelection();
}

void TasksView::showSelection() {
  const int task = m_services.hub.task();
  if (task < 0) return;
  const QModelIndex row = m_sorted->mapFromSource(m_services.tasks.model()->index(task, 0));
  if (row.isValid() && row.row() != m_table->currentIndex().row()) m_table->setCurrentIndex(row);
}

}  // namespace tw::app
