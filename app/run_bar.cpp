// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run_bar.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QToolButton>
#include <cmath>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/farm_service.h"
#include "app/services/task_board.h"
#include "app/services/tune_service.h"
#include "app/views/tune_view.h"
#include "engine/measure/device.h"
#include "engine/target/gpu.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/format.h"

namespace tw::app {
namespace {

constexpr int kInputCharacters = 13;
/// Of a target's text, as str() writes it: what models have.
constexpr int kTargetRole = Qt::UserRole + 1;

/// Names of tasks and targets are long; what does not fit is in the list that opens.
void keepNarrow(QComboBox* combo, int characters) {
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo->setMinimumContentsLength(characters);
  combo->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

}  // namespace

RunBar::RunBar(Services& services, TuneView& options, QWidget* parent)
    : QToolBar(tr("Run"), parent),
      m_services(services),
      m_network(new QToolButton(this)),
      m_networks(new QMenu(this)),
      m_target(new QComboBox(this)),
      m_device(new QComboBox(this)),
      m_task(new QComboBox(this)),
      m_progress(new QProgressBar(this)),
      m_status(new widgets::ElidedLabel(this)),
      m_estimate(new QLabel(this)) {
  setObjectName(QStringLiteral("toolbar.run"));
  setMovable(false);
  setFloatable(false);
  m_network->setObjectName(QStringLiteral("button.run.network"));
  m_network->setAccessibleName(tr("Choose a network"));
  m_network->setToolTip(tr("The network on screen; opens another one"));
  m_network->setPopupMode(QToolButton::InstantPopup);
  m_network->setMenu(m_networks);
  m_network->setFocusPolicy(Qt::TabFocus);
  m_target->setObjectName(QStringLiteral("combo.run.target"));
  m_target->setAccessibleName(tr("Target"));
  m_target->setToolTip(tr("What code is made for and times are taken on. A GPU that is not here is simulated: its times are estimates."));
  m_device->setObjectName(QStringLiteral("combo.run.device"));
  m_device->setAccessibleName(tr("Device"));
  m_device->setToolTip(tr("Where times are taken: on this machine, or on the devices of a farm, for the target chosen beside"));
  m_task->setObjectName(QStringLiteral("combo.run.task"));
  m_task->setAccessibleName(tr("Task"));
  m_task->setToolTip(tr("The selected task: one distinct computation of the network, which is tuned once for all its places"));
  keepNarrow(m_target, 12);
  keepNarrow(m_device, 9);
  keepNarrow(m_task, 22);
  makeTargets();
  auto* inner = new QWidget(this);
  auto* line = new QHBoxLayout(inner);
  line->setContentsMargins(6, 2, 6, 2);
  line->setSpacing(5);
  for (QWidget* w : std::initializer_list<QWidget*>{m_network, m_target, m_device, m_task}) line->addWidget(w);
  for (QWidget* input : options.barInputs()) {
    if (!qobject_cast<QComboBox*>(input)) input->setFixedWidth(kInputCharacters * fontMetrics().horizontalAdvance(QLatin1Char('0')));
    line->addWidget(input);
  }
  for (const char* name : {"tune.start", "tune.pause", "tune.cancel"}) {
    auto* button = new QToolButton(inner);
    button->setDefaultAction(services.actions.get(QLatin1String(name)));
    button->setObjectName(QStringLiteral("button.") + QLatin1String(name));
    button->setAccessibleName(button->defaultAction()->text());
    button->setToolButtonStyle(name == QLatin1String("tune.start") ? Qt::ToolButtonTextBesideIcon : Qt::ToolButtonIconOnly);
    button->setFocusPolicy(Qt::TabFocus);
    line->addWidget(button);
  }
  auto* gear = new QToolButton(inner);
  gear->setDefaultAction(services.actions.get(QStringLiteral("view.options")));
  gear->setObjectName(QStringLiteral("button.run.options"));
  gear->setAccessibleName(gear->defaultAction()->text());
  gear->setFocusPolicy(Qt::TabFocus);
  line->addWidget(gear);
  m_progress->setObjectName(QStringLiteral("progress.tune"));
  m_progress->setAccessibleName(tr("Trials done"));
  m_progress->setAlignment(Qt::AlignCenter);
  m_status->setObjectName(QStringLiteral("label.tune.status"));
  m_status->setTextFormat(Qt::PlainText);
  m_status->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  m_estimate->setObjectName(QStringLiteral("label.run.network"));
  m_estimate->setTextFormat(Qt::PlainText);
  m_estimate->setToolTip(tr("The network's estimated latency: every task's best time, as often as the network runs it, and what that is of the default schedules' sum"));
  line->addWidget(m_progress);
  line->addWidget(m_status, 1);
  line->addWidget(m_estimate);
  addWidget(inner);
  inner->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);

  connect(m_target, &QComboBox::activated, this, [this](int i) { Q_EMIT targetChosen(m_target->itemData(i).toString()); });
  connect(m_task, &QComboBox::activated, this, [this](int i) { m_services.hub.setTask(i); });
  connect(&services.farms, &FarmService::farmsChanged, this, &RunBar::showDevices);
  connect(&services.hub, &SelectionHub::modelChanged, this, [this] {
    m_services.farms.refresh();
    showModel();
  });
  connect(&services.hub, &SelectionHub::taskChanged, this, &RunBar::showTask);
  connect(&services.tuning, &TuneService::stateChanged, this, &RunBar::showProgress);
  connect(&services.tuning, &TuneService::progressed, this, &RunBar::showProgress);
  connect(&services.tasks, &TaskBoard::changed, this, &RunBar::showEstimate);
  showModel();
  showDevices();
  showProgress();
  fitProgress();
}

void RunBar::changeEvent(QEvent* event) {
  QToolBar::changeEvent(event);
  if (event->type() == QEvent::FontChange) fitProgress();
}

void RunBar::setBeside(int width) {
  m_beside = width;
  updateGeometry();
}

QSize RunBar::minimumSizeHint() const {
  const QSize least = QToolBar::minimumSizeHint();
  return {std::max(0, least.width() - m_beside), least.height()};
}

void RunBar::fitProgress() { m_progress->setFixedWidth(m_progress->fontMetrics().horizontalAdvance(tr("%1 of %1 trials").arg(10'000)) + 2 * m_progress->fontMetrics().height()); }

void RunBar::makeTargets() {
  const auto add = [this](const QString& name, const QString& text) {
    const auto target = parse_target(text.toStdString());
    if (!target) return;
    m_target->addItem(name, text);
    m_target->setItemData(m_target->count() - 1, QString::fromStdString(target->str()), kTargetRole);
  };
  const Target host = host_target();
  const auto here = [](int cores) { return tr("Here, %n core(s)", nullptr, cores); };
  add(here(host.cores), QStringLiteral("llvm"));
  for (int cores = host.cores / 2; cores >= 1; cores /= 2) add(here(cores), QStringLiteral("llvm -num-cores=%1").arg(cores));
  for (const target::Gpu& gpu : target::gpu_table()) {
    const Target t = gpu_target(gpu);
    const QString name = QString::fromStdString(gpu.description);
    add(measure::is_simulated(measure::device_for(t)) ? tr("%1, simulated").arg(name) : name, QStringLiteral("cuda:") + QString::fromStdString(gpu.name));
  }
  for (const std::string& name : target_presets()) add(QString::fromStdString(name), QString::fromStdString(name));
  m_target->addItem(tr("Other…"), QString());
}

void RunBar::showDevices() {
  const QString before = QString::fromStdString(device());
  m_device->clear();
  m_device->addItem(tr("here", "where times are taken"), QString());
  for (const farm::FarmFile& f : m_services.farms.farms()) {
    for (const farm::FarmFile::Kind& k : f.kinds) {
      const QString name = QString::fromStdString(std::string(farm::kFarmPrefix) + k.name + (f.farm == farm::kDefaultFarm ? "" : "@" + f.farm));
      m_device->addItem(name, name);
    }
  }
  m_device->setCurrentIndex(std::max(0, m_device->findData(before)));
  m_device->setVisible(m_device->count() > 1);  // who has no farm has nothing to choose
}

std::string RunBar::device() const { return m_device->currentData().toString().toStdString(); }

void RunBar::showModel() {
  const OpenModelPtr& model = m_services.hub.model();
  m_network->setText(model ? model->name : tr("Open…"));
  const Target target = model ? model->target : m_services.engine.target();
  const QString text = QString::fromStdString(target.str());
  int at = m_target->findData(text, kTargetRole);
  if (at < 0) {
    m_target->insertItem(at = 0, text, text);
    m_target->setItemData(at, text, kTargetRole);
  }
  m_target->setCurrentIndex(at);
  m_task->clear();
  for (size_t t = 0; model && t < model->tasks.size(); ++t) m_task->addItem(QStringLiteral("T%1  %2").arg(t + 1).arg(model->titleOf(static_cast<int>(t))));
  m_task->setEnabled(m_task->count() > 0);
  m_task->view()->setTextElideMode(Qt::ElideRight);
  showTask();
  showEstimate();
}

void RunBar::showTask() { m_task->setCurrentIndex(m_services.hub.task()); }

void RunBar::showEstimate() {
  const OpenModelPtr& model = m_services.hub.model();
  double before = 0, now = 0;
  for (size_t t = 0; model && t < model->tasks.size(); ++t) {
    const widgets::TaskLine& line = m_services.tasks.model()->task(static_cast<int>(t));
    before += widgets::costByDefault(line), now += widgets::costNow(line);
  }
  if (!(before > 0) || !std::isfinite(before)) return m_estimate->clear();
  m_estimate->setText(tr("Network %1 %2 %3 %").arg(widgets::secondsText(now), QString(QChar(0x25BC)), widgets::numberText(100 * (1 - now / before), 2)));
}

void RunBar::showProgress() {
  const TuneService& tuning = m_services.tuning;
  const bool active = tuning.isActive();
  m_target->setEnabled(!active);
  m_device->setEnabled(!active);
  m_network->setEnabled(!active);
  m_progress->setVisible(active || tuning.trialsDone() > 0);
  m_progress->setMaximum(static_cast<int>(std::max<qint64>({tuning.trialsPlanned(), tuning.trialsDone(), 1})));
  m_progress->setValue(static_cast<int>(tuning.trialsDone()));
  m_progress->setFormat(tr("%v of %m trials"));
  if (!active)
    return m_status->setText(tuning.trialsDone() > 0
                                 ? tr("in %1", "what stands beside the number of trials that were made").arg(widgets::durationText(tuning.elapsedSeconds()))
                                 : QString());
  const auto* task = tuning.progress(tuning.currentTask());
  const QString what = tuning.state() == TuneService::State::paused     ? tr("Paused")
                       : tuning.state() == TuneService::State::stopping ? tr("Stopping…")
                       : task ? tr("T%1: %2").arg(task->task + 1).arg(task->phase.isEmpty() ? tr("search") : task->phase)
                              : tr("Starting…");
  m_status->setText(tr("%1 · %2/s · %3 · %4 left")
                        .arg(what, widgets::numberText(tuning.trialsPerSecond(), 3), widgets::durationText(tuning.elapsedSeconds()), widgets::durationText(tuning.secondsLeft())));
}

}  // namespace tw::app
