// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/space_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "app/services/measure_service.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/tuning/knob_panel.h"

namespace tw::app {
namespace {
constexpr int64_t kLookedAt = 400;
}

SpaceView::SpaceView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_measuring(new MeasureService(services.engine, services.hub, services.workspace, services.tuning, services.explain, services.board, this)),
      m_panel(new widgets::KnobPanel(this)) {
  m_state = new widgets::EmptyState(makeContent(), this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);
  connect(&services.explain, &ExplainService::spaceChanged, this, &SpaceView::showSpace);
  connect(&services.explain, &ExplainService::reasonChanged, m_panel, &widgets::KnobPanel::setReason);
  connect(&services.hub, &SelectionHub::configNoted, this, &SpaceView::showPoint);
  connect(&services.hub, &SelectionHub::configEdited, this, &SpaceView::showPoint);
  connect(m_panel, &widgets::KnobPanel::indexEdited, &services.hub, &SelectionHub::setConfigIndex);
  connect(m_measuring, &MeasureService::changed, this, &SpaceView::showMeasure);
  connect(m_measuring, &MeasureService::failed, m_panel, &widgets::KnobPanel::setReason);
  showSpace();
  showMeasure();
}

QWidget* SpaceView::makeContent() {
  auto* content = new QWidget(this);
  m_space = new QComboBox(content);
  m_space->setObjectName(QStringLiteral("combo.space.template"));
  m_space->setAccessibleName(tr("Template of the task"));
  m_space->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_space->setMinimumContentsLength(12);
  connect(m_space, &QComboBox::activated, this, [this](int i) {
    if (!m_quiet) m_services.explain.setSpace(m_space->itemData(i).toString().toStdString());
  });
  m_measure = new QToolButton(content);
  m_measure->setObjectName(QStringLiteral("button.space.measure"));
  m_measure->setText(tr("Measure"));
  m_measure->setAccessibleName(tr("Measure the point that is shown"));
  connect(m_measure, &QToolButton::clicked, m_measuring, &MeasureService::measure);
  m_facts = new QLabel(content);
  m_facts->setObjectName(QStringLiteral("label.space.facts"));
  m_facts->setTextFormat(Qt::PlainText);
  m_facts->setWordWrap(true);
  m_facts->setForegroundRole(QPalette::PlaceholderText);
  m_facts->setContentsMargins(6, 0, 6, 0);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(6, 4, 6, 0);
  line->addWidget(m_space, 1);
  line->addWidget(m_measure);
  auto* box = new QVBoxLayout(content);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addLayout(line);
  box->addWidget(m_facts);
  box->addWidget(m_panel, 1);
  return content;
}

void SpaceView::showChoices() {
  m_quiet = true;
  m_space->clear();
  for (const Engine::Space& s : m_services.explain.spaces()) {
    const QString name = QString::fromStdString(s.name);
    m_space->addItem(s.searched ? name : tr("%1 (AutoTVM's)").arg(name), name);
    m_space->setItemData(m_space->count() - 1, QString::fromStdString(s.summary + "\n" + s.source).toHtmlEscaped(), Qt::ToolTipRole);
    if (s.name == m_services.explain.space().name) m_space->setCurrentIndex(m_space->count() - 1);
  }
  m_quiet = false;
}

void SpaceView::showSpace() {
  const Engine::Space& space = m_services.explain.space();
  showChoices();
  if (space.space) {
    m_panel->setSpace(space.space, QString::fromStdString(space.name));
    m_panel->setToolTip(QString::fromStdString(space.summary).toHtmlEscaped());
    if (m_sampled != space.space.get()) sample();
    showPoint();
    return m_state->showContent();
  }
  m_panel->setSpace(nullptr, {});
  m_sampled = nullptr;
  if (!m_services.hub.taskValue())
    return m_state->showEmpty(tr("No space"), tr("Select a task to see its knobs."), m_services.actions.get(QStringLiteral("file.open")));
  if (!m_services.explain.spacesKnown()) return m_state->showEmpty(tr("Reading the space…"), {});
  if (!m_services.hub.taskValue()->dag)
    return m_state->showEmpty(tr("No space"),
                              tr("This task came from a log of another program that does not hold its computation, so its points cannot be built here."));
  m_state->showEmpty(tr("Nothing to choose"), tr("No template matches this task, so it runs with the default schedule. The code view shows it."));
}

void SpaceView::showPoint() {
  // Without a point of its own the selection is the default schedule: the knobs show the point that untuned networks use.
  const qint64 chosen = m_services.hub.configIndex();
  m_panel->setIndex(chosen >= 0 || m_services.hub.trial() >= 0 ? chosen : m_byRule);
}

void SpaceView::sample() {
  const Engine::Space& space = m_services.explain.space();
  m_sampled = space.space.get();
  m_byRule = -1;
  m_facts->setText(tr("Looking at its points…"));
  const auto work = [&engine = m_services.engine, task = *m_services.hub.taskValue(), name = space.name](StopToken stop) -> Expected<Looked> {
    return Looked{engine.pointByRule(task, name), engine.sampleSpace(task, name, kLookedAt, stop)};
  };
  m_job.replace(m_services.jobs.run<Looked>(Lane::work, this, work, [this](Expected<Looked> looked) {
    if (!looked) return;
    m_byRule = looked->byRule;
    showPoint();
    showSample(looked->sample);
  }));
}

void SpaceView::showSample(const Engine::SpaceSample& s) {
  if (s.looked == 0) return m_facts->clear();
  const auto share = [&](int64_t count) { return widgets::percentText(static_cast<double>(count) / static_cast<double>(s.looked)); };
  QStringList lines{s.all ? tr("%1 % of its points can be built.").arg(share(s.legal))
                          : tr("About %1 % of its points can be built (%2 looked at).").arg(share(s.legal), widgets::countText(s.looked))};
  std::vector<std::pair<int64_t, std::string>> reasons;
  for (const auto& [reason, count] : s.refused) reasons.emplace_back(count, reason);
  std::sort(reasons.rbegin(), reasons.rend());
  for (size_t i = 0; i < std::min<size_t>(3, reasons.size()); ++i)
    lines << QStringLiteral("%1 %: %2").arg(share(reasons[i].first), QString::fromStdString(reasons[i].second).left(90));
  m_facts->setText(lines.join(QLatin1Char('\n')));
  QStringList all;
  for (const auto& [count, reason] : reasons) all << QStringLiteral("%1 %: %2").arg(share(count), QString::fromStdString(reason));
  m_facts->setToolTip(all.join(QLatin1Char('\n')).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")));
}

void SpaceView::showMeasure() {
  const QString why = m_measuring->obstacle();
  m_measure->setEnabled(why.isEmpty());
  m_measure->setText(m_measuring->isBusy() ? tr("Measuring…") : tr("Measure"));
  m_measure->setToolTip(why.isEmpty() ? tr("Builds and times the point that is shown, as a trial of a session by hand")
                                      : tr("Measure the point that is shown: %1").arg(why));
}

}  // namespace tw::app
