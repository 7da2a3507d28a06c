// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/landscape_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QTabWidget>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "app/services/trial_service.h"
#include "app/views/session_chip.h"
#include "widgets/charts/heat_map_view.h"
#include "widgets/charts/importance_view.h"
#include "widgets/charts/parallel_view.h"
#include "widgets/charts/projection_view.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/tuning/trial_query.h"

namespace tw::app {
namespace {
/// While trials come in, the pictures follow this often.
constexpr int kFollowMs = 500;

/// The first two knobs with a choice; one twice if there is but one.
std::pair<int, int> firstAxes(const widgets::PointSet& points) {
  std::vector<int> found;
  for (size_t k = 0; k < points.knobs() && found.size() < 2; ++k)
    if (points.axes[k].candidates.size() > 1) found.push_back(static_cast<int>(k));
  return found.empty() ? std::pair(-1, -1) : std::pair(found.front(), found.back());
}
}  // namespace

LandscapeView::LandscapeView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_map(new widgets::HeatMapView(this)),
      m_projection(new widgets::ProjectionView(this)),
      m_parallel(new widgets::ParallelView(this)),
      m_importance(new widgets::ImportanceView(this)),
      m_tabs(new QTabWidget(this)) {
  m_tabs->setObjectName(QStringLiteral("tabs.landscape"));
  m_tabs->setAccessibleName(tr("Pictures of the space"));
  m_tabs->setDocumentMode(true);
  m_tabs->addTab(m_map, tr("Heat map"));
  m_tabs->addTab(m_parallel, tr("Parallel coordinates"));
  m_tabs->addTab(m_projection, tr("Projection"));
  m_tabs->addTab(m_importance, tr("Importance"));
  QWidget* bar = makeBar();
  auto* content = new QWidget(this);
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(2);
  inner->addWidget(bar);
  inner->addWidget(m_tabs, 1);
  m_state = new widgets::EmptyState(content, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);
  m_timer.setSingleShot(true);
  connect(&m_timer, &QTimer::timeout, this, &LandscapeView::compute);
  connect(m_tabs, &QTabWidget::currentChanged, this, [this](int tab) {
    m_axes->setVisible(tab == 0);
    showSummary();
  });
  connect(&services.trials, &TrialService::storeChanged, this, [this] {
    m_timer.stop();
    later();
  });
  connect(&services.trials, &TrialService::storeGrew, this, &LandscapeView::later);
  connect(&services.explain, &ExplainService::spaceChanged, this, &LandscapeView::showSpace);
  connect(&services.hub, &SelectionHub::configNoted, this, [this] { m_map->setIndex(m_services.hub.configIndex()); });
  connect(&services.hub, &SelectionHub::configEdited, this, [this] { m_map->setIndex(m_services.hub.configIndex()); });
  connect(&services.trials, &TrialService::selectionChanged, this, [this] {
    m_projection->setSelectedTrial(m_services.trials.selected());
    m_parallel->setSelectedTrial(m_services.trials.selected());
  });
  connect(&services.hub, &SelectionHub::filterChanged, this, [this](const QString& name) {
    if (name != kTrialsFilter) return;
    if (m_services.hub.filter(kTrialsFilter) != m_ownFilter) m_parallel->clearBrushes();
    m_timer.stop();
    later();
  });
  connect(m_parallel, &widgets::ParallelView::brushed, this, [this](const QString& filter) {
    m_ownFilter = filter;
    m_services.hub.setFilter(kTrialsFilter, filter);
  });
  connect(m_map, &widgets::HeatMapView::trialActivated, this, [this](qint64 number) { m_services.trials.choose(number); });
  connect(m_map, &widgets::HeatMapView::pointActivated, this, [this](qint64 index) { m_services.hub.setConfigIndex(index); });
  connect(m_projection, &widgets::ProjectionView::trialActivated, this, [this](qint64 number) { m_services.trials.choose(number); });
  showSpace();
}

QWidget* LandscapeView::makeBar() {
  auto* bar = new QWidget(this);
  m_summary = new widgets::ElidedLabel(bar);
  m_summary->setObjectName(QStringLiteral("label.landscape.summary"));
  m_axes = new QWidget(bar);
  auto* axes = new QHBoxLayout(m_axes);
  axes->setContentsMargins(0, 0, 0, 0);
  const auto knob = [&](const char* id, const QString& name) {
    auto* label = new QLabel(name, m_axes);
    auto* combo = new QComboBox(m_axes);
    combo->setObjectName(QLatin1String(id));
    combo->setAccessibleName(name);
    combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    label->setBuddy(combo);
    axes->addWidget(label);
    axes->addWidget(combo);
    connect(combo, &QComboBox::currentIndexChanged, this, [this] {
      if (m_quiet) return;
      m_timer.stop();
      later();
    });
    return combo;
  };
  m_x = knob("combo.landscape.x", tr("across"));
  m_y = knob("combo.landscape.y", tr("down"));
  auto* line = new QHBoxLayout(bar);
  line->setContentsMargins(6, 2, 6, 0);
  line->addWidget(m_summary, 1);
  line->addWidget(makeSessionChip(m_services, "landscape", bar));
  line->addWidget(m_axes);
  return bar;
}

void LandscapeView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_stale) compute();
}

void LandscapeView::showSpace() {
  const auto& space = m_services.explain.space().space;
  if (space.get() != m_shownSpace) {
    m_shownSpace = space.get();
    showAxes(space ? space->knobs() : std::vector<space::Knob>(), -1, -1);
  }
  m_timer.stop();
  later();
}

void LandscapeView::showAxes(const std::vector<space::Knob>& knobs, int x, int y) {
  QStringList names;
  for (const space::Knob& knob : knobs)
    if (knob.candidates.size() > 1) names << QString::fromStdString(knob.name);
  QStringList shown;
  for (int i = 0; i < m_x->count(); ++i) shown << m_x->itemText(i);
  if (names == shown && x >= 0) return;
  m_quiet = true;
  for (QComboBox* combo : {m_x, m_y}) {
    combo->clear();
    for (size_t k = 0; k < knobs.size(); ++k) {
      if (knobs[k].candidates.size() > 1) combo->addItem(QString::fromStdString(knobs[k].name), static_cast<int>(k));
    }
  }
  if (x >= 0)
    m_x->setCurrentIndex(m_x->findData(x)), m_y->setCurrentIndex(m_y->findData(y));
  else if (m_y->count() > 1)
    m_y->setCurrentIndex(1);
  m_quiet = false;
}

void LandscapeView::later() {
  m_stale = true;
  if (!isVisible()) return;
  if (!m_timer.isActive()) m_timer.start(m_services.trials.isLive() || m_services.trials.isLoading() ? kFollowMs : 0);
}

void LandscapeView::compute() {
  m_stale = false;
  const Engine::Space& space = m_services.explain.space();
  const auto& store = m_services.trials.store();
  // Where no template tells of the space, the trials' own records do.
  const bool named = !space.space && store && store->layoutCount() > 0;
  if (!named && (!space.space || m_x->count() == 0)) {
    m_job.stop();
    return showState(0);
  }
  const auto query = widgets::TrialQuery::parse(m_services.hub.filter(kTrialsFilter), m_services.explain.spaceMap(), nullptr,
                                                store ? store->knobNames() : std::set<std::string>());
  const double best = store && !store->improvements().empty() ? store->improvements().back().seconds : HUGE_VAL;
  const int x = m_x->count() > 0 ? m_x->currentData().toInt() : -1, y = m_y->count() > 0 ? m_y->currentData().toInt() : -1;
  const auto work = [trials = store ? widgets::TrialColumns(*store) : widgets::TrialColumns(), name = space.name, config = space.space, query, best, x, y,
                     base = m_services.hub.configIndex()](StopToken stop) -> Expected<Computed> {
    Computed c;
    auto points = std::make_shared<widgets::PointSet>(widgets::pointsOf(trials, config ? name : widgets::mostTriedSpace(trials), config, stop));
    const auto [across, down] = x < 0 ? firstAxes(*points) : std::pair(x, y);
    c.map = widgets::heatMap(*points, across, down, base, stop);
    c.projection = std::make_shared<widgets::Projection>(widgets::project(*points, stop));
    c.importance = widgets::importance(*points);
    if (query && !query->isEmpty()) {
      widgets::TrialMatcher matches(*query, best);
      for (const int row : points->row) c.kept.push_back(matches(trials, row) ? 1 : 0);
    }
    c.points = std::move(points);
    return c;
  };
  m_job.replace(m_services.jobs.run<Computed>(Lane::work, this, work, [this](Expected<Computed> computed) {
    if (computed) show(*computed);
  }));
}

void LandscapeView::show(const Computed& c) {
  if (!c.points->space) showAxes(c.points->axes, c.map.x, c.map.y);
  m_map->setMap(c.map, c.points->space);
  m_map->setIndex(m_services.hub.configIndex());
  m_projection->setData(c.points, c.projection);
  m_projection->setSelectedTrial(m_services.trials.selected());
  m_parallel->setData(c.points, c.kept);
  m_parallel->setSelectedTrial(m_services.trials.selected());
  std::vector<std::pair<QString, double>> shares;
  for (size_t k = 0; k < c.importance.size(); ++k) {
    if (c.points->axes[k].candidates.size() > 1) shares.emplace_back(QString::fromStdString(c.points->axes[k].name), c.importance[k]);
  }
  m_importance->setShares(std::move(shares));
  m_spaceName = QString::fromStdString(c.points->name);
  showSummary();
  showState(c.points->size());
}

void LandscapeView::showSummary() {
  if (!m_spaceName.isEmpty()) m_summary->setText(tr("%1: %2").arg(m_spaceName, m_tabs->currentIndex() == 1 ? m_parallel->summary() : m_map->summary()));
}

void LandscapeView::showState(size_t points) {
  const bool needsTrials = !m_services.trials.store() || points == 0;
  for (int tab = 1; tab < m_tabs->count(); ++tab) {
    m_tabs->setTabEnabled(tab, !needsTrials);
    m_tabs->setTabToolTip(tab, needsTrials ? tr("No trials of this space yet") : QString());
  }
  if (needsTrials) m_tabs->setCurrentIndex(0);
  if (!m_services.hub.taskValue())
    return m_state->showEmpty(tr("No space"), tr("Pictures of a task's configuration space stand here. Open a model and select a task."),
                              m_services.actions.get(QStringLiteral("file.open")));
  if (points > 0 && m_x->count() > 0) return m_state->showContent();
  if (!m_services.explain.spacesKnown()) return m_state->showEmpty(tr("Reading the space…"), {});
  if (!m_services.hub.taskValue()->dag)
    return m_state->showEmpty(tr("No space"), tr("This task came from a log that does not hold its computation: what its points stand for is not known here."));
  if (!m_services.explain.space().space || m_x->count() == 0)
    return m_state->showEmpty(tr("Nothing to choose"), tr("No template matches this task, so there is no space to show; it runs with the default schedule."));
  m_state->showContent();
}

}  // namespace tw::app
