// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/rounds_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/round_set.h"
#include "app/services/session_set.h"
#include "app/services/trial_service.h"
#include "engine/space/sketch/mutate.h"
#include "widgets/charts/round_chart.h"
#include "widgets/charts/score_chart.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/table_view.h"
#include "widgets/records/score_model.h"

namespace tw::app {
namespace {

/// Rounds of small tasks end many times a second; a picture is drawn of some of them.
constexpr int kRoundsMs = 200;
constexpr const char* kTermsKey = "rounds/terms";
/// In the list of terms, after those of widgets::RoundTerms: candidates, one by one.
constexpr int kScores = static_cast<int>(widgets::RoundTerms::order) + 1;

}  // namespace

RoundsView::RoundsView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_set(new RoundSet(services.hub, services.workspace, services.tuning, this)),
      m_pages(new QStackedWidget(this)),
      m_chart(new widgets::RoundChart(this)),
      m_scores(new widgets::ScoreChart(this)),
      m_scoreModel(new widgets::ScoreModel(this)),
      m_terms(new QComboBox(this)),
      m_summary(new widgets::ElidedLabel(this)) {
  m_summary->setObjectName(QStringLiteral("label.rounds.summary"));
  m_terms->setObjectName(QStringLiteral("combo.rounds.terms"));
  m_terms->setAccessibleName(tr("What of the rounds is shown"));
  m_terms->setToolTip(m_terms->accessibleName());
  m_terms->addItems({tr("expected gain by task"), tr("candidates by origin"), tr("children by mutation"), tr("new schedules by generation"), tr("fits of the model"), tr("how well scores order"), tr("scores of each candidate")});
  m_terms->setCurrentIndex(std::clamp(QSettings().value(QLatin1String(kTermsKey), 0).toInt(), 0, m_terms->count() - 1));
  connect(m_terms, &QComboBox::currentIndexChanged, this, [this](int i) {
    QSettings().setValue(QLatin1String(kTermsKey), i);
    showRounds();
  });
  m_pages->addWidget(m_chart);
  m_pages->addWidget(makeScores());
  m_state = new widgets::EmptyState(m_pages, this);
  auto* bar = new QWidget(this);
  auto* line = new QHBoxLayout(bar);
  line->setContentsMargins(6, 2, 6, 0);
  line->addWidget(m_summary, 1);
  line->addWidget(m_terms);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addWidget(bar);
  box->addWidget(m_state, 1);
  m_growth.setSingleShot(true);
  m_growth.setInterval(kRoundsMs);
  connect(&m_growth, &QTimer::timeout, this, &RoundsView::showRounds);
  const auto grow = [this] {
    if (!m_growth.isActive()) m_growth.start();
  };
  connect(m_set, &RoundSet::changed, this, grow);
  for (const auto signal : {&TrialService::storeChanged, &TrialService::storeGrew}) {
    connect(&services.trials, signal, this, [this, grow] {
      if (isVisible() && m_terms->currentIndex() == kScores) grow();
    });
  }
  connect(&services.trials, &TrialService::selectionChanged, this, &RoundsView::showTrial);
  connect(m_scores, &widgets::ScoreChart::trialActivated, this, [this](qint64 number) { m_services.trials.choose(number); });
  connect(m_scoreTable->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& row) {
    if (!m_quiet && row.isValid()) m_services.trials.choose(m_scoreModel->trial(row.row()).number);
  });
  connect(m_chart, &widgets::RoundChart::roundActivated, this, [this](qint64 number) {
    m_chart->setSelectedRound(number);
    m_summary->setText(m_chart->summary());
  });
  showRounds();
}

QWidget* RoundsView::makeScores() {
  auto* split = new QSplitter(this);
  split->setObjectName(QStringLiteral("splitter.rounds.scores"));
  split->setChildrenCollapsible(false);
  m_scoreTable = new QTreeView(split);
  m_scoreTable->setModel(m_scoreModel);
  m_scoreTable->setObjectName(QStringLiteral("table.rounds.scores"));
  m_scoreTable->setAccessibleName(tr("Scores of candidates"));
  widgets::setUpTable(m_scoreTable);
  const int widths[] = {50, 56, 66, 70, 78};
  for (int c = 0; c < widgets::ScoreModel::ColumnCount; ++c) m_scoreTable->header()->resizeSection(c, widths[c]);
  split->addWidget(m_scores);
  split->addWidget(m_scoreTable);
  split->setStretchFactor(0, 1);
  split->setStretchFactor(1, 0);
  split->setSizes({520, 350});
  return split;
}

void RoundsView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_set->setActive(true);
}

void RoundsView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_set->setActive(false);
}

void RoundsView::showRounds() {
  m_pages->setCurrentIndex(m_terms->currentIndex() == kScores ? 1 : 0);
  if (m_terms->currentIndex() == kScores) return showScores();
  const RoundSet::Entry* own = m_set->nearest();
  const auto terms = static_cast<widgets::RoundTerms>(m_terms->currentIndex());
  std::map<std::string, QString> names{{widgets::kOtherTerms, tr("others")}, {"sketch", tr("drawn from a sketch")}, {"template", tr("points of templates")}, {"measured", tr("measured before")},
                                       {"crossover", tr("crossover")},
                                       {"loss", tr("loss")},
                                       {"learning_rate", tr("learning rate")},
                                       {"momentum", tr("momentum")},
                                       {"draft", tr("draft's scores")},
                                       {"model", tr("model's scores")}};
  for (const space::MutationRule& rule : space::mutation_rules()) names[rule.name] = tr("mutation: %1").arg(QString::fromUtf8(rule.name).replace(QLatin1Char('_'), QLatin1Char(' ')));
  if (terms == widgets::RoundTerms::population)
    for (int g = 0; g < 100; ++g) names[std::to_string(g)] = g == 0 ? tr("drawn and elites") : tr("generation %1").arg(g);
  if (const auto& model = m_services.hub.model())
    for (size_t t = 0; t < model->tasks.size(); ++t) names[model->tasks[t].task.key] = QStringLiteral("T%1").arg(t + 1);
  const bool rounds = own != nullptr && !own->rounds.empty();
  m_chart->setStack(terms, rounds ? widgets::round_stack(own->rounds, terms) : widgets::RoundStack(), std::move(names));
  m_summary->setText(m_chart->summary());
  m_summary->setVisible(!m_chart->isEmpty());
  showState(rounds, terms);
}

void RoundsView::showScores() {
  const RoundSet::Entry* own = m_set->nearest();
  const records::Task* task = m_services.hub.taskValue();
  const auto& store = m_services.trials.store();
  std::vector<widgets::ScoredTrial> trials;
  if (own != nullptr && task && store) trials = widgets::scored_trials(own->rounds, task->key, own->row.id, *store);
  m_quiet = true;
  m_scoreModel->setTrials(trials);
  m_quiet = false;
  // Who has no drafts, or no model, has one column.
  const auto nobody = [&trials](double widgets::ScoredTrial::*score) { return std::all_of(trials.begin(), trials.end(), [score](const auto& t) { return std::isnan(t.*score); }); };
  m_scoreTable->setColumnHidden(widgets::ScoreModel::Draft, nobody(&widgets::ScoredTrial::draft));
  m_scoreTable->setColumnHidden(widgets::ScoreModel::Verified, nobody(&widgets::ScoredTrial::score));
  m_scores->setTrials(std::move(trials), store ? store->flops() : 0);
  m_summary->setText(m_scores->summary());
  m_summary->setVisible(!m_scores->isEmpty());
  showTrial();
  if (!m_scores->isEmpty()) return m_state->showContent();
  if (!task) return showState(false, {});
  m_state->showEmpty(tr("No scores"), tr("No candidate of T%1 was judged before it was measured in this session. Tuners with a cost model do: pruner drafts by a formula and verifies by a model, xgb and ansor ask a model.")
                                          .arg(m_services.hub.task() + 1));
}

void RoundsView::showTrial() {
  if (m_terms->currentIndex() != kScores) return;
  const qint64 number = m_services.trials.selected();
  m_scores->setSelectedTrial(number);
  const int row = m_scoreModel->rowOf(number);
  m_quiet = true;
  m_scoreTable->setCurrentIndex(row < 0 ? QModelIndex() : m_scoreModel->index(row, 0));
  m_quiet = false;
}

void RoundsView::showState(bool rounds, widgets::RoundTerms terms) {
  if (!m_chart->isEmpty() && m_terms->currentIndex() != kScores) return m_state->showContent();
  if (!m_services.hub.model())
    return m_state->showEmpty(tr("No network"), tr("Open a model and tune its tasks: why each round went where it did stands here."), m_services.actions.get(QStringLiteral("file.open")));
  if (rounds)
    return m_state->showEmpty(tr("Nothing to show"), m_terms->currentIndex() == 0
                                                         ? tr("The scheduler of this session weighs no terms, or has not begun to: the scheduler gradient does, after a first round of every task.")
                                                         : widgets::are_curves(terms) ? tr("No round of this session fitted a neural model, or measured enough of what was scored: the tuners pruner and moa-pruner do.")
                                                         : tr("The tuner of this session breeds no schedules: the tuner ansor does."));
  const auto& entries = m_set->entries();
  if (std::any_of(entries.begin(), entries.end(), [](const auto& e) { return e.loading; })) return m_state->showEmpty(tr("Reading rounds…"), {});
  m_state->showEmpty(tr("No rounds"), tr("Start a session to see why each of its rounds went where it did."), m_services.actions.get(QStringLiteral("tune.start")));
}

}  // namespace tw::app
