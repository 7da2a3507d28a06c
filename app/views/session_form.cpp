// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/session_form.h"

#include <QComboBox>
#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>

#include "engine/base/json.h"
#include "widgets/common/param_form.h"

namespace tw::app {
namespace {

/// What a first session does not need.
const std::vector<std::string> kAdvanced = {"space",     "batch",   "early_stopping", "transfer",  "finalists",
                                            "repeats",   "verify",  "min_repeat_s",   "timeout_s", "build_timeout_s"};

}  // namespace

SessionForm::SessionForm(const std::vector<tune::StrategyDef>& tuners, const QString& name, QWidget* parent)
    : QWidget(parent),
      m_tuners(tuners),
      m_form(new widgets::ParamForm(this, name)),
      m_about(new QLabel(this)),
      m_tunerParams(new widgets::ParamForm(this, name + QStringLiteral(".tuner"))),
      m_schedulerParams(new widgets::ParamForm(m_form, name + QStringLiteral(".scheduler"))) {
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_form);
  // The tuner's part is the last: other rows stay where they are when another tuner is chosen.
  m_about->setTextFormat(Qt::PlainText);
  m_about->setWordWrap(true);
  m_about->setForegroundRole(QPalette::PlaceholderText);
  m_about->setObjectName(QStringLiteral("label.%1.tuner").arg(name));
  box->addWidget(m_about);
  box->addWidget(m_tunerParams);
  m_about->hide();
  ParamSchema schema = tune::session_schema();
  if (tuners.empty()) std::erase_if(schema, [](const Param& p) { return p.name == "tuner"; });
  for (Param& param : schema) {
    if (param.name != "tuner") continue;
    param.kind = Param::Kind::choice;
    for (const auto& def : tuners) param.choices.push_back(def.name);
  }
  m_form->setSchema(schema, kAdvanced);
  m_form->insertBelow("scheduler", m_schedulerParams);
  m_tunerParams->hide();
  connect(m_form, &widgets::ParamForm::changed, this, [this] {
    // Parameters follow their tuner and scheduler first: options() takes them together.
    if (tuner() != m_shownTuner) showTuner();
    if (scheduler() != m_shownScheduler) showScheduler();
    Q_EMIT changed();
  });
  for (widgets::ParamForm* part : {m_tunerParams, m_schedulerParams}) connect(part, &widgets::ParamForm::changed, this, &SessionForm::changed);
  showTuner();
  showScheduler();
}

const tune::StrategyDef* SessionForm::tuner() const {
  const auto* choice = qobject_cast<QComboBox*>(m_form->editor("tuner"));
  return choice && choice->currentIndex() >= 0 ? &m_tuners[static_cast<size_t>(choice->currentIndex())] : nullptr;
}

const tune::SchedulerDef* SessionForm::scheduler() const {
  return tune::find_scheduler(qobject_cast<QComboBox*>(m_form->editor("scheduler"))->currentText().toStdString());
}

void SessionForm::showTuner() {
  const tune::StrategyDef* def = tuner();
  if (!def) return;
  m_shownTuner = def;
  m_tunerParams->setSchema(def->params);
  m_tunerParams->setVisible(!def->params.empty());
  m_about->setText(tr("%1: %2", "a tuner and what it does").arg(QLatin1String(def->name), QString::fromUtf8(def->summary)));
  m_about->setToolTip(QString::fromUtf8(def->source).toHtmlEscaped());
  m_about->show();
  Q_EMIT tunerChanged();
}

void SessionForm::showScheduler() {
  m_shownScheduler = scheduler();
  const tune::SchedulerDef& def = *m_shownScheduler;
  m_form->editor("scheduler")->setToolTip(QString::fromUtf8(def.summary).toHtmlEscaped());
  m_schedulerParams->setSchema(def.params);
  m_schedulerParams->setVisible(!def.params.empty());
  alignLabels();
}

bool SessionForm::event(QEvent* event) {
  if (event->type() == QEvent::Show || event->type() == QEvent::FontChange) alignLabels();
  return QWidget::event(event);
}

void SessionForm::alignLabels() {
  const QList<QWidget*> labels = m_form->labels() + m_schedulerParams->labels();
  int widest = 0;
  for (const QWidget* label : labels) widest = std::max(widest, label->sizeHint().width());
  for (QWidget* label : labels) label->setMinimumWidth(widest);
}

tune::SessionOptions SessionForm::options() const {
  Json values = tune::to_json(m_given);
  values.update(m_form->values());
  if (tuner()) values["tuner_params"] = m_tunerParams->values();
  values["scheduler_params"] = m_schedulerParams->values();
  return *tune::session_options(values);  // the inputs hold nothing that is outside the schemas
}

void SessionForm::setOptions(const tune::SessionOptions& options) {
  const auto named = tune::session_options(tune::to_json(options));
  m_given = named ? *named : tune::SessionOptions();
  const Json values = tune::to_json(named ? *named : options);
  m_form->setValues(values);
  m_tunerParams->setValues(values.at("tuner_params"));
  m_schedulerParams->setValues(values.at("scheduler_params"));
}

}  // namespace tw::app
