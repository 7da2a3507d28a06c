// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/tasks_view.h"

#include <QEvent>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QStyle>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/task_board.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/table_view.h"
#include "widgets/theme/theme.h"

namespace tw::app {

namespace {
constexpr int kNameDigits = 28;  ///< characters that tell a task from the others
constexpr int kRoomyDigits = 110;  ///< from this width on all columns are there, though some are scrolled to
}

using widgets::TaskModel;

TasksView::TasksView(Services& services, QWidget* parent)
    : QWidget(parent), m_services(services), m_table(new QTreeView(this)), m_sorted(new QSortFilterProxyModel(this)) {
  m_sorted->setSourceModel(services.tasks.model());
  m_sorted->setSortRole(TaskModel::SortRole);
  m_table->setModel(m_sorted);
  m_table->setObjectName(QStringLiteral("table.tasks"));
  m_table->setAccessibleName(tr("Tuning tasks"));
  widgets::setUpTable(m_table);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(TaskModel::Name, Qt::AscendingOrder);
  widgets::offerActions(m_table);
  for (const char* name : {"tune.task", "tune.race", "trial.best", "trial.why", "trial.code"}) m_table->addAction(services.actions.get(QLatin1String(name)));
  auto* header = m_table->header();
  header->setStretchLastSection(false);
  // What people tune for stands next to the name.
  int at = 1;
  for (const int column : {TaskModel::Speedup, TaskModel::Best, TaskModel::Cost, TaskModel::Gain, TaskModel::Trials}) header->moveSection(header->visualIndex(column), at++);
  fitColumns();
  widgets::offerActions(header);
  for (int c = 1; c < TaskModel::ColumnCount; ++c) {
    auto* toggle = new QAction(services.tasks.model()->headerData(c, Qt::Horizontal).toString(), header);
    toggle->setCheckable(true);
    toggle->setData(c);
    toggle->setChecked(!m_table->isColumnHidden(c));
    connect(toggle, &QAction::triggered, m_table, [this, c](bool on) {
      m_ownColumns = true;
      m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
      m_table->setColumnHidden(c, !on);
    });
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

void TasksView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitColumns();
}

void TasksView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  // After the table, which makes its columns wider with its letters.
  if (event->type() == QEvent::FontChange) QMetaObject::invokeMethod(this, &TasksView::fitColumns, Qt::QueuedConnection);
}

void TasksView::fitColumns() {
  if (m_ownColumns) return;
  QHeaderView* header = m_table->header();
  // In characters, so that large letters fit too.
  const int widths[] = {40, 14, 9, 10, 11, 20, 13, 11, 9, 11, 11, 12, 11, 11, 11};
  const int digit = fontMetrics().horizontalAdvance(QLatin1Char('0'));
  const bool narrow = width() < kRoomyDigits * digit;
  m_table->setHorizontalScrollBarPolicy(narrow ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
  for (int c = 1; c < TaskModel::ColumnCount; ++c) {
    m_table->setColumnHidden(c, narrow || c == TaskModel::Space || c == TaskModel::Size);
    if (!narrow) header->resizeSection(c, widths[c] * digit);
  }
  int name = widths[0] * digit;
  if (narrow) {
    // In a side panel there is room for what tuning is about: as much of it as leaves a name that tells a task from the others.
    name = width() - m_table->style()->pixelMetric(QStyle::PM_ScrollBarExtent) - 2 * m_table->style()->pixelMetric(QStyle::PM_DefaultFrameWidth);
    for (const int c : {TaskModel::Speedup, TaskModel::Cost, TaskModel::Best, TaskModel::Gain, TaskModel::Trials}) {
      const int wide = std::max(9 * digit, header->sectionSizeHint(c));
      if (c != TaskModel::Speedup && name - wide < kNameDigits * digit) break;
      m_table->setColumnHidden(c, false);
      header->resizeSection(c, wide);
      name -= wide;
    }
  }
  header->resizeSection(TaskModel::Name, std::max(14 * digit, name));
  for (QAction* toggle : m_table->header()->actions()) toggle->setChecked(!m_table->isColumnHidden(toggle->data().toInt()));
}

void TasksView::showGains() {
  m_table->sortByColumn(TaskModel::Gain, Qt::DescendingOrder);
  if (m_sorted->rowCount() > 0) m_services.hub.setTask(m_sorted->mapToSource(m_sorted->index(0, 0)).row(), SelectionHub::Way::followed);
}

void TasksView::showState() {
  const auto model = m_services.hub.model();
  if (!model)
    m_state->showEmpty(tr("No tasks"), tr("Open a model: it is cut into tuning tasks, one per distinct computation."),
                       m_services.actions.get(QStringLiteral("file.open")));
  else if (!model->isWhole)
    m_state->showEmpty(tr("Tasks are being made"), tr("The graph is there already. Tasks and what the workspace knows of them follow; the line below says how far it is."));
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
