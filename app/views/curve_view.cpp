// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/curve_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSettings>
#include <QVBoxLayout>
#include <algorithm>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/task_board.h"
#include "app/services/trial_service.h"
#include "widgets/charts/curve_chart.h"
#include "widgets/common/empty_state.h"

namespace tw::app {

CurveView::CurveView(Services& services, QWidget* parent) : QWidget(parent), m_services(services), m_chart(new widgets::CurveChart(this)) {
  m_unit = new QComboBox(this);
  m_unit->setObjectName(QStringLiteral("combo.curve.unit"));
  m_unit->setAccessibleName(tr("Unit of the curve"));
  m_unit->addItem(tr("Speed [GFLOP/s]"));
  m_unit->addItem(tr("Time [ms]"));
  m_summary = new QLabel(this);
  m_summary->setObjectName(QStringLiteral("label.curve.summary"));
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 2, 6, 0);
  bar->addWidget(m_summary, 1);
  bar->addWidget(m_unit);
  m_state = new widgets::EmptyState(m_chart, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addLayout(bar);
  box->addWidget(m_state, 1);

  connect(m_unit, &QComboBox::currentIndexChanged, this, [this](int i) {
    m_chart->setUnit(i == 0 ? widgets::CurveUnit::gflops : widgets::CurveUnit::milliseconds);
    QSettings().setValue(QStringLiteral("curve/unit"), i);
  });
  m_unit->setCurrentIndex(std::clamp(QSettings().value(QStringLiteral("curve/unit"), 0).toInt(), 0, 1));
  connect(&services.trials, &TrialService::storeChanged, this, &CurveView::showStore);
  connect(&services.trials, &TrialService::storeGrew, this, &CurveView::showGrowth);
  connect(&services.tasks, &TaskBoard::changed, this, [this](const std::vector<int>& tasks) {
    if (std::find(tasks.begin(), tasks.end(), m_services.hub.task()) != tasks.end())
      m_chart->setDefaultSeconds(m_services.tasks.defaultSeconds(m_services.hub.task()));
  });
  connect(&services.hub, &SelectionHub::trialChanged, this, [this] { m_chart->setSelectedTrial(m_services.hub.trial()); });
  connect(m_chart, &widgets::CurveChart::trialActivated, this, [this](qint64 number) { m_services.hub.setTrial(number); });
  showStore();
}

void CurveView::showStore() {
  m_chart->setDefaultSeconds(m_services.tasks.defaultSeconds(m_services.hub.task()));
  m_chart->setStore(m_services.trials.store());
  showGrowth();
}

void CurveView::showGrowth() {
  m_chart->refresh();
  m_summary->setText(m_chart->summary());
  const auto& store = m_services.trials.store();
  if (store && store->size() > 0) return m_state->showContent();
  if (m_services.trials.isLoading()) return m_state->showEmpty(tr("Reading trials…"), {});
  if (!m_services.hub.model())
    return m_state->showEmpty(tr("No tuning curve"), tr("Open a model and tune one of its tasks."), m_services.actions.get(QStringLiteral("file.open")));
  if (m_services.trials.isLive())
    return m_state->showEmpty(tr("Waiting for the first trial"), tr("The session has not come to this task yet, or is building its first candidates."));
  if (m_services.hub.session())
    return m_state->showEmpty(tr("No trials of this task"), tr("The selected session did not try it. Choose another task or session."));
  m_state->showEmpty(tr("No trials yet"), tr("Start a session to see every trial appear here."), m_services.actions.get(QStringLiteral("tune.start")));
}

}  // namespace tw::app
