// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/tune_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QProgressBar>
#include <QSettings>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/tune_service.h"
#include "widgets/common/format.h"
#include "widgets/common/param_form.h"
#include "widgets/common/scroll_page.h"

namespace tw::app {
namespace {

QSpinBox* spin(QWidget* parent, const char* id, const QString& name, int low, int high, int value, const QString& zero = {}) {
  auto* box = new QSpinBox(parent);
  box->setObjectName(QStringLiteral("spin.tune.") + QLatin1String(id));
  box->setAccessibleName(name);
  box->setRange(low, high);
  box->setValue(value);
  box->setGroupSeparatorShown(true);
  box->setSpecialValueText(zero);
  return box;
}

}  // namespace

TuneView::TuneView(Services& services, QWidget* parent) : QWidget(parent), m_services(services) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  QWidget* page = widgets::addScrollPage(outer);
  auto* box = new QVBoxLayout(page);
  box->setContentsMargins(8, 6, 8, 6);
  m_form = new QWidget(page);
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
  box->addWidget(m_form);
  box->addWidget(m_follow);
  box->addWidget(m_summary);
  box->addStretch();

  connect(m_tuner, &QComboBox::currentIndexChanged, this, &TuneView::showTuner);
  connect(&services.tuning, &TuneService::stateChanged, this, &TuneView::showProgress);
  connect(&services.tuning, &TuneService::progressed, this, [this] {
    showProgress();
    follow();
  });
  QSettings settings;
  settings.beginGroup(QStringLiteral("tune"));
  m_tuner->setCurrentText(settings.value(QStringLiteral("tuner"), QStringLiteral("random")).toString());
  m_trials->setValue(settings.value(QStringLiteral("trials"), 256).toInt());
  m_perTask->setValue(settings.value(QStringLiteral("perTask"), 0).toInt());
  m_seed->setValue(settings.value(QStringLiteral("seed"), 1).toInt());
  m_follow->setChecked(settings.value(QStringLiteral("follow"), true).toBool());
  showTuner();
  showProgress();
}

TuneView::~TuneView() {
  QSettings settings;
  settings.beginGroup(QStringLiteral("tune"));
  settings.setValue(QStringLiteral("tuner"), m_tuner->currentText());
  settings.setValue(QStringLiteral("trials"), m_trials->value());
  settings.setValue(QStringLiteral("perTask"), m_perTask->value());
  settings.setValue(QStringLiteral("seed"), m_seed->value());
  settings.setValue(QStringLiteral("follow"), m_follow->isChecked());
}

void TuneView::buildForm() {
  auto* form = new QFormLayout(m_form);
  form->setContentsMargins(0, 0, 0, 0);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  m_tuner = new QComboBox(m_form);
  m_tuner->setObjectName(QStringLiteral("combo.tune.tuner"));
  m_tuner->setAccessibleName(tr("Tuner"));
  for (const auto& def : m_services.engine.strategies()) m_tuner->addItem(QString::fromLatin1(def.name));
  m_scope = new QComboBox(m_form);
  m_scope->setObjectName(QStringLiteral("combo.tune.scope"));
  m_scope->setAccessibleName(tr("What is tuned"));
  m_scope->addItems({tr("All tasks"), tr("Selected task")});
  m_summary = new QLabel(this);
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setWordWrap(true);
  m_summary->setForegroundRole(QPalette::PlaceholderText);
  m_trials = spin(m_form, "trials", tr("Trials in all"), 0, 10'000'000, 256, tr("no limit"));
  m_perTask = spin(m_form, "per_task", tr("Trials per task"), 0, 10'000'000, 0, tr("no limit"));
  m_batch = spin(m_form, "batch", tr("Batch"), 1, 1024, tune::SessionOptions().batch);
  m_stopping = spin(m_form, "early_stopping", tr("Early stopping"), 0, 1'000'000, 0, tr("never"));
  m_seed = spin(m_form, "seed", tr("Seed"), 0, 2'000'000'000, 1);
  m_batch->setToolTip(tr("Candidates proposed, built and measured together"));
  m_stopping->setToolTip(tr("Leave a task after this many trials without a better one"));
  m_params = new widgets::ParamForm(m_form);
  form->addRow(tr("T&uner"), m_tuner);
  form->addRow(m_params);
  form->addRow(tr("Tune"), m_scope);
  form->addRow(tr("&Trials in all"), m_trials);
  form->addRow(tr("Trials per task"), m_perTask);
  form->addRow(tr("Early stopping"), m_stopping);
  form->addRow(tr("Batch"), m_batch);
  form->addRow(tr("Seed"), m_seed);
}

void TuneView::showTuner() {
  for (const auto& def : m_services.engine.strategies()) {
    if (m_tuner->currentText() != QLatin1String(def.name)) continue;
    m_summary->setText(QString::fromUtf8(def.summary));
    m_summary->setToolTip(QString::fromUtf8(def.source).toHtmlEscaped());
    m_params->setSchema(def.params);
    m_params->setVisible(!def.params.empty());
  }
}

tune::SessionOptions TuneView::options() const {
  tune::SessionOptions o;
  o.tuner = m_tuner->currentText().toStdString();
  o.tuner_params = m_params->values();
  o.seed = static_cast<uint64_t>(m_seed->value());
  o.trials = m_trials->value();
  o.trials_per_task = m_perTask->value();
  o.batch = m_batch->value();
  o.early_stopping = m_stopping->value();
  return o;
}

void TuneView::setOptions(const tune::SessionOptions& o) {
  m_tuner->setCurrentText(QString::fromStdString(o.tuner));
  m_params->setValues(o.tuner_params);
  m_seed->setValue(static_cast<int>(o.seed));
  m_trials->setValue(static_cast<int>(o.trials));
  m_perTask->setValue(static_cast<int>(o.trials_per_task));
  m_batch->setValue(o.batch);
  m_stopping->setValue(static_cast<int>(o.early_stopping));
}

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
  m_form->setEnabled(!active);
  m_progress->setVisible(active || tuning.trialsDone() > 0);
  m_progress->setMaximum(static_cast<int>(std::max<qint64>(tuning.trialsPlanned(), tuning.trialsDone())));
  m_progress->setValue(static_cast<int>(tuning.trialsDone()));
  m_progress->setFormat(tr("%v of %m trials"));
  if (!active)
    return m_status->setText(tuning.trialsDone() > 0
                                 ? tr("%1 trials in %2").arg(widgets::countText(tuning.trialsDone()), widgets::durationText(tuning.elapsedSeconds()))
                                 : QString());
  const double rate = tuning.trialsDone() / std::max(0.1, tuning.elapsedSeconds());
  const double left = rate > 0 && tuning.trialsPlanned() > 0 ? static_cast<double>(tuning.trialsPlanned() - tuning.trialsDone()) / rate : -1;
  const auto* task = tuning.progress(tuning.currentTask());
  const QString what = tuning.state() == TuneService::State::paused     ? tr("Paused")
                       : tuning.state() == TuneService::State::stopping ? tr("Stopping…")
                       : task ? tr("T%1: %2").arg(task->task + 1).arg(task->phase.isEmpty() ? tr("search") : task->phase)
                              : tr("Starting…");
  m_status->setText(tr("%1 · %2 trials/s · %3 elapsed · %4 left")
                        .arg(what, widgets::numberText(rate, 3), widgets::durationText(tuning.elapsedSeconds()), widgets::durationText(left)));
}

}  // namespace tw::app
