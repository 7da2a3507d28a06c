// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/descent_view.h"

#include <QComboBox>
#include <QLabel>
#include <QSplitter>
#include <QStandardItemModel>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/round_set.h"
#include "app/services/trial_service.h"
#include "engine/tune/seed_descent.h"
#include "widgets/charts/descent_chart.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/common/in_background.h"
#include "widgets/common/table_view.h"
#include "widgets/tuning/trial_store.h"

namespace tw::app {
namespace {

/// Rounds of small tasks end many times a second.
constexpr int kDescentMs = 300;
constexpr int kBorderPoints = 49;  ///< along either axis

using SketchPtr = std::shared_ptr<const tune::DescentSketch>;

/// The sketch that the search calls so. Null: the task has none such, or none for a descent.
SketchPtr sketchNamed(const records::Task& task, const QString& name) {
  for (tune::DescentSketch& s : tune::descent_sketches(task, {}, {}).all)
    if (s.name == name.toStdString()) return std::make_shared<const tune::DescentSketch>(std::move(s));
  return nullptr;
}

/// Whether both speak of the same variables: the session may have had other options.
bool fits(const tune::DescentSketch& sketch, const widgets::Descent& d) {
  const auto all = sketch.space.variables();
  return static_cast<qsizetype>(all.size()) == d.variables.size() &&
         std::equal(all.begin(), all.end(), d.most.begin(), [](const auto& v, int most) { return v.most == most; });
}

widgets::DescentBorders bordersOf(const tune::DescentSketch& sketch, const widgets::Descent& d, const std::vector<int>& at, size_t x, size_t y) {
  widgets::DescentBorders out{kBorderPoints, kBorderPoints, {}};
  const size_t variables = at.size(), constraints = sketch.program.constraints().size(), points = static_cast<size_t>(kBorderPoints * kBorderPoints);
  std::vector<double> all;
  all.reserve(points * variables);
  for (int r = 0; r < kBorderPoints; ++r)
    for (int c = 0; c < kBorderPoints; ++c) {
      all.insert(all.end(), at.begin(), at.end());
      double* point = all.data() + all.size() - variables;
      point[y] = d.most[y] * r / (kBorderPoints - 1.0);
      point[x] = d.most[x] * c / (kBorderPoints - 1.0);
    }
  cost::DescentProgram::Pass pass;
  sketch.program.forward(all, points, pass);
  for (size_t p = 0; p < points; ++p) {
    double most = 0;
    for (const space::Halfspace& limit : sketch.space.limits().limits) most = std::max(most, limit.excess(std::span(all).subspan(p * variables, variables)));
    for (size_t c = 0; c < constraints; ++c) most = std::max(most, pass.constraints[p * constraints + c]);
    out.excess.push_back(most);
  }
  return out;
}

using FormulaRow = DescentFormula;

/// What stands behind a point.
struct Explained {
  widgets::DescentBorders borders;
  std::vector<FormulaRow> formulas;
};

std::vector<FormulaRow> formulasOf(const tune::DescentSketch& sketch, const std::vector<int>& at, size_t x, size_t y) {
  const cost::DescentProgram& program = sketch.program;
  const std::vector<double> point(at.begin(), at.end());
  cost::DescentProgram::Pass pass;
  program.forward(point, 1, pass);
  const size_t features = program.stores().size() * cost::kFelixColumns;
  std::vector<float> one(features, 0);
  std::vector<double> slope(at.size());
  std::vector<FormulaRow> out;
  for (size_t k = 0; k < features; ++k) {
    const size_t store = k / cost::kFelixColumns, column = k % cost::kFelixColumns;
    const std::string text = program.formula(store, column);
    if (text == "0") continue;
    one[k] = 1;
    program.backward(pass, one, {}, slope);
    one[k] = 0;
    out.push_back({QString::fromStdString(program.stores()[store]), QString::fromStdString(cost::felix_column(column)), QString::fromStdString(text), program.feature(pass, k), slope[x], slope[y]});
  }
  return out;
}

QComboBox* choiceNamed(QWidget* parent, const char* id, const QString& name) {
  auto* combo = new QComboBox(parent);
  combo->setObjectName(QLatin1String(id));
  combo->setAccessibleName(name);
  combo->setToolTip(name);
  combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  return combo;
}

/// Other items, the same choice where it is still there. Whether the choice changed.
bool refill(QComboBox* combo, const QStringList& items, int otherwise) {
  const QString before = combo->currentText();
  QStringList now;
  for (int i = 0; i < combo->count(); ++i) now << combo->itemText(i);
  if (now == items) return false;
  const QSignalBlocker quiet(combo);
  combo->clear();
  combo->addItems(items);
  const int same = static_cast<int>(items.indexOf(before));
  combo->setCurrentIndex(same >= 0 ? same : otherwise);
  return combo->currentText() != before;
}

}  // namespace

DescentView::DescentView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_set(new RoundSet(services.hub, services.workspace, services.tuning, this)),
      m_chart(new widgets::DescentChart(this)),
      m_summary(new widgets::ElidedLabel(this)),
      m_round(choiceNamed(this, "combo.descent.round", tr("Round of the task"))),
      m_sketch(choiceNamed(this, "combo.descent.sketch", tr("Sketch"))),
      m_x(choiceNamed(this, "combo.descent.x", tr("Variable from left to right"))),
      m_y(choiceNamed(this, "combo.descent.y", tr("Variable from bottom to top"))),
      m_formulas(new QToolButton(this)),
      m_features(new QStandardItemModel(this)),
      m_table(new QTreeView(this)) {
  m_summary->setObjectName(QStringLiteral("label.descent.summary"));
  m_formulas->setObjectName(QStringLiteral("button.descent.formulas"));
  m_formulas->setText(tr("Formulas"));
  m_formulas->setToolTip(tr("What the model sees of the chosen point: formulas, values and derivatives"));
  m_formulas->setCheckable(true);
  m_table->setObjectName(QStringLiteral("table.descent.formulas"));
  m_table->setAccessibleName(tr("Formulas of features"));
  m_table->setModel(m_features);
  widgets::setUpTable(m_table);
  m_table->hide();
  auto* split = new QSplitter(Qt::Vertical, this);
  split->addWidget(m_chart);
  split->addWidget(m_table);
  split->setChildrenCollapsible(false);
  m_state = new widgets::EmptyState(split, this);
  auto* bar = new QWidget(this);
  auto* line = new QHBoxLayout(bar);
  line->setContentsMargins(6, 2, 6, 0);
  line->addWidget(m_summary, 1);
  for (QWidget* w : std::initializer_list<QWidget*>{m_round, m_sketch, m_x, m_y, m_formulas}) line->addWidget(w);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addWidget(bar);
  box->addWidget(m_state, 1);
  m_growth.setSingleShot(true);
  m_growth.setInterval(kDescentMs);
  connect(&m_growth, &QTimer::timeout, this, &DescentView::listRounds);
  connect(m_set, &RoundSet::changed, this, [this] {
    if (!m_growth.isActive()) m_growth.start();
  });
  connect(&services.hub, &SelectionHub::taskChanged, this, &DescentView::listRounds);
  connect(m_round, &QComboBox::currentIndexChanged, this, &DescentView::readRound);
  connect(m_sketch, &QComboBox::currentIndexChanged, this, &DescentView::showSketch);
  connect(m_x, &QComboBox::currentIndexChanged, this, &DescentView::showAxes);
  connect(m_y, &QComboBox::currentIndexChanged, this, &DescentView::showAxes);
  connect(m_chart, &widgets::DescentChart::candidateActivated, this, [this](int candidate) {
    selectTrial(candidate);
    explain();
  });
  connect(m_formulas, &QToolButton::toggled, this, [this](bool on) {
    m_table->setVisible(on);
    showExplained();
  });
  listRounds();
}

void DescentView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_set->setActive(true);
}

void DescentView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_set->setActive(false);
}

void DescentView::listRounds() {
  const auto& model = m_services.hub.model();
  const int task = m_services.hub.task();
  const std::string key = model && task >= 0 ? model->tasks[static_cast<size_t>(task)].task.key : std::string();
  const bool follows = m_round->currentIndex() == m_round->count() - 1 || key != m_task;
  m_task = key;
  m_rounds.clear();
  if (const RoundSet::Entry* own = m_set->nearest())
    for (const records::Round& r : own->rounds)
      if (r.task_key == key && widgets::hasDescent(r)) m_rounds.push_back(r);
  QStringList names;
  for (const records::Round& r : m_rounds) names << tr("round %1").arg(r.number);
  refill(m_round, names, static_cast<int>(names.size()) - 1);
  if (follows) {
    const QSignalBlocker quiet(m_round);
    m_round->setCurrentIndex(m_round->count() - 1);
  }
  readRound();
}

void DescentView::readRound() {
  const int i = m_round->currentIndex();
  m_descents = i >= 0 && i < static_cast<int>(m_rounds.size()) ? widgets::descentsOf(m_rounds[static_cast<size_t>(i)]) : std::vector<widgets::Descent>();
  QStringList names;
  int most = 0;
  for (size_t k = 0; k < m_descents.size(); ++k) {
    names << m_descents[k].sketch;
    if (m_descents[k].chosen.size() > m_descents[static_cast<size_t>(most)].chosen.size()) most = static_cast<int>(k);
  }
  refill(m_sketch, names, most);
  showSketch();
}

void DescentView::showSketch() {
  const int i = m_sketch->currentIndex();
  m_chart->setDescent(i >= 0 && i < static_cast<int>(m_descents.size()) ? m_descents[static_cast<size_t>(i)] : widgets::Descent());
  const auto [x, y] = m_chart->widestAxes();
  refill(m_x, m_chart->descent().variables, x);
  refill(m_y, m_chart->descent().variables, y);
  m_summary->setText(m_chart->summary());
  showAxes();
  showState();
}

void DescentView::showAxes() {
  if (m_chart->isEmpty()) return;
  m_chart->setAxes(m_x->currentIndex(), m_y->currentIndex());
  explain();
}

void DescentView::explain() {
  const auto& model = m_services.hub.model();
  if (m_chart->isEmpty() || !model) return;
  const QString name = QString::fromStdString(m_task) + QLatin1Char('\n') + m_sketch->currentText();
  if (name == m_explainedName) return showExplained();
  m_explainedName = name;
  m_explained.reset();
  m_features->clear();
  const records::Task task = model->tasks[static_cast<size_t>(m_services.hub.task())].task;
  widgets::inBackground(
      this, [task, sketch = m_sketch->currentText()] { return sketchNamed(task, sketch); },
      [this, name](SketchPtr made) {
        if (name != m_explainedName) return;
        m_explained = std::move(made);
        showExplained();
      });
}

void DescentView::showExplained() {
  const int generation = ++m_generation;
  const widgets::Descent& d = m_chart->descent();
  const int x = m_x->currentIndex(), y = m_y->currentIndex();
  if (!m_explained || d.chosen.empty() || x < 0 || y < 0 || !fits(*m_explained, d)) {
    m_chart->setBorders({});
    return m_features->clear();
  }
  const auto work = [sketch = m_explained, d, at = d.chosen[static_cast<size_t>(std::max(0, m_chart->chosen()))].at, x = static_cast<size_t>(x), y = static_cast<size_t>(y),
                     formulas = m_formulas->isChecked()] {
    return Explained{x == y ? widgets::DescentBorders() : bordersOf(*sketch, d, at, x, y), formulas ? formulasOf(*sketch, at, x, y) : std::vector<FormulaRow>()};
  };
  widgets::inBackground(this, work, [this, generation](Explained found) {
    if (generation != m_generation) return;
    m_chart->setBorders(std::move(found.borders));
    showFormulas(found.formulas);
  });
}

void DescentView::showFormulas(const std::vector<DescentFormula>& rows) {
  m_features->clear();
  if (rows.empty()) return;
  m_features->setHorizontalHeaderLabels({tr("stage"), tr("feature"), tr("value"), tr("by %1").arg(m_x->currentText()), tr("by %1").arg(m_y->currentText()), tr("formula")});
  for (const FormulaRow& row : rows) {
    QList<QStandardItem*> items;
    for (const QString& text : {row.store, row.name, widgets::numberText(row.value), widgets::numberText(row.byX, 3), widgets::numberText(row.byY, 3), row.text}) {
      auto* item = new QStandardItem(text);
      item->setEditable(false);
      item->setToolTip(text);
      if (items.size() >= 2 && items.size() <= 4) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      items << item;
    }
    m_features->appendRow(items);
  }
  for (int c = 0; c < 5; ++c) m_table->resizeColumnToContents(c);
}

void DescentView::selectTrial(int candidate) {
  const auto& store = m_services.trials.store();
  if (!store) return;
  // A trial keeps what the model said of it, which tells it from the others of its task.
  const auto score = static_cast<float>(m_chart->descent().chosen[static_cast<size_t>(candidate)].score);
  const widgets::TrialColumns& trials = *store;
  const RoundSet::Entry* own = m_set->nearest();
  for (int row = 0; own != nullptr && row < trials.size(); ++row)
    if (trials.session(row) == own->row.id && trials.predicted(row) == score) return m_services.trials.choose(trials.number(row));
}

void DescentView::showState() {
  const bool empty = m_chart->isEmpty();
  for (QWidget* w : std::initializer_list<QWidget*>{m_summary, m_round, m_sketch, m_x, m_y, m_formulas}) w->setVisible(!empty);
  if (!empty) return m_state->showContent();
  if (!m_services.hub.model())
    return m_state->showEmpty(tr("No network"), tr("Open a model and tune it with felix: how seeds go downhill in a task's schedule space stands here."),
                              m_services.actions.get(QStringLiteral("file.open")));
  const auto& entries = m_set->entries();
  if (std::any_of(entries.begin(), entries.end(), [](const auto& e) { return e.loading; })) return m_state->showEmpty(tr("Reading rounds…"), {});
  m_state->showEmpty(tr("No descent"), tr("The tuner felix goes downhill in a task's schedule space, once its model has learned from some trials; no round of this task and session did."),
                     m_services.actions.get(QStringLiteral("tune.start")));
}

}  // namespace tw::app
