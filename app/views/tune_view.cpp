// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/tune_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QSettings>
#include <QVBoxLayout>
#include <utility>

#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/tune_service.h"
#include "app/views/session_form.h"
#include "engine/base/json.h"
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
  m_follow = new QCheckBox(tr("Follow the task being tuned"), page);
  m_follow->setObjectName(QStringLiteral("check.tune.follow"));
  m_follow->setAccessibleName(m_follow->text());
  box->addWidget(m_options);
  box->addWidget(m_follow);
  box->addStretch();

  connect(&services.tuning, &TuneService::stateChanged, this, [this] { enableInputs(!m_services.tuning.isActive()); });
  connect(&services.tuning, &TuneService::progressed, this, &TuneView::follow);
  // A task that is clicked stays in sight, and the box says so.
  connect(&services.hub, &SelectionHub::taskChosen, this, [this] {
    if (!m_services.tuning.isActive() || m_services.hub.task() == m_services.tuning.currentTask() || !m_follow->isChecked()) return;
    m_yielded = true;
    m_follow->setChecked(false);
    Q_EMIT yielded(tr("T%1 stays in sight: the task being tuned is not followed until the next session, or until that is asked for under Options.").arg(m_services.hub.task() + 1));
  });
  connect(&services.tuning, &TuneService::sessionStarted, this, [this] {
    if (std::exchange(m_yielded, false)) m_follow->setChecked(true);
  });
  QSettings settings;
  settings.beginGroup(QStringLiteral("tune"));
  tune::SessionOptions first;
  first.trials = kFirstTrials;
  const auto stored = parse_json(settings.value(QStringLiteral("options")).toString().toStdString());
  const auto last = stored ? tune::session_options(*stored) : Expected<tune::SessionOptions>(first);
  setOptions(last ? *last : first);
  m_options->form().showAdvanced(settings.value(QStringLiteral("advanced"), false).toBool());
  m_follow->setChecked(settings.value(QStringLiteral("follow"), true).toBool());
  enableInputs(!services.tuning.isActive());
}

TuneView::~TuneView() {
  QSettings settings;
  settings.beginGroup(QStringLiteral("tune"));
  settings.setValue(QStringLiteral("options"), QString::fromStdString(dump_json(tune::to_json(options()))));
  settings.setValue(QStringLiteral("advanced"), m_options->form().isAdvancedShown());
  settings.setValue(QStringLiteral("follow"), m_follow->isChecked() || m_yielded);
}

void TuneView::buildForm() {
  m_scope = new QComboBox(m_options);
  m_scope->setObjectName(QStringLiteral("combo.tune.scope"));
  m_scope->setAccessibleName(tr("What is tuned"));
  m_scope->setToolTip(m_scope->accessibleName());
  m_scope->addItems({tr("All tasks"), tr("Selected task")});
  m_threads = new QComboBox(m_options);
  m_threads->setObjectName(QStringLiteral("combo.tune.threads"));
  m_threads->setAccessibleName(tr("Threads"));
  m_threads->setToolTip(tr("Cores that kernels are made for and timed on: a part of the target. Another number opens the network anew for it."));
  const int cores = host_target().cores;
  for (int n = cores; n >= 1; n /= 2) m_threads->addItem(QString::number(n), n);
  connect(m_threads, &QComboBox::activated, this, [this] { Q_EMIT threadsChosen(m_threads->currentData().toInt()); });
  connect(&m_services.hub, &SelectionHub::modelChanged, this, &TuneView::showThreads);
  m_options->form().insertFirst(m_threads->accessibleName(), m_threads);
  showThreads();
}

void TuneView::showThreads() {
  const Target target = m_services.hub.model() ? m_services.hub.model()->target : m_services.engine.target();
  int at = m_threads->findData(target.cores);
  if (at < 0 && !target.gpu) m_threads->insertItem(at = 0, QString::number(target.cores), target.cores);
  m_threads->setCurrentIndex(target.gpu ? -1 : at);
  m_threads->setEnabled(!target.gpu && !m_services.tuning.isActive());
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

std::vector<QWidget*> TuneView::barInputs() {
  widgets::ParamForm& form = m_options->form();
  return {m_scope, form.takeOut("tuner"), form.takeOut("trials")};
}

void TuneView::enableInputs(bool on) {
  m_options->setEnabled(on);
  showThreads();
  // Those that stand elsewhere follow.
  for (QWidget* input : {static_cast<QWidget*>(m_scope), m_options->form().editor("tuner"), m_options->form().editor("trials")}) input->setEnabled(on);
}

}  // namespace tw::app
