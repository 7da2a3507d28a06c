// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/race_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "app/selection_hub.h"
#include "app/views/session_form.h"
#include "db/comparison.h"
#include "widgets/common/format.h"
#include "widgets/common/param_form.h"
#include "widgets/common/scroll_page.h"
#include "widgets/tuning/task_model.h"

namespace tw::app {
namespace {

/// Of each session, at first: enough to tell tuners apart on one task, in minutes.
constexpr int kRaceTrials = 64;

}  // namespace

RaceDialog::RaceDialog(const std::vector<tune::StrategyDef>& tuners, const SelectionHub& hub, const tune::SessionOptions& options,
                       const widgets::TaskModel& tasks, std::string workspace, QWidget* parent)
    : Dialog(parent), m_hub(hub), m_tasks(tasks), m_workspace(std::move(workspace)) {
  setObjectName(QStringLiteral("dialog.race"));
  setWindowTitle(tr("Race of tuners"));
  auto* intro = new QLabel(tr("A session for every tuner and seed, one after another. Their curves and the verdict appear in the panel Compare."), this);
  intro->setWordWrap(true);
  auto* boxes = new QWidget(this);
  auto* list = new QVBoxLayout(boxes);
  list->setContentsMargins(0, 0, 0, 0);
  list->setSpacing(2);
  for (const auto& def : tuners) {
    auto* box = new QCheckBox(QString::fromLatin1(def.name), this);
    box->setObjectName(QStringLiteral("check.race.") + box->text());
    box->setAccessibleName(tr("Tuner %1").arg(box->text()));
    box->setToolTip(QString::fromUtf8(def.summary));
    box->setChecked(true);
    connect(box, &QCheckBox::toggled, this, &RaceDialog::showSize);
    list->addWidget(box);
    m_tuners.push_back(box);
  }
  const auto spin = [this](const char* id, const QString& name, int high, int value) {
    auto* box = new QSpinBox(this);
    box->setObjectName(QStringLiteral("spin.race.") + QLatin1String(id));
    box->setAccessibleName(name);
    box->setRange(1, high);
    box->setGroupSeparatorShown(true);
    box->setValue(value);
    connect(box, &QSpinBox::valueChanged, this, &RaceDialog::showSize);
    return box;
  };
  m_scope = new QComboBox(this);
  m_scope->setObjectName(QStringLiteral("combo.race.scope"));
  m_scope->setAccessibleName(tr("What is tuned"));
  m_scope->addItem(tr("All tasks"));
  if (hub.taskValue()) {
    m_scope->addItem(QStringLiteral("T%1 %2").arg(hub.task() + 1).arg(hub.model()->titleOf(hub.task())));
    m_scope->setCurrentIndex(1);
  }
  m_seeds = spin("seeds", tr("Seeds of each tuner"), 100, db::kSessionsForVerdict);
  m_options = new SessionForm({}, QStringLiteral("race"), this);
  tune::SessionOptions first = options;
  first.trials = kRaceTrials, first.trials_per_task = 0;
  m_options->setOptions(first);
  m_options->setToolTip(tr("Of every session; the seeds count up from the one here"));
  connect(m_options, &SessionForm::changed, this, &RaceDialog::showSize);
  m_times = new QComboBox(this);
  m_times->setObjectName(QStringLiteral("combo.race.times"));
  m_times->setAccessibleName(tr("Where the times come from"));
  m_times->addItems({tr("measure for real"), tr("replay recorded trials")});
  m_times->setToolTip(
      tr("A replay measures nothing: only points with a trial in the workspace are proposed, and they end as those trials did. It takes seconds."));
  connect(m_times, &QComboBox::currentIndexChanged, this, &RaceDialog::showSize);
  widgets::ParamForm& form = m_options->form();
  form.insertFirst(tr("S&eeds each"), m_seeds);
  form.insertFirst(tr("T&imes"), m_times);
  form.insertFirst(tr("Tune"), m_scope);
  form.insertFirst(tr("Tuners"), boxes);
  m_size = new QLabel(this);
  m_size->setObjectName(QStringLiteral("label.race.size"));
  m_size->setWordWrap(true);
  m_size->setForegroundRole(QPalette::PlaceholderText);
  auto* buttons = new QDialogButtonBox(this);
  m_start = buttons->addButton(tr("&Start"), QDialogButtonBox::AcceptRole);
  m_start->setObjectName(QStringLiteral("button.race.start"));
  m_start->setAccessibleName(tr("Start the race"));
  auto* cancel = buttons->addButton(QDialogButtonBox::Cancel);
  cancel->setObjectName(QStringLiteral("button.race.cancel"));
  cancel->setAccessibleName(cancel->text().remove(QLatin1Char('&')));
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(m_scope, &QComboBox::currentIndexChanged, this, &RaceDialog::showSize);
  connect(&m_tasks, &QAbstractItemModel::dataChanged, this, &RaceDialog::showSize);
  connect(&m_tasks, &QAbstractItemModel::modelReset, this, &RaceDialog::showSize);
  auto* box = new QVBoxLayout(this);
  box->addWidget(intro);
  auto* inside = new QVBoxLayout(widgets::addScrollPage(box));
  inside->addWidget(m_options);
  inside->addStretch();
  box->addWidget(m_size);
  box->addWidget(buttons);
  resize(480, 640);
  showSize();
}

RaceService::Plan RaceDialog::plan() const {
  RaceService::Plan plan{m_hub.model(), {}, {}, m_seeds->value(), m_options->options(), {}};
  if (m_times->currentIndex() == 1) plan.replay = m_workspace;
  if (m_scope->currentIndex() == 1) plan.tasks.push_back(m_hub.task());
  for (const QCheckBox* box : m_tuners) {
    if (box->isChecked()) plan.tuners.push_back(box->text().toStdString());
  }
  return plan;
}

qint64 RaceDialog::recorded() const {
  qint64 trials = 0;
  for (int t = 0; t < m_tasks.rowCount(); ++t)
    if (m_scope->currentIndex() == 0 || t == m_hub.task()) trials += m_tasks.task(t).trials;
  return trials;
}

void RaceDialog::showSize() {
  const RaceService::Plan p = plan();
  const auto tuners = static_cast<qint64>(p.tuners.size());
  const bool limited = p.options.trials > 0 || p.options.trials_per_task > 0 || p.options.time_s > 0;
  const QString sessions = widgets::countText(tuners * p.seeds);
  QString text = p.options.trials > 0 ? tr("%1 sessions, %2 trials in all.").arg(sessions, widgets::countText(tuners * p.seeds * p.options.trials))
                 : limited            ? tr("%1 sessions.").arg(sessions)
                                      : tr("Set a number of trials or a time: without a limit a session would not end.");
  if (tuners < 2)
    text += QLatin1Char(' ') + tr("Choose two tuners at least.");
  else if (p.seeds < db::kSessionsForVerdict)
    text += QLatin1Char(' ') + tr("A verdict needs %1 seeds of each tuner.").arg(db::kSessionsForVerdict);
  const bool replay = m_times->currentIndex() == 1;
  if (replay && recorded() > 0)
    text +=
        QLatin1Char(' ') + tr("Nothing is measured: they find what they can among the %1 trials that the workspace has.").arg(widgets::countText(recorded()));
  else if (replay)
    text += QLatin1Char(' ') + tr("The workspace has no trials that could be replayed.");
  m_size->setText(text);
  m_start->setEnabled(limited && tuners >= 2 && (!replay || recorded() > 0));
}

}  // namespace tw::app
