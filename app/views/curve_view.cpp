// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/curve_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSettings>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/session_set.h"
#include "app/services/task_board.h"
#include "app/services/trial_service.h"
#include "app/views/session_chip.h"
#include "widgets/charts/activity_chart.h"
#include "widgets/charts/curve_chart.h"
#include "widgets/charts/prediction_chart.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/records/time_kind.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {
constexpr int kSlices = 60, kRefreshMs = 2000;
/// Below this width the sentence has a line of its own.
constexpr int kRoomForLine = 700;
/// Trials arrive in batches of 33 ms; a picture is drawn of every second or third, since drawing is most of what a window does then.
constexpr int kGrowthMs = 80;
}

CurveView::CurveView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_chart(new widgets::CurveChart(this)),
      m_activity(new widgets::ActivityChart(this)),
      m_predictions(new widgets::PredictionChart(this)),
      m_set(new SessionSet(services.hub, services.workspace, services.tuning, this)),
      m_pages(new QStackedWidget(this)) {
  m_pages->addWidget(m_chart);
  m_pages->addWidget(m_activity);
  m_pages->addWidget(m_predictions);
  QWidget* bar = makeBar();
  m_state = new widgets::EmptyState(m_pages, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addWidget(bar);
  box->addWidget(m_state, 1);
  m_refresh.setInterval(kRefreshMs);
  connect(&m_refresh, &QTimer::timeout, this, &CurveView::readActivity);
  connect(&m_refresh, &QTimer::timeout, this, &CurveView::readPredictions);
  connect(&services.trials, &TrialService::storeChanged, this, &CurveView::showStore);
  m_growth.setSingleShot(true);
  m_growth.setInterval(kGrowthMs);
  connect(&m_growth, &QTimer::timeout, this, &CurveView::showGrowth);
  connect(&services.trials, &TrialService::storeGrew, this, [this] {
    if (!m_growth.isActive()) m_growth.start();
  });
  connect(&services.tasks, &TaskBoard::changed, this, [this](const std::vector<int>& tasks) {
    if (std::find(tasks.begin(), tasks.end(), m_services.hub.task()) != tasks.end())
      m_chart->setDefaultSeconds(m_services.tasks.defaultSeconds(m_services.hub.task(), m_services.trials.kind()));
  });
  connect(&services.trials, &TrialService::selectionChanged, this, [this] {
    m_chart->setSelectedTrial(m_services.trials.selected());
    m_predictions->setSelectedTrial(m_services.trials.selected());
  });
  connect(m_predictions, &widgets::PredictionChart::trialActivated, this, [this](qint64 number) { m_services.trials.choose(number); });
  connect(m_predictions, &widgets::PredictionChart::roundChosen, this, &CurveView::showGrowth);
  connect(&services.hub, &SelectionHub::sessionChanged, this, &CurveView::readActivity);
  connect(&services.tuning, &TuneService::stateChanged, this, &CurveView::readActivity);
  connect(m_set, &SessionSet::changed, this, &CurveView::showOverlays);
  connect(m_chart, &widgets::CurveChart::trialActivated, this, [this](qint64 number) { m_services.trials.choose(number); });
  showStore();
}

QComboBox* CurveView::addChoice(const char* id, const QString& name, const QStringList& items) {
  auto* combo = new QComboBox(this);
  combo->setObjectName(QStringLiteral("combo.curve.") + QLatin1String(id));
  combo->setAccessibleName(name);
  combo->setToolTip(name);
  combo->addItems(items);
  const QString key = QStringLiteral("curve/") + QLatin1String(id);
  combo->setCurrentIndex(std::clamp(QSettings().value(key, 0).toInt(), 0, static_cast<int>(items.size()) - 1));
  connect(combo, &QComboBox::currentIndexChanged, this, [key](int i) { QSettings().setValue(key, i); });
  return combo;
}

QWidget* CurveView::makeBar() {
  m_page = addChoice("page", tr("What is shown"), {tr("Curve"), tr("Throughput"), tr("Predictions")});
  m_x = addChoice("x", tr("Horizontal axis"), {tr("over trials"), tr("over time"), tr("over time spent")});
  m_x->setToolTip(tr("Time: since the first trial ended. Time spent: building and measuring alone, without search and pauses."));
  m_unit = addChoice("unit", tr("Unit of the curve"), {tr("GFLOP/s"), tr("time")});
  m_summary = new widgets::ElidedLabel(this);
  m_summary->setObjectName(QStringLiteral("label.curve.summary"));
  connect(m_page, &QComboBox::currentIndexChanged, this, &CurveView::showPage);
  const auto setX = [this](int i) { m_chart->setX(static_cast<widgets::CurveX>(i)); };
  const auto setUnit = [this](int i) { m_chart->setUnit(i == 0 ? widgets::CurveUnit::gflops : widgets::CurveUnit::seconds); };
  connect(m_x, &QComboBox::currentIndexChanged, this, setX);
  connect(m_unit, &QComboBox::currentIndexChanged, this, setUnit);
  setX(m_x->currentIndex());
  setUnit(m_unit->currentIndex());
  auto* bar = new QWidget(this);
  m_bar = new QBoxLayout(QBoxLayout::LeftToRight, bar);
  m_bar->setContentsMargins(6, 2, 6, 0);
  m_bar->setSpacing(2);
  m_bar->addWidget(m_summary, 1);
  auto* line = new QHBoxLayout;
  m_bar->addLayout(line);
  line->addStretch(1);
  line->addWidget(makeSessionChip(m_services, "curve", bar));
  for (QComboBox* combo : {m_page, m_x, m_unit}) line->addWidget(combo);
  return bar;
}

void CurveView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_set->setActive(true);
  showPage(m_page->currentIndex());
}

void CurveView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_set->setActive(false);
  m_refresh.stop();
}

void CurveView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_bar->setDirection(width() >= kRoomForLine * widgets::typeScale() ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

void CurveView::showPage(int page) {
  m_pages->setCurrentIndex(page);
  m_x->setVisible(page == Curve);
  m_unit->setVisible(page == Curve);
  if (page != Curve) {
    readActivity();
    readPredictions();
    m_refresh.start();
  } else {
    m_refresh.stop();
  }
  showGrowth();
}

void CurveView::readActivity() {
  const auto& model = m_services.hub.model();
  if (m_page->currentIndex() != Activity || !isVisible()) return;
  const SessionId session = SessionSet::nearest(m_services.hub, m_services.workspace);
  if (!model || !session || !m_services.workspace.reader()) {
    m_activity->setActivity({}, {});
    return showGrowth();
  }
  const auto work = [reader = m_services.workspace.summaryReader(), session](StopToken) {
    return reader->activity(session, kSlices);
  };
  m_activityJob.replace(m_services.jobs.run<db::Activity>(Lane::summary, this, work, [this, model](Expected<db::Activity> activity) {
    std::vector<std::pair<int64_t, QString>> names;
    for (size_t i = 0; i < model->taskIds.size(); ++i) names.emplace_back(model->taskIds[i].value, QStringLiteral("T%1").arg(i + 1));
    m_activity->setActivity(activity ? *activity : db::Activity(), names);
    showGrowth();
  }));
}

void CurveView::readPredictions() {
  const auto& store = m_services.trials.store();
  if (m_page->currentIndex() != Predictions || !isVisible()) return;
  if (!store) {
    m_predictions->setRounds({}, {}, 0);
    return showGrowth();
  }
  using Rounds = std::vector<widgets::PredictionRound>;
  const auto work = [snapshot = widgets::TrialColumns(*store)](StopToken) -> Expected<Rounds> { return widgets::predictionRounds(snapshot); };
  m_predictionJob.replace(m_services.jobs.run<Rounds>(Lane::work, this, work, [this, store](Expected<Rounds> rounds) {
    if (!rounds) return;
    std::map<uint32_t, QString> names;
    for (const auto& round : *rounds) names[round.space] = QString::fromStdString(store->text(round.space));
    m_predictions->setRounds(std::move(*rounds), names, store->flops());
    showGrowth();
  }));
}

void CurveView::showStore() {
  m_chart->setDefaultSeconds(m_services.tasks.defaultSeconds(m_services.hub.task(), m_services.trials.kind()));
  m_chart->setTimes(m_services.trials.kind());
  m_chart->setStore(m_services.trials.store());
  m_chart->setSelectedTrial(m_services.trials.selected());
  m_predictions->setSelectedTrial(m_services.trials.selected());
  readPredictions();
  showOverlays();
}

void CurveView::showOverlays() {
  std::vector<widgets::CurveChart::Overlay> overlays;
  int style = 0;
  for (const SessionSet::Entry& e : m_set->entries()) {
    // The selected session has its points and its line already.
    if (e.row.id != m_services.hub.session()) overlays.push_back({SessionSet::nameOf(e.row), e.store, style});
    ++style;
  }
  QString name;
  for (const db::SessionRow& row : m_services.workspace.sessions()) {
    if (row.id == m_services.hub.session() && !overlays.empty()) name = SessionSet::nameOf(row);
  }
  m_chart->setName(name);
  m_chart->setOverlays(std::move(overlays));
  showGrowth();
}

void CurveView::showGrowth() {
  m_chart->refresh();
  const bool noSpeed = m_unit->currentIndex() == 0 && m_chart->unit() == widgets::CurveUnit::seconds;
  m_unit->setEnabled(!noSpeed);
  m_unit->setToolTip(noSpeed ? tr("Times: the log does not say how many operations this task has") : m_unit->accessibleName());
  m_summary->setToolTip({});
  if (m_page->currentIndex() == Activity) {
    m_summary->setText(m_activity->isEmpty() ? QString() : m_activity->summary());
    if (!m_activity->isEmpty()) return m_state->showContent();
  } else if (m_page->currentIndex() == Predictions) {
    m_summary->setText(m_predictions->isEmpty() ? QString() : m_predictions->summary());
    m_summary->setToolTip(m_summary->text());
    if (!m_predictions->isEmpty()) return m_state->showContent();
    const auto& store = m_services.trials.store();
    if (store && store->size() > 0)
      return m_state->showEmpty(tr("No predictions"),
                                m_services.trials.isLive()
                                    ? tr("The tuner's first model comes after some trials; tuners without a model make none.")
                                    : tr("The trials of this session were chosen without a cost model. Choose xgb as tuner to see what its models know."),
                                m_services.actions.get(QStringLiteral("tune.start")));
  } else {
    m_summary->setText(m_chart->summary());
    const auto& store = m_services.trials.store();
    const auto& others = m_set->entries();
    if ((store && store->size() > 0) || std::any_of(others.begin(), others.end(), [](const auto& e) { return e.store && e.store->size() > 0; }))
      return m_state->showContent();
  }
  if (m_services.trials.isLoading()) return m_state->showEmpty(tr("Reading trials…"), {});
  if (!m_services.hub.model())
    return m_state->showEmpty(tr("No tuning curve"), tr("Open a model and tune one of its tasks."), m_services.actions.get(QStringLiteral("file.open")));
  if (m_services.trials.isLive())
    return m_state->showEmpty(tr("Waiting for the first trial"), tr("The session has not come to this task yet, or is building its first candidates."));
  if (m_services.hub.session() && m_page->currentIndex() == Curve)
    return m_state->showEmpty(tr("No trials of this task"), tr("The selected session did not try it. Choose another task or session."));
  m_state->showEmpty(tr("No trials yet"), tr("Start a session to see every trial appear here."), m_services.actions.get(QStringLiteral("tune.start")));
}

}  // namespace tw::app
