// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/tune_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/tune_service.h"
#include "app/views/session_form.h"
#include "engine/base/json.h"
#include "widgets/common/format.h"
#include "widgets/common/param_form.h"
#include "widgets/common/scroll_page.h"

namespace tw::app {
namespace {

/// A first session: enough trials to see something, in a few minutes.
constexpr int kFirstTrials = 256;

}  // namespace

TuneView::TuneView(Services& services, QWidget* parent) : QWidget(parent), m_services(services) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  QWidget* page = widgets::addScrollPage(outer);
  auto* box = new QVBoxLayout(page);
  box->setContentsMargins(8, 6, 8, 6);
  m_options = new SessionForm(services.engine.strategies(), QStringLiteral("tune"), page);
  buildForm();
  auto* buttons = new QHBoxLayout;
  for (const char* name : {"tune.start", "tune.pause", "tune.cancel"}) {
    auto* button = new QToolButton(page);
    button->setDefaultAction(services.actions.get(QLatin1String(name)));
    button->setObjectName(QStringLiteral("button.") + QLatin1String(name));
    button->setAccessibleName(button->defaultAction()->text());
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    buttons->addWidget(button);
  }
  box->addLayout(buttons);
  m_progress = new QProgressBar(page);
  m_progress->setObjectName(QStringLiteral("progress.tune"));
  m_progress->setAccessibleName(tr("Trials done"));
  m_status = new QLabel(page);
  m_status->setObjectName(QStringLiteral("label.tune.status"));
  m_status->setTextFormat(Qt::PlainText);
  m_status->setWordWrap(true);
  m_follow = new QCheckBox(tr("Follow the task being tuned"), page);
  m_follow->setObjectName(QStringLiteral("check.tune.follow"));
  m_follow->setAccessibleName(m_follow->text());
  box->addWidget(m_progress);
  box->addWidget(m_status);
  box->addWidget(m_options);
  box->addWidget(m_follow);
  box->addWidget(m_summary);
  box->addStretch();

  connect(m_options, &SessionForm::tunerChanged, this, &TuneView::showTuner);
  connect(&services.tuning, &TuneService::stateChanged, this, &TuneView::showProgress);
  connect(&services.tuning, &TuneService::progressed, this, [this] {
    showProgress();
    follow();
  });
  showTuner();
  QSettings settings;
  settings.beginGroup(QStringLiteral("tune"));
  tune::SessionOptions first;
  first.trials = kFirstTrials;
  const auto stored = parse_json(settings.value(QStringLiteral("options")).toString().toStdString());
  const auto last = stored ? tune::session_options(*stored) : Expected<tune::SessionOptions>(first);
  setOptions(last ? *last : first);
  m_options->form().showAdvanced(settings.value(QStringLiteral("advanced"), false).toBool());
  m_follow->setChecked(settings.value(QStringLiteral("follow"), true).toBool());
  showProgress();
}

TuneView::~TuneView() {
  QSettings settings;
  settings.beginGroup(QStringLiteral("tune"));
  settings.setValue(QStringLiteral("options"), QString::fromStdString(dump_json(tune::to_json(options()))));
  settings.setValue(QStringLiteral("advanced"), m_options->form().isAdvancedShown());
  settings.setValue(QStringLiteral("follow"), m_follow->isChecked());
}

void TuneView::buildForm() {
  m_scope = new QComboBox(m_options);
  m_scope->setObjectName(QStringLiteral("combo.tune.scope"));
  m_scope->setAccessibleName(tr("What is tuned"));
  m_scope->addItems({tr("All tasks"), tr("Selected task")});
  m_options->form().insertFirst(tr("Tune"), m_scope);
  m_summary = new QLabel(this);
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setWordWrap(true);
  m_summary->setForegroundRole(QPalette::PlaceholderText);
}

void TuneView::showTuner() {
  const tune::StrategyDef* def = m_options->tuner();
  m_summary->setText(def ? QString::fromUtf8(def->summary) : QString());
  m_summary->setToolTip(def ? QString::fromUtf8(def->source).toHtmlEscaped() : QString());
}

tune::SessionOptions TuneView::options() const { return m_options->options(); }

void TuneView::setOptions(const tune::SessionOptions& options) { m_options->setOptions(options); }

bool TuneView::onlySelectedTask() const { return m_scope->currentIndex() == 1; }

void TuneView::setOnlySelectedTask(bool only) { m_scope->setCurrentIndex(only ? 1 : 0); }

void TuneView::follow() {
  const auto& tuning = m_services.tuning;
  if (m_follow->isChecked() && tuning.isActive() && tuning.currentTask() >= 0 && tuning.model() == m_services.hub.model() && m_services.hub.trial() < 0) {
    m_services.hub.setTask(tuning.currentTask(), SelectionHub::Way::followed);
  }
}

void TuneView::showProgress() {
  const auto& tuning = m_services.tuning;
  const bool active = tuning.isActive();
  m_options->setEnabled(!active);
  m_progress->setVisible(active || tuning.trialsDone() > 0);
  m_progress->setMaximum(static_cast<int>(std::max<qint64>(tuning.trialsPlanned(), tuning.trialsDone())));
  m_progress->setValue(static_cast<int>(tuning.trialsDone()));
  m_progress->setFormat(tr("%v of %m trials"));
  if (!active)
    return m_status->setText(tuning.trialsDone() > 0
                                 ? tr("%1 trials in %2").arg(widgets::countText(tuning.trialsDone()), widgets::durationText(tuning.elapsedSeconds()))
                                 : QString());
  const auto* task = tuning.progress(tuning.currentTask());
  const QString what = tuning.state() == TuneService::State::paused     ? tr("Paused")
                       : tuning.state() == TuneService::State::stopping ? tr("Stopping…")
                       : task ? tr("T%1: %2").arg(task->task + 1).arg(task->phase.isEmpty() ? tr("search") : task->phase)
                              : tr("Starting…");
  m_status->setText(tr("%1 · %2 trials/s · %3 elapsed · %4 left")
                        .arg(what, widgets::numberText(tuning.trialsPerSecond(), 3), widgets::durationText(tuning.elapsedSeconds()), widgets::durationText(tuning.secondsLeft())));
}

}  // namespace tw::app
