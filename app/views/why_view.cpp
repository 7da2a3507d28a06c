// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/why_view.h"

#include <QCoreApplication>
#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "app/services/task_board.h"
#include "app/services/trial_service.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "app/views/difference_panel.h"
#include "app/views/ledger_panel.h"
#include "widgets/charts/footprint_chart.h"
#include "widgets/charts/launch_chart.h"
#include "widgets/charts/roofline_chart.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/common/scroll_page.h"
#include "widgets/records/time_kind.h"
#include "widgets/theme/theme.h"

namespace tw::app {

namespace {
constexpr int kLeastText = 120;  ///< pixels: lines break where a panel is narrow
}

WhyView::WhyView(Services& services, QWidget* parent) : QWidget(parent), m_services(services) {
  auto* content = new QWidget(this);
  auto* outer = new QVBoxLayout(content);
  outer->setContentsMargins(0, 0, 0, 0);
  QWidget* page = widgets::addScrollPage(outer);
  m_title = new QLabel(page);
  m_title->setObjectName(QStringLiteral("label.why.title"));
  m_machine = new QLabel(page);
  m_machine->setObjectName(QStringLiteral("label.why.machine"));
  m_machine->setForegroundRole(QPalette::PlaceholderText);
  for (QLabel* label : {m_title, m_machine}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setMinimumWidth(kLeastText);
  }
  m_rulesHost = new QWidget(page);
  m_rulesHost->setObjectName(QStringLiteral("why.rules"));
  m_rules = new QVBoxLayout(m_rulesHost);
  m_rules->setContentsMargins(0, 0, 0, 0);
  m_roofline = new widgets::RooflineChart(page);
  m_footprint = new widgets::FootprintChart(page);
  m_launches = new widgets::LaunchChart(page);
  auto* box = new QVBoxLayout(page);
  box->setContentsMargins(8, 6, 8, 6);
  box->addWidget(m_title);
  box->addWidget(m_rulesHost);
  box->addWidget(m_roofline, 1);
  box->addWidget(m_machine);
  box->addWidget(m_footprint);
  box->addWidget(m_launches);
  box->addWidget(new LedgerPanel(services, page));
  box->addWidget(new DifferencePanel(services, page));
  m_state = new widgets::EmptyState(content, this);
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(m_state);
  connect(&services.explain, &ExplainService::explained, this, [this] {
    m_stale = true;
    if (isVisible()) compute();
  });
  connect(&services.trials, &TrialService::storeChanged, this, [this] {
    if (isVisible()) showFacts();
  });
  connect(&services.tuning, &TuneService::stateChanged, this, [this] {
    if (!isVisible()) return;
    measureMachine();
    countEvents();
  });
  showFacts();
}

void WhyView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  measureMachine();
  if (m_stale) compute();
}

void WhyView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) colourRules();
}

void WhyView::measureMachine() {
  const records::Task* task = m_services.hub.taskValue();
  if (!task) return;
  // Another target has other roofs.
  if (const std::string target = task->target.str(); target != m_machineTarget) {
    m_machineTarget = target;
    m_machineJob.stop();
    m_measured.reset();
    m_machineProblem.clear();
    m_measuring = false;
  }
  // It would disturb a session, and be disturbed by it.
  if (m_measured || m_measuring || !m_machineProblem.isEmpty() || m_services.tuning.isActive()) return;
  m_measuring = true;
  m_machineJob.replace(m_services.jobs.run<measure::Roofline>(
      Lane::work, this, [&engine = m_services.engine, target = task->target](StopToken) { return engine.roofline(target); },
      [this](Expected<measure::Roofline> roofline) {
        m_measuring = false;
        if (roofline)
          m_measured = std::move(*roofline);
        else
          m_machineProblem = QString::fromStdString(roofline.error().text());
        showFacts();
      }));
}

void WhyView::compute() {
  m_stale = false;
  measureMachine();
  const records::Task* task = m_services.hub.taskValue();
  m_insight.reset();
  m_counts.reset();
  m_countJob.stop();
  m_problem.clear();
  const auto& explanation = m_services.explain.explanation();
  if (!task || !task->dag || !explanation || explanation->error) {
    m_job.stop();
    return showFacts();
  }
  const auto work = [&engine = m_services.engine, task = *task, steps = m_services.explain.candidate().steps](StopToken) {
    return engine.insight(task, steps);
  };
  m_job.replace(m_services.jobs.run<api::Insight>(Lane::work, this, work, [this](Expected<api::Insight> insight) {
    if (insight)
      m_insight = std::move(*insight);
    else
      m_problem = QString::fromStdString(insight.error().text());
    showFacts();
    countEvents();
  }));
}

void WhyView::countEvents() {
  // It would disturb a session; a processor that nobody times has nothing to count.
  const records::Task* task = m_services.hub.taskValue();
  if (m_counts || !m_insight || !task || task->target.gpu || m_services.tuning.isActive()) return;
  const auto work = [&engine = m_services.engine, task = *task, candidate = m_services.explain.candidate()](StopToken stop) {
    return engine.count(task, candidate, stop);
  };
  m_countJob.replace(m_services.jobs.run<measure::CounterReading>(Lane::work, this, work, [this](Expected<measure::CounterReading> reading) {
    widgets::WhyCounts& counts = m_counts.emplace();
    counts.missing = QString::fromStdString(reading ? reading->missing : reading.error().text());
    for (const measure::EventCount& e : reading ? reading->counts : std::vector<measure::EventCount>()) {
      if (e.event == measure::Event::cycles) counts.cycles = e.count;
      if (e.event == measure::Event::instructions) counts.instructions = e.count;
      if (e.event == measure::Event::l1d_misses) counts.l1Misses = e.count;
      if (e.event == measure::Event::llc_misses) counts.llcMisses = e.count;
      if (e.event == measure::Event::branch_misses) counts.branchMisses = e.count;
    }
    showFacts();
  }));
}

double WhyView::shownSeconds() const {
  // Of the selected trial, else of the best one while the code is its code.
  const auto& store = m_services.trials.store();
  const auto& shown = m_services.explain.candidate();
  if (!store) return 0;
  if (const int row = store->rowOf(m_services.trials.selected()); row >= 0) return store->timed(row) ? store->seconds(row) : 0;
  for (auto best = store->improvements().rbegin(); best != store->improvements().rend(); ++best) {
    if (store->isOf(best->row, shown)) return best->seconds;
  }
  return 0;
}

void WhyView::showFacts() {
  const records::Task* task = m_services.hub.taskValue();
  if (!task)
    return m_state->showEmpty(
        tr("Nothing to explain"),
        tr("Why a kernel is as fast as it is stands here: roofs of the machine, footprints of its loops, rules in words. Open a model first."),
        m_services.actions.get(QStringLiteral("file.open")));
  if (!task->dag) return m_state->showEmpty(tr("Nothing to explain"), tr("This task came from a log that does not hold its computation."));
  if (!m_problem.isEmpty()) return m_state->showEmpty(tr("This point cannot be explained"), m_problem);
  const auto& explanation = m_services.explain.explanation();
  if (explanation && explanation->error) return m_state->showEmpty(tr("This point cannot be built"), QString::fromStdString(explanation->error->text()));
  if (const QString& problem = m_services.explain.problem(); !explanation && !problem.isEmpty())
    return m_state->showEmpty(tr("This point cannot be built"), problem);
  if (!m_insight) return m_state->showEmpty(tr("Looking at the loops…"), {});
  m_state->showContent();

  widgets::WhyFacts facts;
  facts.seconds = shownSeconds();
  facts.flops = m_insight->flops, facts.compulsoryBytes = m_insight->compulsory_bytes, facts.vectorLanes = m_insight->vector_lanes;
  facts.target = task->target;
  facts.usedVectorBits = explanation ? widgets::usedVectorBits(explanation->assembly) : 0;
  if (explanation) {
    facts.lines = widgets::slowestLines(QString::fromStdString(explanation->tir), explanation->shares.own);
    facts.linesSource = QString::fromStdString(explanation->shares.source);
  }
  if (m_counts) facts.counts = *m_counts;
  const bool gpu = task->target.gpu.has_value();
  m_footprint->setVisible(!gpu);
  m_launches->setVisible(gpu);
  if (gpu)
    showLaunches(facts);
  else
    showLoops(facts);
  showRoofline(facts);
  const QString speed =
      tr("%1: %2, %3 GFLOP/s").arg(m_services.hub.model()->titleOf(m_services.hub.task()), widgets::secondsText(facts.seconds), widgets::gflopsText(facts.flops, facts.seconds));
  m_title->setText(facts.seconds > 0 ? widgets::withTimeKind(speed, m_services.trials.kind())
                                     : tr("%1: not measured").arg(m_services.hub.model()->titleOf(m_services.hub.task())));
  showRules(widgets::whyRules(facts));
  // All at once, from the inside out: whatever is painted before everything has its place would lie over what stood there.
  for (QWidget* w = m_rulesHost; w && w != this; w = w->parentWidget()) {
    if (w->layout()) w->layout()->activate();
    QCoreApplication::sendPostedEvents(w, QEvent::LayoutRequest);  // the page grows by this one
  }
}

void WhyView::showLoops(widgets::WhyFacts& facts) {
  std::vector<widgets::FootprintChart::Loop> loops;
  for (const api::LoopInsight& l : m_insight->nest) {
    const bool parallel = l.kind == tir::ForKind::parallel, vector = l.kind == tir::ForKind::vectorized;
    facts.loops.push_back({QString::fromStdString(l.name), parallel, vector, l.extent, l.runs, l.bytes});
    const QString kind = parallel ? tr(", parallel") : vector ? tr(", vector") : tir::is_unrolled(l.kind) ? tr(", unrolled") : QString();
    widgets::FootprintChart::Loop loop{
        QStringLiteral("%1 (%2%3)")
            .arg(QString::fromStdString(l.name), l.extent < 0 ? QString(QChar(0x2014)) : widgets::countText(static_cast<qint64>(l.extent)), kind),
        l.bytes,
        {}};
    for (const auto& [array, bytes] : l.arrays) loop.arrays[QString::fromStdString(array)] = bytes;
    loops.push_back(std::move(loop));
  }
  const Target& t = facts.target;
  m_footprint->setLoops(std::move(loops), {{tr("registers"), t.vector_registers * t.vector_bits / 8.0},
                                           {tr("L1"), static_cast<double>(t.l1d_bytes)},
                                           {tr("L2"), static_cast<double>(t.l2_bytes)},
                                           {tr("L3"), static_cast<double>(t.l3_bytes)}});
}

void WhyView::showLaunches(widgets::WhyFacts& facts) {
  for (const api::LaunchInsight& l : m_insight->launches) {
    widgets::WhyLaunch launch{l.blocks,
                              l.threads,
                              l.registers,
                              l.spilled_registers,
                              l.compiled,
                              l.shared_bytes,
                              l.resident_blocks,
                              l.occupancy,
                              QString::fromStdString(l.limit),
                              l.waves,
                              l.seconds,
                              {},
                              QString::fromStdString(l.limiter)};
    for (const auto& [name, seconds] : l.parts) launch.parts.emplace_back(QString::fromStdString(name), seconds);
    facts.launches.push_back(std::move(launch));
  }
  m_launches->setLaunches(facts.launches);
}

void WhyView::showRoofline(widgets::WhyFacts& facts) {
  const Target& t = facts.target;
  if (m_measured && !m_measured->levels.empty()) {
    facts.peak = m_measured->flop_per_s;
    facts.memoryBytesPerS = m_measured->levels.back().bytes_per_s;
    std::vector<widgets::RooflineChart::Level> levels;
    const auto level = [&](const QString& name, double bytes) { levels.push_back({name, m_measured->bytes_per_s(bytes)}); };
    if (!t.gpu) level(tr("L1"), 0.5 * static_cast<double>(t.l1d_bytes) * t.cores);
    level(tr("L2"), t.gpu ? m_measured->levels.front().bytes : 0.5 * static_cast<double>(t.l2_bytes) * t.cores);
    levels.push_back({tr("memory"), facts.memoryBytesPerS});
    m_roofline->setMachine(facts.peak, std::move(levels));
    const QString roofs = t.gpu ? tr("Roofs of %1: arithmetic %2 GFLOP/s, memory %3 GB/s.").arg(QString::fromStdString(t.gpu->description))
                                : tr("Roofs as measured on this machine with all cores: arithmetic %1 GFLOP/s, memory %2 GB/s.");
    m_machine->setText(roofs.arg(widgets::numberText(facts.peak / 1e9, 3), widgets::numberText(facts.memoryBytesPerS / 1e9, 3)));
  } else {
    m_machine->setText(!m_machineProblem.isEmpty()       ? tr("The machine's roofs cannot be measured: %1").arg(m_machineProblem)
                       : m_services.tuning.isActive() ? tr("The machine's roofs are measured when the session is over.") : tr("Measuring the machine's roofs…"));
  }
  std::vector<widgets::RooflineChart::Point> points;
  const double intensity = facts.compulsoryBytes > 0 ? facts.flops / facts.compulsoryBytes : 0;
  if (facts.seconds > 0 && intensity > 0) points.push_back({tr("shown kernel, %1").arg(widgets::secondsText(facts.seconds)), intensity, facts.flops / facts.seconds});
  const double before = m_services.tasks.defaultSeconds(m_services.hub.task(), m_services.trials.kind());
  if (before > 0 && intensity > 0 && before != facts.seconds) points.push_back({tr("default schedule, %1").arg(widgets::secondsText(before)), intensity, facts.flops / before});
  m_roofline->setPoints(std::move(points));
  m_roofline->setVisible(facts.peak > 0 && facts.flops > 0);
}

void WhyView::showRules(std::vector<widgets::WhyRule> rules) {
  const auto same = [](const widgets::WhyRule& a, const widgets::WhyRule& b) { return a.kind == b.kind && a.sentence == b.sentence && a.formula == b.formula; };
  if (std::equal(rules.begin(), rules.end(), m_shownRules.begin(), m_shownRules.end(), same)) return;
  m_shownRules = std::move(rules);
  qDeleteAll(m_rulesHost->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
  m_sentences.clear();
  for (const widgets::WhyRule& rule : m_shownRules) {
    const bool good = rule.kind == widgets::WhyRule::Kind::good, bad = rule.kind == widgets::WhyRule::Kind::bad;
    auto* sentence = new QLabel(QString(QChar(good ? 0x2713 : bad ? 0x2717 : 0x2022)) + QLatin1Char(' ') + rule.sentence, m_rulesHost);
    auto* formula = new QLabel(rule.formula, m_rulesHost);
    m_sentences.emplace_back(sentence, rule.kind);
    formula->setForegroundRole(QPalette::PlaceholderText);
    formula->setContentsMargins(16, 0, 0, 2);
    for (QLabel* label : {sentence, formula}) {
      label->setTextFormat(Qt::PlainText);
      label->setWordWrap(true);
      label->setMinimumWidth(kLeastText);
      m_rules->addWidget(label);
      label->show();
    }
  }
  colourRules();
}

void WhyView::colourRules() {
  // Qt goes through all widgets that there were before a change of colours: none of them is replaced here.
  const widgets::Theme& theme = widgets::themeOf(this);
  for (const auto& [sentence, kind] : m_sentences) {
    QPalette p = palette();
    p.setColor(QPalette::WindowText, kind == widgets::WhyRule::Kind::good ? theme.success : kind == widgets::WhyRule::Kind::bad ? theme.error : theme.text);
    sentence->setPalette(p);
  }
}

}  // namespace tw::app
