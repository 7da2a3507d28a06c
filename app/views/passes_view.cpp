// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/passes_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "app/services/pass_cost_service.h"
#include "app/views/pass_cost_panel.h"
#include "app/views/pass_picture.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/ir/code_pane.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {

constexpr int kLowHeight = 330;     ///< below it the strip is lower, and what a pass does shares its line with what it is worth
constexpr int kBesideWidth = 980;   ///< from here on the picture has room beside sixty characters
constexpr int kSidesWidth = 1060;   ///< from here on before and after have room beside each other there
constexpr int kBesideHeight = 420;  ///< and from here on one over the other

/// ▲: the network takes longer without the pass. ▼: shorter. ≈: the interval holds 1. =: what the pass changed makes no other program. ✗: it does not work
/// without.
widgets::PassStrip::Cost stripCost(const api::PassCost& c, bool changed) {
  widgets::PassStrip::Cost cost;
  cost.help = PassCostPanel::sentence(c);
  const auto number = [](double n) { return widgets::numberText(n, 3); };
  if (!c.problem.empty())
    cost.ratio = QChar(0x2717);
  else if (!c.differs)
    cost.ratio = changed ? QStringLiteral("=") : QString();
  else if (c.measured)
    cost.ratio = QChar(c.ratio.surely_slower()   ? 0x25B2
                       : c.ratio.surely_faster() ? 0x25BC
                                                 : 0x2248) +
                 number(c.ratio.ratio) + QChar(0x00D7),
    cost.interval = number(c.ratio.low) + QChar(0x2013) + number(c.ratio.high);
  return cost;
}

}  // namespace

PassesView::PassesView(Services& services, QWidget* parent) : QWidget(parent), m_services(services) {
  auto* content = new QWidget(this);
  m_what = new QComboBox(content);
  m_what->setObjectName(QStringLiteral("combo.passes.what"));
  m_what->setAccessibleName(tr("Whose passes are shown"));
  m_what->addItems({tr("Shown kernel"), tr("Network")});
  m_title = new widgets::ElidedLabel(content);
  m_title->setObjectName(QStringLiteral("label.passes.title"));
  m_strip = new widgets::PassStrip(content);
  m_about = new widgets::ElidedLabel(content);
  m_about->setObjectName(QStringLiteral("label.passes.about"));
  m_about->setForegroundRole(QPalette::PlaceholderText);
  m_divergence = new QLabel(content);
  m_divergence->setObjectName(QStringLiteral("label.passes.divergence"));
  m_cost = new widgets::ElidedLabel(content);
  m_cost->setObjectName(QStringLiteral("label.passes.cost"));
  m_divergence->setTextFormat(Qt::PlainText);
  m_divergence->setWordWrap(true);
  m_text = new widgets::CodePane(widgets::CodeLanguage::tir, tr("IR"), content);
  m_text->setObjectName(QStringLiteral("view.passes.text"));
  const auto button = [&](const char* name, const QString& text, const QString& help) {
    auto* b = new QToolButton(content);
    b->setObjectName(QStringLiteral("button.passes.") + QLatin1String(name));
    b->setText(text);
    b->setAccessibleName(help);
    b->setToolTip(help);
    return b;
  };
  m_jump = button("divergence", tr("Go there"), tr("Compare both after the first pass that makes them different"));
  m_against = button("against", tr("Against the other"), tr("Compare with the other candidate after the same pass instead of with the pass before"));
  m_against->setCheckable(true);
  auto* head = new QHBoxLayout;
  head->addWidget(m_what);
  head->addWidget(m_title, 1);
  for (const bool forward : {false, true}) {
    auto* b =
        button(forward ? "next" : "previous", forward ? QStringLiteral("]") : QStringLiteral("["), forward ? tr("Next pass (])") : tr("Previous pass ([)"));
    connect(b, &QToolButton::clicked, this, [this, forward] { step(forward ? 1 : -1); });
    head->addWidget(b);
  }
  auto* other = new QHBoxLayout;
  other->addWidget(m_divergence, 1);
  other->addWidget(m_jump);
  other->addWidget(m_against);
  m_without = button("without", tr("Without this pass"),
                     tr("Compile the network without this pass, and run it and the one with all passes by turns in fresh processes: what the pass is worth"));
  m_alone = new QCheckBox(tr("In this kernel alone"), content);
  m_alone->setObjectName(QStringLiteral("check.passes.alone"));
  m_alone->setToolTip(tr("Leave kernel passes out of the kernels of the selected task alone, not of all kernels of the network"));
  auto* worth = new QHBoxLayout;
  worth->addWidget(m_cost, 1);
  worth->addWidget(m_alone);
  worth->addWidget(m_without);
  // Beside the tabs, where it takes no line.
  auto* corner = new QWidget(content);
  auto* changes = new QHBoxLayout(corner);
  changes->setContentsMargins(0, 0, 0, 0);
  for (const bool forward : {false, true}) {
    auto* b = button(forward ? "nextChange" : "previousChange", QString(QChar(forward ? 0x25BC : 0x25B2)), forward ? tr("Next change") : tr("Previous change"));
    connect(b, &QToolButton::clicked, this, [this, forward] { stepChange(forward); });
    changes->addWidget(b);
  }
  auto* box = new QVBoxLayout(content);
  box->setContentsMargins(6, 4, 6, 2);
  box->setSpacing(3);
  box->addLayout(head);
  box->addWidget(m_strip);
  box->addWidget(m_about);
  box->addLayout(worth);
  box->addLayout(other);
  m_picture = new PassPicture(content);
  m_costs = new PassCostPanel(services, content);
  m_tabs = new QTabWidget(content);
  m_tabs->setObjectName(QStringLiteral("tabs.passes"));
  m_tabs->setAccessibleName(tr("Parts of the passes"));
  m_tabs->setDocumentMode(true);
  m_tabs->addTab(m_text, tr("Difference"));
  m_tabs->addTab(m_picture, tr("Picture"));
  m_tabs->addTab(m_costs, tr("What they are worth"));
  m_tabs->setCornerWidget(corner);
  m_split = new QSplitter(content);
  m_split->setChildrenCollapsible(false);
  m_split->addWidget(m_tabs);
  box->addWidget(m_split, 1);
  m_state = new widgets::EmptyState(content, this);
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(m_state);

  connect(m_strip, &widgets::PassStrip::selected, this, &PassesView::showText);
  connect(m_what, &QComboBox::currentIndexChanged, this, &PassesView::invalidate);
  connect(m_against, &QToolButton::toggled, this, &PassesView::showText);
  connect(m_jump, &QToolButton::clicked, this, [this] {
    m_strip->select(m_traced->divergence, m_traced->divergence);
    m_against->setChecked(true);
    showText();
  });
  connect(m_without, &QToolButton::clicked, this, [this] {
    if (m_services.passCosts.isActive()) return m_services.passCosts.stop();
    if (const api::TracedPass* pass = chosenPass()) m_services.passCosts.measure({pass->name}, costTask());
  });
  connect(m_alone, &QCheckBox::toggled, this, &PassesView::showCosts);
  connect(&services.passCosts, &PassCostService::changed, this, &PassesView::showCosts);
  connect(&services.passCosts, &PassCostService::progressed, this, &PassesView::showCost);
  connect(&services.hub, &SelectionHub::taskChanged, this, &PassesView::showCosts);
  connect(m_costs, &PassCostPanel::passChosen, this, [this](const QString& name) {
    const auto& passes = m_strip->passes();
    const auto at = std::find_if(passes.begin(), passes.end(), [&](const auto& p) { return p.name == name; });
    const int pass = static_cast<int>(at - passes.begin());
    if (at == passes.end() || (m_strip->first() == m_strip->last() && passes[static_cast<size_t>(std::max(0, m_strip->last()))].name == name)) return;
    m_strip->select(pass, pass);
    showText();
  });
  connect(m_tabs, &QTabWidget::currentChanged, this, &PassesView::showPicture);
  connect(m_picture, &PassPicture::lineChosen, this, [this](bool after, int line, bool lit) {
    after ? m_text->goTo(line) : m_text->goToRemoved(line);
    if (lit) m_tabs->setCurrentWidget(m_text);
  });
  connect(m_text, &widgets::CodePane::removedLineActivated, this, [this](int line) { m_place = {false, line}, m_picture->showLine(false, line); });
  // The text after the last pass is what the code view shows as TIR.
  connect(m_text, &widgets::CodePane::lineActivated, this, [this](int line) {
    m_place = {true, line};
    m_picture->showLine(true, line);
    if (m_what->currentIndex() == Kernel && m_strip->last() + 1 == static_cast<int>(m_strip->passes().size()))
      m_services.hub.setPlace({widgets::CodeLanguage::tir, line});
  });
  connect(&services.explain, &ExplainService::explained, this, &PassesView::invalidate);
  connect(&services.explain, &ExplainService::baseExplained, this, &PassesView::invalidate);
  compute();
}

void PassesView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_stale) compute();
  showPicture();
}

void PassesView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool low = height() < kLowHeight * widgets::typeScale();
  if (low != m_low) {
    m_low = low;
    m_strip->setLow(low);
    m_about->setVisible(!low);
    showCost();
  }
  const double scale = widgets::typeScale();
  const bool beside = width() >= kBesideWidth * scale && (width() >= kSidesWidth * scale || height() >= kBesideHeight * scale);
  if (beside == m_beside) return;
  m_beside = beside;
  if (beside) {
    m_split->addWidget(m_picture);
    m_picture->show();
    m_split->setSizes({width() / 2, width() / 2});
  } else {
    m_tabs->insertTab(1, m_picture, tr("Picture"));
  }
  showPicture();
}

void PassesView::invalidate() {
  m_stale = true;
  if (isVisible()) compute();
}

PassesView::Traced PassesView::traced(api::PassTrace trace, std::optional<api::PassTrace> base) {
  Traced t;
  for (size_t i = 0; i < trace.passes.size(); ++i) {
    const api::TracedPass& p = trace.passes[i];
    widgets::PassStrip::Pass pass{QString::fromStdString(p.name), p.seconds, p.changed, 0, 0, QString::fromStdString(p.needed)};
    if (p.changed) {
      const widgets::LineDiff diff = widgets::diffLines(*trace.passes[i - 1].text, *p.text);
      pass.added = diff.added, pass.removed = diff.removed;
    }
    t.strip.push_back(std::move(pass));
  }
  if (base) t.divergence = api::first_divergence(*base, trace);
  t.trace = std::move(trace);
  t.base = std::move(base);
  return t;
}

void PassesView::compute() {
  m_stale = false;
  m_diffJob.stop();
  const OpenModelPtr& model = m_services.hub.model();
  const auto& explanation = m_services.explain.explanation();
  const records::Task* task = m_services.hub.taskValue();
  const bool network = m_what->currentIndex() == Network;
  if (!model || (!network && !task)) {
    m_job.stop();
    return m_state->showEmpty(tr("No passes"), tr("What every pass of the compiler makes of the shown kernel stands here. Open a model first."),
                              m_services.actions.get(QStringLiteral("file.open")));
  }
  if (!network && !task->dag) {
    m_job.stop();
    return m_state->showEmpty(tr("No passes"), tr("This task came from a log that does not hold its computation."));
  }
  if (!network && !explanation) {
    const QString& problem = m_services.explain.problem();
    return m_state->showEmpty(problem.isEmpty() ? tr("Lowering…") : tr("This point cannot be built"), problem);
  }
  if (!m_traced) m_state->showEmpty(tr("Running the passes…"), {});
  std::function<Expected<Traced>(StopToken)> work;
  if (network) {
    work = [&engine = m_services.engine, model](StopToken) -> Expected<Traced> { return traced(engine.graphPasses(model->network, model->target), {}); };
  } else {
    std::optional<std::vector<schedule::Step>> base;
    if (m_services.explain.base()) base = m_services.explain.baseCandidate().steps;
    work = [&engine = m_services.engine, task = *task, steps = m_services.explain.candidate().steps, base](StopToken stop) -> Expected<Traced> {
      api::PassTrace trace = engine.passes(task, steps);
      if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Stopped");
      return traced(std::move(trace), base ? std::optional(engine.passes(task, *base)) : std::nullopt);
    };
  }
  m_job.replace(m_services.jobs.run<Traced>(Lane::work, this, work, [this](Expected<Traced> result) { showTraced(std::move(result)); }));
}

void PassesView::showTraced(Expected<Traced> result) {
  m_traced.reset();
  if (!m_services.hub.model()) return;
  if (!result) return m_state->showEmpty(tr("The passes could not be run"), QString::fromStdString(result.error().text()));
  if (result->trace.passes.empty())
    return m_state->showEmpty(tr("This point cannot be lowered"), result->trace.error ? QString::fromStdString(result->trace.error->text()) : QString());
  m_traced = std::make_shared<const Traced>(std::move(*result));
  m_state->showContent();
  // The same pass stays chosen from one candidate to the next.
  const int first = m_strip->first(), last = m_strip->last(), count = static_cast<int>(m_traced->strip.size());
  const bool same = static_cast<int>(m_strip->passes().size()) == count && last >= 0;
  const auto changed = std::find_if(m_traced->strip.begin(), m_traced->strip.end(), [](const auto& p) { return p.changed; });
  const int start = changed == m_traced->strip.end() ? 0 : static_cast<int>(changed - m_traced->strip.begin());
  m_strip->setPasses(m_traced->strip);
  m_strip->select(same ? first : start, same ? last : start);
  m_strip->setDivergence(m_traced->divergence);
  const QString what = m_what->currentIndex() == Network ? m_services.hub.model()->name : m_services.explain.title();
  m_title->setText(QStringLiteral("%1: %2").arg(what, m_strip->summary()));
  showDivergence();
  showText();
  showCosts();
}

const api::TracedPass* PassesView::chosenPass() const {
  if (!m_traced || m_strip->last() < 1 || m_strip->first() != m_strip->last()) return nullptr;
  return &m_traced->trace.passes[static_cast<size_t>(m_strip->last())];
}

std::string PassesView::costTask() const {
  const records::Task* task = m_what->currentIndex() == Kernel && m_alone->isChecked() ? m_services.hub.taskValue() : nullptr;
  return task ? task->key : std::string();
}

void PassesView::showCosts() {
  if (!m_traced || !m_services.hub.model()) return;
  const std::string task = costTask();
  std::vector<PassCostPanel::Row> rows;
  std::vector<widgets::PassStrip::Cost> costs;
  for (size_t i = 0; i < m_traced->trace.passes.size(); ++i) {
    const api::TracedPass& p = m_traced->trace.passes[i];
    const api::PassCost* cost = i == 0 ? nullptr : m_services.passCosts.costOf(p.name, task);
    costs.push_back(cost ? stripCost(*cost, p.changed) : widgets::PassStrip::Cost());
    const QString name = QString::fromStdString(p.name);
    if (i > 0 && std::none_of(rows.begin(), rows.end(), [&](const auto& r) { return r.pass == name; }))
      rows.push_back({name, QString::fromStdString(p.needed)});
  }
  m_strip->setCosts(costs);
  m_costs->setPasses(std::move(rows), task);
  showCost();
}

void PassesView::showCost() {
  const PassCostService& service = m_services.passCosts;
  const api::TracedPass* pass = chosenPass();
  const QString why = service.cannotMeasure();
  m_alone->setVisible(m_what->currentIndex() == Kernel);
  m_without->setText(service.isActive() ? tr("Stop") : tr("Without this pass"));
  m_without->setEnabled(service.isActive() || (pass && pass->needed.empty() && why.isEmpty()));
  const api::PassCost* cost = pass ? service.costOf(pass->name, costTask()) : nullptr;
  m_cost->setText(service.isActive()              ? service.state()
                  : pass && !pass->needed.empty() ? tr("Cannot be left out: %1").arg(QString::fromStdString(pass->needed))
                  : cost                          ? PassCostPanel::sentence(*cost)
                  : !service.state().isEmpty()    ? service.state()
                  : pass && !why.isEmpty()        ? tr("What it is worth cannot be measured now: %1").arg(why)
                  : m_low                         ? m_about->text()
                                                  : QString());
}

void PassesView::showPicture() {
  if (!m_traced || m_strip->last() < 0 || !m_pictureStale || !m_picture->isVisible()) return;
  m_pictureStale = false;
  const auto first = static_cast<size_t>(m_strip->first()), last = static_cast<size_t>(m_strip->last());
  const auto& passes = m_traced->trace.passes;
  const api::TracedPass& after = passes[last];
  const bool against = m_against->isChecked() && m_traced->base && last < m_traced->base->passes.size();
  const api::TracedPass& before = against ? m_traced->base->passes[last] : passes[first == 0 ? 0 : first - 1];
  using Picture = std::shared_ptr<const widgets::PassScene>;
  const auto work = [one = before.text, two = after.text, graph = before.graph, made = after.graph, font = font()](StopToken stop) -> Expected<Picture> {
    std::optional<widgets::PassScene> scene =
        graph && made ? widgets::graphPassScene(*graph, *made, font, stop) : widgets::nestPassScene(*one, *two, font, stop);
    if (!scene) return Error(ErrorCode::cancelled, "Stopped");
    return Picture(std::make_shared<const widgets::PassScene>(std::move(*scene)));
  };
  m_pictureJob.replace(m_services.jobs.run<Picture>(Lane::work, this, work, [this](Expected<Picture> picture) {
    m_picture->setScene(picture ? *picture : nullptr, picture ? QString() : QString::fromStdString(picture.error().text()));
    if (m_place) m_picture->showLine(m_place->first, m_place->second);
  }));
}

void PassesView::showDivergence() {
  const bool kernel = m_what->currentIndex() == Kernel;
  const bool base = m_traced->base.has_value();
  m_jump->setVisible(base && m_traced->divergence >= 0);
  m_against->setVisible(base);
  if (!base) m_against->setChecked(false);
  m_divergence->setVisible((kernel && base) || m_traced->trace.error);
  // How to see more is said where it takes no line.
  m_title->setToolTip(kernel && !base ? m_title->text().toHtmlEscaped() + QStringLiteral("<br>") + tr("To see where two candidates part, choose another one under Difference in the code view.") : QString());
  if (m_traced->trace.error) return m_divergence->setText(QString::fromStdString(m_traced->trace.error->text()));
  if (!base) return;
  const QString other = m_services.explain.baseTitle();
  if (m_traced->divergence < 0)
    m_divergence->setText(tr("%1 has the same structure after every pass; numbers may differ.").arg(other));
  else if (m_traced->divergence == 0)
    m_divergence->setText(tr("%1 differs in structure before the first pass.").arg(other));
  else
    m_divergence->setText(tr("%1 differs in structure from pass %2 on, %3.")
                              .arg(other)
                              .arg(m_traced->divergence)
                              .arg(QString::fromStdString(m_traced->trace.passes[static_cast<size_t>(m_traced->divergence)].name)));
}

void PassesView::showText() {
  if (!m_traced || m_strip->last() < 0) return;
  const auto& passes = m_traced->trace.passes;
  const auto first = static_cast<size_t>(m_strip->first()), last = static_cast<size_t>(m_strip->last());
  const api::TracedPass& pass = passes[last];
  m_pictureStale = true;
  m_place.reset();
  showPicture();
  m_about->setText(pass.summary.empty() ? tr("What the passes begin with.") : QString::fromStdString(pass.name + ": " + pass.summary));
  // What is elided is in the tool tip, with where it comes from.
  m_about->setToolTip(
      (m_about->text() + QStringLiteral("\n\n") + QString::fromStdString(pass.source)).toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>")));
  showCost();
  const bool against = m_against->isChecked() && m_traced->base && last < m_traced->base->passes.size();
  const auto before = against ? m_traced->base->passes[last].text : passes[first == 0 ? 0 : first - 1].text;
  const QString name = QString::fromStdString(pass.name);
  const QString range = against         ? tr("After %1, against %2").arg(name, m_services.explain.baseTitle())
                        : first == last ? (first == 0 ? name : tr("What %1 changed").arg(name))
                                        : tr("What passes %1 to %2 changed together").arg(first).arg(last);
  if (before == pass.text) {
    m_diffJob.stop();
    m_text->setTitle(first == 0 && last == 0 ? range : tr("%1: nothing").arg(range), false);
    return m_text->setText(QString::fromStdString(*pass.text));
  }
  const auto work = [before, after = pass.text](StopToken) -> Expected<widgets::LineDiff> { return widgets::diffLines(*before, *after); };
  m_diffJob.replace(m_services.jobs.run<widgets::LineDiff>(Lane::work, this, work, [this, range](Expected<widgets::LineDiff> diff) {
    if (!diff) return m_text->setPlaceholder(QString::fromStdString(diff.error().text()));
    m_text->setTitle(tr("%1, in %n place(s)", nullptr, static_cast<int>(diff->changes.size())).arg(range), false);
    m_text->setDiff(*diff);
    m_text->stepChange(true);
  }));
}

void PassesView::step(int by) {
  if (!m_traced) return;
  const int at = std::clamp((by > 0 ? m_strip->last() : m_strip->first()) + by, 0, static_cast<int>(m_strip->passes().size()) - 1);
  m_strip->select(at, at);
  showText();
}

void PassesView::stepChange(bool forward) {
  if (m_text->stepChange(forward)) m_text->activateCursor();
}

}  // namespace tw::app
