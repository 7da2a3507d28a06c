// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/trials_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QScrollBar>
#include <QSplitter>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "app/services/trial_service.h"
#include "app/services/workspace.h"
#include "app/views/session_chip.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/error_label.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"
#include "widgets/records/time_kind.h"
#include "widgets/tuning/trial_model.h"
#include "widgets/tuning/trials_beside.h"

namespace tw::app {

TrialsView::TrialsView(Services& services, QWidget* parent)
    : QWidget(parent), m_services(services), m_model(new widgets::TrialModel(this)), m_tray(new widgets::SideBySideModel(this)), m_table(new QTreeView(this)) {
  using widgets::TrialModel;
  m_table->setModel(m_model);
  m_table->setObjectName(QStringLiteral("table.trials"));
  m_table->setAccessibleName(tr("Trials"));
  widgets::setUpTable(m_table);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(TrialModel::Number, Qt::AscendingOrder);
  const int widths[] = {64, 74, 120, 78, 78, 60, 90, 150, 260, 76, 72, 72, 74, 300};
  for (int c = 0; c < TrialModel::ColumnCount; ++c) m_table->header()->resizeSection(c, widths[c]);
  widgets::offerActions(m_table);
  auto* pin = new QAction(tr("Put into or take out of the tray"), m_table);
  pin->setObjectName(QStringLiteral("menu.trials.tray"));
  connect(pin, &QAction::triggered, this, &TrialsView::toggleTray);
  for (const char* name : {"trial.why", "trial.code", "trial.best", "code.keepBase", "file.exportTrial"}) m_table->addAction(services.actions.get(QLatin1String(name)));
  m_table->addAction(pin);
  m_state = new widgets::EmptyState(m_table, this);
  auto* split = new QSplitter(Qt::Vertical, this);
  split->setChildrenCollapsible(false);
  split->addWidget(m_state);
  split->addWidget(makeTray());
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addWidget(makeBar());
  box->addWidget(split, 1);

  connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
    if (!m_quiet) m_services.hub.setFilter(kTrialsFilter, text);
  });
  connect(&services.hub, &SelectionHub::filterChanged, this, [this](const QString& name) {
    if (name == kTrialsFilter) showFilter();
  });
  connect(&services.explain, &ExplainService::spaceChanged, this, [this] {
    m_model->setSpaces(m_services.explain.spaceMap());
    showFilter();
    showTray();
  });
  connect(&services.trials, &TrialService::storeChanged, this, &TrialsView::showStore);
  connect(&services.workspace, &Workspace::sessionsChanged, this, &TrialsView::showTimes);
  connect(&services.trials, &TrialService::storeGrew, this, [this] {
    const QScrollBar* bar = m_table->verticalScrollBar();
    const bool atEnd = bar->value() == bar->maximum();
    // Knobs that no trial had before may be what the filter asks for.
    if (const auto& store = m_services.trials.store(); store && store->layoutCount() != m_layouts) showFilter();
    m_model->sync();
    showSelection();
    if (atEnd && m_services.hub.trial() < 0) m_table->scrollToBottom();
    showState();
  });
  connect(m_model, &TrialModel::arrangingChanged, this, [this] {
    showState();
    showSelection();
  });
  connect(m_model, &QAbstractItemModel::modelReset, this, &TrialsView::showSelection);
  connect(&services.trials, &TrialService::selectionChanged, this, &TrialsView::showSelection);
  connect(&services.hub, &SelectionHub::trayChanged, this, &TrialsView::showTray);
  connect(&services.hub, &SelectionHub::modelChanged, this, &TrialsView::showTray);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid() && !m_quiet) m_services.trials.choose(m_model->store()->number(m_model->storeRow(current.row())));
  });
  m_model->setSpaces(services.explain.spaceMap());
  showFilter();
  showStore();
  showTray();
}

QWidget* TrialsView::makeBar() {
  auto* bar = new QWidget(this);
  m_filter = new QLineEdit(bar);
  m_filter->setObjectName(QStringLiteral("edit.trials.filter"));
  m_filter->setAccessibleName(tr("Filter trials"));
  m_filter->setPlaceholderText(tr("Filter, such as  gflops>50 & status=ok"));
  m_filter->setToolTip(
      tr("Comparisons with =, !=, <, <=, >, >= and ~ (contains), joined by & and |, turned round by !. Fields: number, time, gflops, ratio, build, "
         "run, config, predicted, status, space, message, and every knob; tile[0] is the outermost factor of a split. A word alone is looked for in "
         "outcome, space and message."));
  m_filter->setClearButtonEnabled(true);
  auto* examples = new QToolButton(bar);
  examples->setObjectName(QStringLiteral("button.trials.filters"));
  examples->setText(tr("Filters"));
  examples->setAccessibleName(tr("Filters to begin with"));
  examples->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(examples);
  const auto example = [&](const QString& text, const QString& filter) {
    connect(menu->addAction(QStringLiteral("%1\t%2").arg(text, filter)), &QAction::triggered, this,
            [this, filter] { m_services.hub.setFilter(kTrialsFilter, filter); });
  };
  example(tr("All trials"), QString());
  example(tr("Successful"), QStringLiteral("status=ok"));
  example(tr("Failed"), QStringLiteral("status=failed"));
  example(tr("Within 10 % of the best"), QStringLiteral("ratio<=1.1"));
  example(tr("Timeouts"), QStringLiteral("status~timeout"));
  examples->setMenu(menu);
  m_count = new QLabel(bar);
  m_count->setObjectName(QStringLiteral("label.trials.count"));
  auto* pin = new QToolButton(bar);
  pin->setObjectName(QStringLiteral("button.trials.tray"));
  pin->setText(tr("Side by side"));
  pin->setToolTip(tr("Puts the selected trial beside others, at most %1; again to take it out").arg(SelectionHub::kTrayLimit));
  pin->setAccessibleName(pin->text());
  connect(pin, &QToolButton::clicked, this, &TrialsView::toggleTray);
  m_problem = new widgets::ErrorLabel(bar);
  m_problem->setObjectName(QStringLiteral("label.trials.problem"));
  auto* line = new QHBoxLayout;
  line->addWidget(m_filter, 1);
  line->addWidget(examples);
  auto* below = new QHBoxLayout;
  below->addWidget(m_count, 1);
  below->addWidget(makeSessionChip(m_services, "trials", bar));
  below->addWidget(pin);
  auto* box = new QVBoxLayout(bar);
  box->setContentsMargins(6, 2, 6, 0);
  box->setSpacing(2);
  box->addLayout(line);
  box->addLayout(below);
  box->addWidget(m_problem);
  return bar;
}

QWidget* TrialsView::makeTray() {
  m_trayPanel = new QWidget(this);
  m_trayTable = new QTreeView(m_trayPanel);
  m_trayTable->setModel(m_tray);
  m_trayTable->setObjectName(QStringLiteral("table.tray"));
  m_trayTable->setAccessibleName(tr("Trials side by side"));
  widgets::setUpTable(m_trayTable);
  auto* title = new QLabel(tr("Side by side"), m_trayPanel);
  auto* clear = new QToolButton(m_trayPanel);
  clear->setObjectName(QStringLiteral("button.tray.clear"));
  clear->setText(tr("Clear"));
  clear->setAccessibleName(tr("Take all trials out"));
  connect(clear, &QToolButton::clicked, this, [this] { m_services.hub.setTray({}); });
  auto* line = new QHBoxLayout;
  auto* compare = new QToolButton(m_trayPanel);
  compare->setObjectName(QStringLiteral("button.tray.code"));
  compare->setDefaultAction(m_services.actions.get(QStringLiteral("code.compareTray")));
  compare->setAccessibleName(tr("Compare the code of the trials side by side"));
  line->addWidget(title, 1);
  line->addWidget(compare);
  line->addWidget(clear);
  line->setContentsMargins(6, 2, 6, 0);
  auto* box = new QVBoxLayout(m_trayPanel);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addLayout(line);
  box->addWidget(m_trayTable, 1);
  return m_trayPanel;
}

void TrialsView::showTimes() {
  m_model->setTimes(m_services.trials.kind());
  showState();
}

void TrialsView::showStore() {
  m_quiet = true;
  m_model->setStore(m_services.trials.store());
  m_quiet = false;
  m_table->setColumnHidden(widgets::TrialModel::Session, !m_services.trials.store() || !m_services.trials.store()->isOfSessions());
  if (const auto& store = m_services.trials.store(); store && store->layoutCount() != m_layouts) showFilter();
  showTimes();
  showSelection();
}

void TrialsView::showFilter() {
  const QString text = m_services.hub.filter(kTrialsFilter);
  if (m_filter->text() != text) {
    m_quiet = true;
    m_filter->setText(text);
    m_quiet = false;
  }
  QString problem;
  const auto& store = m_services.trials.store();
  m_layouts = store ? store->layoutCount() : 0;
  const auto query = widgets::TrialQuery::parse(text, m_services.explain.spaceMap(), &problem, store ? store->knobNames() : std::set<std::string>());
  m_problem->showProblem(problem);
  if (!query) return;  // the rows of the last filter that made sense stay
  m_quiet = true;
  m_model->setQuery(*query);
  m_quiet = false;
  showState();
  showSelection();
}

void TrialsView::showState() {
  const auto& store = m_services.trials.store();
  QString count = store ? tr("%1 of %2").arg(widgets::countText(m_model->rowCount()), widgets::countText(store->size())) : QString();
  if (m_services.trials.isLoading() || m_model->isArranging()) count += QString(QChar(0x2026));
  if (store) count = widgets::withTimeKind(count, m_model->times());
  m_count->setText(count);
  if (store && store->size() > 0 && (m_model->rowCount() > 0 || m_model->isArranging())) return m_state->showContent();
  if (store && store->size() > 0) return m_state->showEmpty(tr("No trial matches"), tr("Change the filter above."));
  if (m_services.trials.isLoading()) return m_state->showEmpty(tr("Reading trials…"), {});
  m_state->showEmpty(tr("No trials"), tr("Trials of the selected task are listed here as they are measured. Start a session or choose an earlier one."),
                     m_services.actions.get(QStringLiteral("tune.start")));
}

void TrialsView::showSelection() {
  const int row = m_model->rowOfNumber(m_services.trials.selected());
  m_quiet = true;
  if (row >= 0 && row != m_table->currentIndex().row()) m_table->setCurrentIndex(m_model->index(row, 0));
  if (row < 0) m_table->setCurrentIndex({});
  m_quiet = false;
}

void TrialsView::step(int rows) {
  if (m_model->rowCount() == 0) return;
  const int row = m_table->currentIndex().isValid() ? m_table->currentIndex().row() + rows : 0;
  m_table->setCurrentIndex(m_model->index(std::clamp(row, 0, m_model->rowCount() - 1), 0));
}

void TrialsView::goToBest() { m_services.trials.chooseBest(); }

void TrialsView::toggleTray() {
  if (m_services.hub.trial() >= 0) m_services.hub.toggleTray(m_services.hub.trialRef());
}

void TrialsView::showTray() {
  const std::vector<TrialRef> refs = m_services.hub.tray();
  const OpenModelPtr model = m_services.hub.model();
  m_trayPanel->setVisible(!refs.empty());
  if (refs.empty() || !model || !m_services.workspace.reader()) {
    m_trayJob.stop();
    return m_tray->set({}, {}, {});
  }
  using Entries = std::vector<widgets::TrialBeside>;
  const auto work = [refs, model, reader = m_services.workspace.reader()](StopToken) -> Expected<Entries> {
    Entries entries;
    for (const TrialRef& ref : refs) {
      const auto task = static_cast<size_t>(ref.task);
      if (task >= model->taskIds.size()) continue;
      TW_TRY(auto row, reader->trial(ref.session, model->taskIds[task], ref.number));
      if (!row) continue;
      entries.push_back({tr("T%1 session %2 trial %3").arg(ref.task + 1).arg(ref.session.value).arg(ref.number),
                         static_cast<double>(model->tasks[task].task.flops), std::move(row->record)});
    }
    return entries;
  };
  m_trayJob.replace(m_services.jobs.run<Entries>(Lane::database, this, work, [this](Expected<Entries> entries) {
    if (!entries) return;
    QStringList titles;
    for (const widgets::TrialBeside& e : *entries) titles << e.title;
    m_tray->set(tr("Property"), titles, widgets::trialsBeside(*entries, m_services.explain.spaceMap()));
    for (int c = 0; c < m_tray->columnCount(); ++c) m_trayTable->header()->resizeSection(c, c == 0 ? 190 : 170);
  }));
}

}  // namespace tw::app
