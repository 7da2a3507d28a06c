// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/trials_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/trial_service.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"
#include "widgets/tuning/trial_model.h"

namespace tw::app {

TrialsView::TrialsView(Services& services, QWidget* parent)
    : QWidget(parent), m_services(services), m_model(new widgets::TrialModel(this)), m_filter(new widgets::TrialFilter(this)), m_table(new QTreeView(this)) {
  using widgets::TrialModel;
  m_filter->setSourceModel(m_model);
  m_table->setModel(m_filter);
  m_table->setObjectName(QStringLiteral("table.trials"));
  m_table->setAccessibleName(tr("Trials"));
  widgets::setUpTable(m_table);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(TrialModel::Number, Qt::AscendingOrder);
  const int widths[] = {46, 110, 78, 72, 60, 80, 120, 70, 70, 74, 300};
  for (int c = 0; c < TrialModel::ColumnCount; ++c) m_table->header()->resizeSection(c, widths[c]);

  auto* keep = new QComboBox(this);
  keep->setObjectName(QStringLiteral("combo.trials.keep"));
  keep->setAccessibleName(tr("Which trials are listed"));
  keep->addItems({tr("All trials"), tr("Successful"), tr("Failed")});
  auto* find = new QLineEdit(this);
  find->setObjectName(QStringLiteral("edit.trials.filter"));
  find->setAccessibleName(tr("Filter trials"));
  find->setPlaceholderText(tr("Filter: number, config, result, message"));
  find->setClearButtonEnabled(true);
  m_count = new QLabel(this);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 2, 6, 0);
  bar->addWidget(keep);
  bar->addWidget(find, 1);
  bar->addWidget(m_count);
  m_state = new widgets::EmptyState(m_table, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addLayout(bar);
  box->addWidget(m_state, 1);

  connect(keep, &QComboBox::currentIndexChanged, this, [this](int i) { m_filter->setKeep(static_cast<widgets::TrialFilter::Keep>(i)), showState(); });
  connect(find, &QLineEdit::textChanged, this, [this](const QString& text) { m_filter->setText(text), showState(); });
  connect(&services.trials, &TrialService::storeChanged, this, &TrialsView::showStore);
  connect(&services.trials, &TrialService::storeGrew, this, [this] {
    const QScrollBar* bar = m_table->verticalScrollBar();
    const bool atEnd = bar->value() == bar->maximum();
    m_model->sync();
    if (atEnd && m_services.hub.trial() < 0) m_table->scrollToBottom();
    showState();
  });
  connect(&services.hub, &SelectionHub::trialChanged, this, &TrialsView::showSelection);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) m_services.hub.setTrial(m_model->store()->number(m_filter->mapToSource(current).row()));
  });
  showStore();
}

void TrialsView::showStore() {
  m_model->setStore(m_services.trials.store());
  showState();
  showSelection();
}

void TrialsView::showState() {
  const auto& store = m_services.trials.store();
  m_count->setText(store ? tr("%1 of %2").arg(widgets::countText(m_filter->rowCount()), widgets::countText(store->size())) : QString());
  if (store && store->size() > 0 && m_filter->rowCount() > 0) return m_state->showContent();
  if (store && store->size() > 0) return m_state->showEmpty(tr("No trial matches"), tr("Change the filter above."));
  if (m_services.trials.isLoading()) return m_state->showEmpty(tr("Reading trials…"), {});
  m_state->showEmpty(tr("No trials"), tr("Trials of the selected task are listed here as they are measured. Start a session or choose an earlier one."),
                     m_services.actions.get(QStringLiteral("tune.start")));
}

void TrialsView::showSelection() {
  const int row = m_model->store() ? m_model->store()->rowOf(m_services.hub.trial()) : -1;
  if (row < 0) {
    if (m_services.hub.trial() < 0) m_table->setCurrentIndex({});
    return;
  }
  const QModelIndex index = m_filter->mapFromSource(m_model->index(row, 0));
  if (index.isValid() && index.row() != m_table->currentIndex().row()) m_table->setCurrentIndex(index);
}

void TrialsView::step(int rows) {
  if (m_filter->rowCount() == 0) return;
  const int row = m_table->currentIndex().isValid() ? m_table->currentIndex().row() + rows : 0;
  m_table->setCurrentIndex(m_filter->index(std::clamp(row, 0, m_filter->rowCount() - 1), 0));
}

void TrialsView::goToBest() {
  const auto& store = m_model->store();
  if (store && !store->improvements().empty()) m_services.hub.setTrial(store->number(store->improvements().back().row));
}

}  // namespace tw::app
