// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/passes_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "widgets/common/empty_state.h"
#include "widgets/ir/code_pane.h"

namespace tw::app {

PassesView::PassesView(Services& services, QWidget* parent) : QWidget(parent), m_services(services) {
  auto* content = new QWidget(this);
  m_what = new QComboBox(content);
  m_what->setObjectName(QStringLiteral("combo.passes.what"));
  m_what->setAccessibleName(tr("Whose passes are shown"));
  m_what->addItems({tr("Shown kernel"), tr("Network")});
  m_title = new QLabel(content);
  m_title->setObjectName(QStringLiteral("label.passes.title"));
  m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_strip = new widgets::PassStrip(content);
  m_about = new QLabel(content);
  m_about->setObjectName(QStringLiteral("label.passes.about"));
  m_about->setForegroundRole(QPalette::PlaceholderText);
  m_range = new QLabel(content);
  m_range->setObjectName(QStringLiteral("label.passes.range"));
  m_divergence = new QLabel(content);
  m_divergence->setObjectName(QStringLiteral("label.passes.divergence"));
  for (QLabel* label : {m_title, m_about, m_range, m_divergence}) label->setTextFormat(Qt::PlainText);
  for (QLabel* label : {m_about, m_range, m_divergence}) label->setWordWrap(true);
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
  auto* changes = new QHBoxLayout;
  changes->addWidget(m_range, 1);
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
  box->addLayout(other);
  box->addLayout(changes);
  box->addWidget(m_text, 1);
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
  // The text after the last pass is what the code view shows as TIR.
  connect(m_text, &widgets::CodePane::lineActivated, this, [this](int line) {
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
}

void PassesView::invalidate() {
  m_stale = true;
  if (isVisible()) compute();
}

PassesView::Traced PassesView::traced(api::PassTrace trace, std::optional<api::PassTrace> base) {
  Traced t;
  for (size_t i = 0; i < trace.passes.size(); ++i) {
    const api::TracedPass& p = trace.passes[i];
    widgets::PassStrip::Pass pass{QString::fromStdString(p.name), p.seconds, p.changed, 0, 0};
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
    work = [&engine = m_services.engine, model](StopToken) -> Expected<Traced> { return traced(engine.graphPasses(model->network), {}); };
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
  m_title->setToolTip(m_title->text().toHtmlEscaped());
  showDivergence();
  showText();
}

void PassesView::showDivergence() {
  const bool kernel = m_what->currentIndex() == Kernel;
  const bool base = m_traced->base.has_value();
  m_jump->setVisible(base && m_traced->divergence >= 0);
  m_against->setVisible(base);
  if (!base) m_against->setChecked(false);
  m_divergence->setVisible((kernel && base) || m_traced->trace.error);
  // How to see more is said where it takes no line.
  m_title->setToolTip(kernel && !base ? tr("To see where two candidates part, choose another one under Difference in the code view.") : QString());
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
  m_about->setText(pass.summary.empty() ? tr("What the passes begin with.") : QString::fromStdString(pass.name + ": " + pass.summary));
  m_about->setToolTip(QString::fromStdString(pass.source).toHtmlEscaped());
  const bool against = m_against->isChecked() && m_traced->base && last < m_traced->base->passes.size();
  const auto before = against ? m_traced->base->passes[last].text : passes[first == 0 ? 0 : first - 1].text;
  const QString name = QString::fromStdString(pass.name);
  const QString range = against         ? tr("After %1, against %2").arg(name, m_services.explain.baseTitle())
                        : first == last ? (first == 0 ? name : tr("What %1 changed").arg(name))
                                        : tr("What passes %1 to %2 changed together").arg(first).arg(last);
  if (before == pass.text) {
    m_diffJob.stop();
    m_range->setText(first == 0 && last == 0 ? range : tr("%1: nothing").arg(range));
    return m_text->setText(QString::fromStdString(*pass.text));
  }
  const auto work = [before, after = pass.text](StopToken) -> Expected<widgets::LineDiff> { return widgets::diffLines(*before, *after); };
  m_diffJob.replace(m_services.jobs.run<widgets::LineDiff>(Lane::work, this, work, [this, range](Expected<widgets::LineDiff> diff) {
    if (!diff) return m_range->setText(QString::fromStdString(diff.error().text()));
    m_range->setText(tr("%1: +%2 −%3 lines in %n place(s)", nullptr, static_cast<int>(diff->changes.size())).arg(range).arg(diff->added).arg(diff->removed));
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

void PassesView::stepChange(bool forward) { m_text->stepChange(forward); }

}  // namespace tw::app
