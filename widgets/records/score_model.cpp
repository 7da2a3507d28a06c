// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/score_model.h"

#include <algorithm>
#include <cmath>

#include "widgets/common/format.h"

namespace tw::widgets {

void ScoreModel::setTrials(std::vector<ScoredTrial> trials) {
  const auto same = [](const ScoredTrial& a, const ScoredTrial& b) { return a.number == b.number; };
  const size_t old = m_trials.size();
  const bool grew = old > 0 && trials.size() >= old && std::equal(m_trials.begin(), m_trials.end(), trials.begin(), same);
  if (!grew) {
    beginResetModel();
    m_trials = std::move(trials);
    return endResetModel();
  }
  const int added = static_cast<int>(trials.size() - old);
  if (added > 0) beginInsertRows({}, 0, added - 1);
  m_trials = std::move(trials);
  if (added > 0) endInsertRows();
  // Finals change times.
  Q_EMIT dataChanged(index(added, 0), index(rowCount() - 1, ColumnCount - 1));
}

int ScoreModel::rowOf(int64_t number) const {
  const auto at = std::lower_bound(m_trials.begin(), m_trials.end(), number, [](const ScoredTrial& t, int64_t n) { return t.number < n; });
  return at == m_trials.end() || at->number != number ? -1 : static_cast<int>(m_trials.end() - at) - 1;
}

QVariant ScoreModel::data(const QModelIndex& index, int role) const {
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  const ScoredTrial& t = trial(index.row());
  if (role == Qt::ToolTipRole && index.column() == Time && t.upper_bound) return tr("Stopped early as clearly slow: at least so long");
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case Trial:
      return countText(t.of_session);
    case Round:
      return countText(t.round);
    case Draft:
      return std::isnan(t.draft) ? dashText() : numberText(t.draft, 4);
    case Verified:
      return std::isnan(t.score) ? dashText() : numberText(t.score, 4);
    default:
      return t.failed ? tr("failed") : secondsText(t.seconds);
  }
}

QVariant ScoreModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  static const char* const kTitles[] = {QT_TR_NOOP("Trial"), QT_TR_NOOP("Round"), QT_TR_NOOP("Draft"), QT_TR_NOOP("Verified"), QT_TR_NOOP("Time")};
  static const char* const kHelp[] = {QT_TR_NOOP("Number of the trial in its session"), QT_TR_NOOP("The round that measured it"),
                                      QT_TR_NOOP("What the draft's formula said of the candidate; higher is better"),
                                      QT_TR_NOOP("What the model said of it, which chooses among the drafts; higher is better"), QT_TR_NOOP("What it then took")};
  if (role == Qt::DisplayRole) return tr(kTitles[section]);
  return role == Qt::ToolTipRole ? QVariant(tr(kHelp[section])) : QVariant();
}

}  // namespace tw::widgets
