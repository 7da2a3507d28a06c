// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/sketches_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QStandardItemModel>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "app/services/trial_service.h"
#include "engine/space/sketch/choices.h"
#include "engine/space/sketch/rule.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"
#include "widgets/ir/code_pane.h"
#include "widgets/tuning/knob_values.h"
#include "widgets/tuning/trial_store.h"

namespace tw::app {
namespace {

/// While trials come in, the counts follow this often.
constexpr int kFollowMs = 500;
constexpr int kSketchRole = Qt::UserRole + 1;

QString nameOf(size_t number) { return QStringLiteral("sketch %1").arg(number); }

QString summaryOf(const std::string& rule) {
  for (const space::SketchRule& r : space::sketch_rules())
    if (rule == r.name) return QString::fromUtf8(r.summary);
  return {};
}

/// What a trial of a sketch names at least: the splits that are open in it.
std::set<std::string> openNames(const space::Sketch& sketch) {
  const auto s = schedule::Schedule::replay(sketch.dag, sketch.steps);
  std::set<std::string> names;
  if (!s) return names;
  const std::string text = space::choices_of(*s, "");
  widgets::NamedValueReader entries(text);
  while (const auto entry = entries.next())
    if (widgets::knobKindOf(entry->kind) == space::KnobKind::split) names.insert(std::string(entry->name));
  return names;
}

}  // namespace

SketchesView::SketchesView(Services& services, QWidget* parent)
    : QWidget(parent), m_services(services), m_model(new QStandardItemModel(this)), m_tree(new QTreeView(this)) {
  auto* content = new QWidget(this);
  m_summary = new widgets::ElidedLabel(content);
  m_summary->setObjectName(QStringLiteral("label.sketches.summary"));
  m_model->setHorizontalHeaderLabels({tr("Rule"), tr("Trials"), tr("Best")});
  m_tree->setModel(m_model);
  m_tree->setObjectName(QStringLiteral("tree.sketches"));
  m_tree->setAccessibleName(tr("Sketches by the rules that made them"));
  widgets::setUpTable(m_tree);
  m_tree->setRootIsDecorated(true);
  m_tree->setSortingEnabled(false);
  m_tree->header()->setSectionResizeMode(Rule, QHeaderView::Stretch);
  m_tree->header()->setStretchLastSection(false);
  for (const int c : {Trials, Best}) m_tree->header()->setSectionResizeMode(c, QHeaderView::ResizeToContents);
  m_steps = new widgets::CodePane(widgets::CodeLanguage::steps, tr("Steps"), content);
  m_steps->setObjectName(QStringLiteral("view.sketches.steps"));
  m_steps->setPlaceholder(tr("Choose a sketch to see its steps; those that are marked have lengths to choose."));
  auto* split = new QSplitter(Qt::Horizontal, content);
  split->setObjectName(QStringLiteral("splitter.sketches"));
  split->addWidget(m_tree);
  split->addWidget(m_steps);
  split->setChildrenCollapsible(false);
  split->setStretchFactor(0, 1);
  split->setStretchFactor(1, 1);
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(6, 4, 6, 2);
  inner->setSpacing(3);
  inner->addWidget(m_summary);
  inner->addWidget(split, 1);
  m_state = new widgets::EmptyState(content, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);

  m_later.setSingleShot(true);
  connect(&m_later, &QTimer::timeout, this, &SketchesView::showTrials);
  const auto later = [this] {
    if (isVisible() && !m_later.isActive()) m_later.start(kFollowMs);
  };
  connect(&services.trials, &TrialService::storeGrew, this, later);
  connect(&services.trials, &TrialService::storeChanged, this, [this] {
    if (isVisible()) showTrials();
  });
  connect(&services.hub, &SelectionHub::taskChanged, this, &SketchesView::invalidate);
  connect(&services.hub, &SelectionHub::modelChanged, this, &SketchesView::invalidate);
  connect(m_tree->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &SketchesView::showSteps);
  connect(m_tree, &QTreeView::activated, this, [this] {
    if (const int sketch = current(); sketch >= 0 && m_tried[static_cast<size_t>(sketch)].best >= 0) m_services.trials.choose(m_tried[static_cast<size_t>(sketch)].best);
  });
  invalidate();
}

void SketchesView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_stale)
    compute();
  else
    showTrials();
}

void SketchesView::invalidate() {
  m_stale = true;
  if (isVisible()) compute();
}

void SketchesView::compute() {
  m_stale = false;
  const records::Task* task = m_services.hub.taskValue();
  if (task && task->dag && task->key == m_task && !m_shown.sketches.empty()) return m_state->showContent();
  m_shown = {};
  m_leaves.clear();
  m_tried.clear();
  m_model->removeRows(0, m_model->rowCount());
  m_steps->setText({});
  m_task.clear();
  if (!task) {
    m_job.stop();
    return m_state->showEmpty(tr("No sketches"), tr("Structures that rules derive of a task, whose numbers the tuner ansor chooses, stand here. Choose a task first."),
                              m_services.actions.get(QStringLiteral("file.open")));
  }
  if (!task->dag) {
    m_job.stop();
    return m_state->showEmpty(tr("No sketches"), tr("This task came from a log that does not hold its computation."));
  }
  m_task = task->key;
  m_state->showEmpty(tr("Deriving the sketches…"), {});
  const auto work = [&engine = m_services.engine, task = *task](StopToken) -> Expected<Shown> { return shown(engine.sketches(task)); };
  m_job.replace(m_services.jobs.run<Shown>(Lane::work, this, work, [this](Expected<Shown> result) {
    if (result) return show(std::move(*result));
    m_task.clear();
    m_state->showEmpty(tr("The sketches could not be derived"), QString::fromStdString(result.error().text()));
  }));
}

SketchesView::Shown SketchesView::shown(std::vector<space::Sketch> sketches) {
  Shown out;
  for (const space::Sketch& sketch : sketches) {
    const auto s = schedule::Schedule::replay(sketch.dag, sketch.steps);
    QStringList lines;
    if (s)
      for (const std::string& line : schedule::step_lines(*s)) lines << QString::fromStdString(line);
    for (const int open : sketch.open)
      if (open < lines.size()) lines[open] += QStringLiteral("    # ") + tr("lengths to choose");
    out.steps.push_back(lines.join(QLatin1Char('\n')));
    out.openLines.push_back(sketch.open);
  }
  out.sketches = std::move(sketches);
  return out;
}

QList<QStandardItem*> SketchesView::row(const QString& text, const QString& help) {
  QList<QStandardItem*> items;
  for (int c = 0; c < ColumnCount; ++c) {
    auto* item = new QStandardItem(c == Rule ? text : QString());
    item->setEditable(false);
    item->setToolTip(help);
    if (c != Rule) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    items.push_back(item);
  }
  return items;
}

QStandardItem* SketchesView::ruleItem(QStandardItem* parent, const space::RuleUse& use) {
  const QString text = tr("%1 of %2").arg(QString::fromUtf8(use.rule), QString::fromStdString(use.stage));
  for (int r = 0; r < parent->rowCount(); ++r)
    if (QStandardItem* child = parent->child(r); child->text() == text && !child->data(kSketchRole).isValid()) return child;
  const QList<QStandardItem*> items = row(text, summaryOf(use.rule));
  parent->appendRow(items);
  return items.front();
}

void SketchesView::show(Shown made) {
  m_shown = std::move(made);
  m_leaves.clear();
  m_model->removeRows(0, m_model->rowCount());
  for (size_t i = 0; i < m_shown.sketches.size(); ++i) {
    QStandardItem* parent = m_model->invisibleRootItem();
    for (const space::RuleUse& use : m_shown.sketches[i].derived) parent = ruleItem(parent, use);
    const space::Sketch& sketch = m_shown.sketches[i];
    const QList<QStandardItem*> items = row(tr("%1: %n step(s), %2 splits to choose", nullptr, static_cast<int>(sketch.steps.size())).arg(nameOf(i)).arg(sketch.open.size()),
                                            tr("Enter goes to its fastest trial"));
    items.front()->setData(static_cast<int>(i), kSketchRole);
    parent->appendRow(items);
    m_leaves.push_back(items.front());
  }
  m_tree->expandAll();
  m_state->showContent();
  showTrials();
  if (!m_leaves.empty()) m_tree->setCurrentIndex(m_leaves.front()->index());
}

void SketchesView::showTrials() {
  m_tried.assign(m_leaves.size(), {});
  const widgets::TrialStorePtr& store = m_services.trials.store();
  if (store && !m_leaves.empty()) {
    std::map<std::string, size_t> numbers;
    std::vector<std::set<std::string>> open;
    for (size_t i = 0; i < m_leaves.size(); ++i) {
      numbers[nameOf(i).toStdString()] = i;
      open.push_back(openNames(m_shown.sketches[i]));
    }
    // Numbers of sketches are of the rules that there are: a trial of other ones names other splits.
    std::map<std::pair<uint32_t, size_t>, bool> fits;
    const std::string sketch_entry = "sketch";
    for (int r = 0; r < store->size(); ++r) {
      const uint32_t id = store->layoutId(r);
      if (id == widgets::TrialColumns::kNoLayout || store->space(r) != space::kSketchSpace) continue;
      const auto& layout = store->layout(id);
      if (layout.names.empty() || layout.names.front() != sketch_entry) continue;
      const QString value = QString::fromStdString(store->text(store->knobValueId(r, 0))).remove(QLatin1Char('"'));
      const auto number = numbers.find(value.toStdString());
      if (number == numbers.end()) continue;
      const auto [known, isNew] = fits.try_emplace({id, number->second}, false);
      if (isNew) {
        const std::set<std::string> names(layout.names.begin(), layout.names.end());
        known->second = std::includes(names.begin(), names.end(), open[number->second].begin(), open[number->second].end());
      }
      if (!known->second) continue;
      Tried& tried = m_tried[number->second];
      ++tried.trials;
      if (!store->timed(r) || (tried.best >= 0 && store->seconds(r) >= tried.seconds)) continue;
      tried.best = store->number(r);
      tried.seconds = store->seconds(r);
    }
  }
  int withTrials = 0, best = -1;
  for (size_t i = 0; i < m_leaves.size(); ++i) {
    const Tried& t = m_tried[i];
    QStandardItem* parent = m_leaves[i]->parent() ? m_leaves[i]->parent() : m_model->invisibleRootItem();
    parent->child(m_leaves[i]->row(), Trials)->setText(t.trials > 0 ? widgets::countText(t.trials) : QString());
    parent->child(m_leaves[i]->row(), Best)->setText(t.best >= 0 ? widgets::secondsText(t.seconds) : QString());
    withTrials += t.trials > 0;
    if (t.best >= 0 && (best < 0 || t.seconds < m_tried[static_cast<size_t>(best)].seconds)) best = static_cast<int>(i);
  }
  QString text = tr("Sketches: %1").arg(m_leaves.size());
  if (best >= 0)
    text += tr(", %1 with trials; the fastest is of %2: %3").arg(withTrials).arg(nameOf(static_cast<size_t>(best)), widgets::secondsText(m_tried[static_cast<size_t>(best)].seconds));
  else
    text += tr("; none has trials yet: the tuner ansor makes them");
  m_summary->setText(text);
}

int SketchesView::current() const {
  const QModelIndex index = m_tree->currentIndex().siblingAtColumn(Rule);
  const QVariant sketch = index.data(kSketchRole);
  return sketch.isValid() ? sketch.toInt() : -1;
}

void SketchesView::showSteps() {
  const int sketch = current();
  if (sketch < 0) return;
  m_steps->setTitle(tr("Steps of %1").arg(nameOf(static_cast<size_t>(sketch))), false);
  m_steps->setText(m_shown.steps[static_cast<size_t>(sketch)]);
  m_steps->setLinkedLines(m_shown.openLines[static_cast<size_t>(sketch)], false);
}

}  // namespace tw::app
