// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/inspector_view.h"

#include <QComboBox>
#include <QCompleter>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QVBoxLayout>

#include "app/services/explain_service.h"
#include "app/services/task_board.h"
#include "app/services/trial_service.h"
#include "app/services/workspace.h"
#include "engine/base/json.h"
#include "widgets/common/format.h"
#include "widgets/common/property_tree.h"
#include "widgets/graph/node_properties.h"
#include "widgets/tuning/status_text.h"

namespace tw::app {
namespace {

constexpr int kStoreAfterMillis = 800;

QString text(const std::string& s) { return QString::fromStdString(s); }

QString valueText(const Json& value) { return value.is_string() ? text(value.get<std::string>()) : text(dump_json(value)); }

}  // namespace

InspectorView::InspectorView(Services& services, QWidget* parent) : QWidget(parent), m_services(services) {
  m_about = new QComboBox(this);
  m_about->setObjectName(QStringLiteral("combo.inspector.about"));
  m_about->setAccessibleName(tr("What is inspected"));
  m_about->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_properties = new widgets::PropertyTree(this);
  m_properties->setObjectName(QStringLiteral("table.inspector"));
  m_properties->setAccessibleName(tr("Properties of what is selected"));
  m_note = new QPlainTextEdit(this);
  m_note->setObjectName(QStringLiteral("edit.inspector.note"));
  m_note->setAccessibleName(tr("Note"));
  m_note->setPlaceholderText(tr("Note"));
  m_note->setTabChangesFocus(true);
  m_note->setMinimumHeight(2 * m_note->fontMetrics().lineSpacing() + 12);
  m_tags = new QLineEdit(this);
  m_tags->setObjectName(QStringLiteral("edit.inspector.tags"));
  m_tags->setAccessibleName(tr("Tags"));
  m_tags->setPlaceholderText(tr("Tags, separated by commas"));
  auto* marks = new QWidget(this);
  auto* form = new QVBoxLayout(marks);
  form->setContentsMargins(6, 2, 6, 4);
  form->setSpacing(4);
  form->addWidget(m_note, 1);
  form->addWidget(m_tags);
  auto* splitter = new QSplitter(Qt::Vertical, this);
  splitter->addWidget(m_properties);
  splitter->addWidget(marks);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  splitter->setChildrenCollapsible(false);
  splitter->setSizes({3 * m_note->minimumHeight(), m_note->minimumHeight()});
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 4, 0, 0);
  box->setSpacing(4);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(6, 0, 6, 0);
  top->addWidget(m_about);
  box->addLayout(top);
  box->addWidget(splitter, 1);

  m_store.setSingleShot(true);
  m_store.setInterval(kStoreAfterMillis);
  connect(&m_store, &QTimer::timeout, this, &InspectorView::storeMark);
  const auto edited = [this] {
    if (m_quiet) return;
    m_edited = true;
    m_store.start();
  };
  connect(m_note, &QPlainTextEdit::textChanged, this, edited);
  connect(m_tags, &QLineEdit::textEdited, this, edited);
  connect(m_tags, &QLineEdit::editingFinished, this, &InspectorView::storeMark);
  connect(m_about, &QComboBox::activated, this, [this] {
    storeMark();
    showProperties();
    showMark();
  });
  const SelectionHub* hub = &services.hub;
  for (const auto signal :
       {&SelectionHub::modelChanged, &SelectionHub::nodeChanged, &SelectionHub::taskChanged, &SelectionHub::sessionChanged, &SelectionHub::trialChanged}) {
    connect(hub, signal, this, &InspectorView::showSelection);
  }
  connect(&services.workspace, &Workspace::sessionsChanged, this, &InspectorView::showProperties);
  for (const auto signal : {&TrialService::storeChanged, &TrialService::selectionChanged}) connect(&services.trials, signal, this, &InspectorView::showProperties);
  connect(&services.tasks, &TaskBoard::changed, this, [this] {
    if (noun().startsWith(QLatin1String("task:"))) showProperties();
  });
  connect(&services.marks, &MarkService::changed, this, [this](const QString& changed) {
    if (changed.isEmpty() || changed == noun()) showMark();
  });
  showSelection();
}

QString InspectorView::noun() const {
  const int i = m_about->currentIndex();
  return i < 0 || static_cast<size_t>(i) >= m_nouns.size() ? QString() : m_nouns[static_cast<size_t>(i)].id;
}

void InspectorView::showSelection() {
  storeMark();
  const QString shown = noun();
  const std::vector<Noun> before = std::exchange(m_nouns, selectedNouns(m_services.hub));
  m_about->clear();
  for (const Noun& n : m_nouns) m_about->addItem(n.title);
  m_about->setEnabled(!m_nouns.empty());
  // What has just been selected: the first that was not there before, else the most particular.
  int chosen = static_cast<int>(m_nouns.size()) - 1;
  for (size_t i = m_nouns.size(); i-- > 0;) {
    const bool known = std::any_of(before.begin(), before.end(), [&](const Noun& n) { return n.id == m_nouns[i].id; });
    if (!known) chosen = static_cast<int>(i);
  }
  // A node takes its task along; what was clicked is the node.
  const SelectionHub& hub = m_services.hub;
  const bool followed = chosen >= 0 && m_nouns[static_cast<size_t>(chosen)].id.startsWith(QLatin1String("task:")) && hub.model()->taskOfNode(hub.node()) == hub.task();
  for (size_t i = 0; followed && shown.startsWith(QLatin1String("node:")) && i < m_nouns.size(); ++i)
    if (m_nouns[i].id == shown) chosen = static_cast<int>(i);
  m_about->setCurrentIndex(chosen);
  showProperties();
  showMark();
}

void InspectorView::showProperties() {
  m_properties->clear();
  const QString id = noun();
  // The selection may be on its way to another model, and what the list names gone.
  const std::vector<Noun> now = selectedNouns(m_services.hub);
  const bool any = std::any_of(now.begin(), now.end(), [&](const Noun& n) { return n.id == id; });
  m_note->setEnabled(any && m_services.workspace.isWritable());
  m_tags->setEnabled(m_note->isEnabled());
  if (!any) return m_properties->showMessage(tr("Open a model: what is selected is described here, with your notes."));
  if (id.startsWith(QLatin1String("model:"))) addModel();
  if (id.startsWith(QLatin1String("node:"))) addNode();
  if (id.startsWith(QLatin1String("task:"))) addTask();
  if (id.startsWith(QLatin1String("session:"))) addSession();
  if (id.startsWith(QLatin1String("trial:"))) addTrial();
}

void InspectorView::showMark() {
  m_store.stop();
  m_edited = false;
  m_quiet = true;
  const MarkService::Mark mark = m_services.marks.mark(noun()), there = MarkService::clean(written());
  // What is being typed may end with a space or a comma, which no mark keeps.
  if (there.note != mark.note) m_note->setPlainText(mark.note);
  if (there.tags != mark.tags) m_tags->setText(mark.tags.join(QStringLiteral(", ")));
  auto* completer = new QCompleter(m_services.marks.tags(), m_tags);
  completer->setCaseSensitivity(Qt::CaseInsensitive);
  delete m_tags->completer();
  m_tags->setCompleter(completer);
  m_quiet = false;
}

void InspectorView::storeMark() {
  m_store.stop();
  if (!std::exchange(m_edited, false) || noun().isEmpty()) return;
  m_services.marks.setMark(noun(), written());
}

MarkService::Mark InspectorView::written() const { return {m_note->toPlainText(), m_tags->text().split(QLatin1Char(','))}; }

void InspectorView::addModel() {
  const OpenModel& m = *m_services.hub.model();
  auto* about = m_properties->section(tr("Model"));
  m_properties->line(about, tr("Name"), m.name);
  m_properties->line(about, tr("File"), m.path);
  m_properties->line(about, tr("Operators"), widgets::countText(static_cast<qint64>(m.network.imported.nodes.size())));
  m_properties->line(about, tr("After the passes"), widgets::countText(static_cast<qint64>(m.network.optimized.nodes.size())));
  m_properties->line(about, tr("Kernels"), widgets::countText(static_cast<qint64>(m.network.partition.groups.size())));
  m_properties->line(about, tr("Tasks"), widgets::countText(static_cast<qint64>(m.tasks.size())));
  m_properties->line(about, tr("Parameters"), widgets::countText(m.network.imported.parameter_count()));
  double flops = 0;
  for (const auto& t : m.tasks) flops += static_cast<double>(t.task.flops) * t.weight;
  m_properties->line(about, tr("GFLOP"), widgets::numberText(flops / 1e9));
  m_properties->line(about, tr("Target"), text(m.target.str()));
}

void InspectorView::addNode() {
  const OpenModel& m = *m_services.hub.model();
  const int node = m_services.hub.node(), group = m.groupOfNode(node), task = m.taskOfNode(node);
  widgets::addNodeProperties(*m_properties, m.network.optimized, node);
  auto* where = m_properties->section(tr("Where it runs"));
  m_properties->line(where, tr("Kernel"), group < 0 ? tr("none") : text(m.network.partition.groups[static_cast<size_t>(group)].name));
  m_properties->line(where, tr("Task"), task < 0 ? tr("none") : tr("T%1 (×%2)").arg(task + 1).arg(m.tasks[static_cast<size_t>(task)].weight));
}

void InspectorView::addTask() {
  const auto& t = m_services.hub.model()->tasks[static_cast<size_t>(m_services.hub.task())];
  auto* about = m_properties->section(tr("Task"));
  m_properties->line(about, tr("Computes"), m_services.hub.model()->titleOf(m_services.hub.task()));
  m_properties->line(about, tr("Name"), text(t.task.name));
  m_properties->line(about, tr("Key"), text(t.task.key));
  m_properties->line(about, tr("Runs per inference"), QString::number(t.weight));
  m_properties->line(about, tr("GFLOP"), widgets::numberText(static_cast<double>(t.task.flops) / 1e9));
  m_properties->line(about, tr("Share of work [%]"), widgets::percentText(t.flops_share));
  m_properties->line(about, tr("Template"), text(t.space));
  m_properties->line(about, tr("Points"), widgets::countText(t.space_size));
  const auto& line = m_services.tasks.model()->task(m_services.hub.task());
  m_properties->line(about, tr("Trials"), tr("%1, %2 failed").arg(widgets::countText(line.trials), widgets::countText(line.failures)));
  m_properties->line(about, tr("Default schedule"), widgets::secondsText(line.defaultSeconds));
  m_properties->line(about, tr("Best"), widgets::secondsText(line.bestSeconds));
  if (!t.task.dag) return;  // of a log that does not hold its computation
  auto* tensors = m_properties->section(tr("Tensors"));
  for (const te::Op& op : t.task.dag->ops) {
    QStringList shape;
    for (const int64_t d : op.output->shape) shape << QString::number(d);
    const QString kind = !op.is_placeholder() ? tr("computed") : op.role == te::Role::constant ? tr("constant") : tr("input");
    m_properties->line(tensors, text(op.name), QStringLiteral("%1  ·  %2").arg(shape.join(QChar(0x00D7)), kind));
  }
}

void InspectorView::addSession() {
  for (const db::SessionRow& s : m_services.workspace.sessions()) {
    if (s.id != m_services.hub.session()) continue;
    auto* about = m_properties->section(tr("Session"));
    if (!s.name.empty()) m_properties->line(about, tr("Name"), text(s.name));
    m_properties->line(about, tr("Tuner"), text(s.tuner));
    m_properties->line(about, tr("State"), text(s.state));
    m_properties->line(about, tr("Trials"), widgets::countText(s.trials));
    m_properties->line(about, tr("Started"), widgets::timeText(s.started_s));
    if (s.worked_s() > 0) m_properties->line(about, tr("Duration"), widgets::durationText(s.worked_s()));
    m_properties->line(about, tr("Target"), text(s.target));
    m_properties->line(about, tr("Program"), text(s.code_version));
    auto* options = m_properties->section(tr("Options"));
    for (const auto& [name, value] : s.options.items()) m_properties->line(options, text(name), valueText(value));
    auto* host = m_properties->section(tr("Machine"));
    for (const auto& [name, value] : s.host.items()) m_properties->line(host, text(name), valueText(value));
  }
}

void InspectorView::addTrial() {
  const auto& store = m_services.trials.store();
  const int row = store ? store->rowOf(m_services.trials.selected()) : -1;
  if (row < 0) return m_properties->showMessage(tr("Reading the trial…"));
  auto* about = m_properties->section(tr("Trial"));
  m_properties->line(about, tr("Session"), QString::number(store->session(row).value));
  m_properties->line(about, tr("Number"), QString::number(store->numberInSession(row)));
  m_properties->line(about, tr("Space"), text(store->space(row)));
  if (store->configIndex(row) >= 0) m_properties->line(about, tr("Point"), widgets::countText(store->configIndex(row)));
  m_properties->line(about, tr("Outcome"), widgets::statusText(store->status(row)));
  if (store->timed(row)) {
    m_properties->line(about, tr("Time"), (store->censored(row) ? QStringLiteral("≥ ") : QString()) + widgets::secondsText(store->seconds(row)));
    m_properties->line(about, tr("GFLOP/s"), widgets::gflopsText(store->flops(), store->seconds(row)));
    m_properties->line(about, tr("Verified"), store->verified(row) ? tr("equal to the reference within the tolerance") : tr("not compared with the reference"));
  }
  if (!store->message(row).empty()) m_properties->line(about, tr("Message"), text(store->message(row)));
  if (store->predictedAfter(row) >= 0)
    m_properties->line(
        about, tr("Predicted"),
        tr("score %1 by the model after %2 trials").arg(widgets::numberText(static_cast<double>(store->predicted(row)), 4)).arg(store->predictedAfter(row)));
  m_properties->line(about, tr("Build"), widgets::secondsText(store->buildSeconds(row)));
  m_properties->line(about, tr("Run"), widgets::secondsText(store->runSeconds(row)));
  m_properties->line(about, tr("At"), widgets::timeText(store->timestamp(row)));
}

}  // namespace tw::app
