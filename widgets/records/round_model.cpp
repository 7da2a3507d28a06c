// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/round_model.h"

#include <algorithm>

#include "engine/base/json.h"
#include "widgets/common/format.h"

namespace tw::widgets {
namespace {

QString whyOf(const records::Round& round) {
  const auto decision = parse_json(round.decision);
  if (!decision || !decision->is_object()) return {};
  const auto why = decision->find("why");
  return why != decision->end() && why->is_string() ? QString::fromStdString(why->get<std::string>()) : QString();
}

/// The scheduler's numbers, a line each.
QString termsOf(const records::Round& round) {
  QStringList lines{whyOf(round)};
  if (const auto decision = parse_json(round.decision); decision && decision->is_object()) {
    for (const auto& [name, value] : decision->items()) {
      if (name != "why" && name != "search") lines << QString::fromStdString(name + ": " + dump_json(value));
    }
  }
  return QStringLiteral("<qt>%1</qt>").arg(lines.join(QLatin1Char('\n')).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")));
}

}  // namespace

void RoundModel::setRounds(SessionId session, const std::vector<records::Round>& rounds, std::map<std::string, QString> tasks) {
  const size_t old = m_rounds.size();
  const bool grew = session == m_session && old > 0 && rounds.size() >= old && rounds.front().number == m_rounds.front().number &&
                    rounds[old - 1].number == m_rounds.back().number && tasks == m_tasks;
  if (!grew) {
    beginResetModel();
    m_session = session, m_rounds = rounds, m_tasks = std::move(tasks);
    return endResetModel();
  }
  const int added = static_cast<int>(rounds.size() - old);
  if (added > 0) beginInsertRows({}, 0, added - 1);
  m_rounds = rounds;
  if (added > 0) endInsertRows();
  // One that was cut off may have become whole.
  Q_EMIT dataChanged(index(added, 0), index(added, ColumnCount - 1));
}

int RoundModel::rowOf(int64_t number) const {
  const auto at = std::lower_bound(m_rounds.begin(), m_rounds.end(), number, [](const records::Round& r, int64_t n) { return r.number < n; });
  return at == m_rounds.end() || at->number != number ? -1 : static_cast<int>(m_rounds.end() - at) - 1;
}

QVariant RoundModel::data(const QModelIndex& index, int role) const {
  const records::Round& r = round(index.row());
  if (role == Qt::ToolTipRole) return index.column() == Trials ? tr("%1 of %2 asked for").arg(r.trials).arg(r.planned) : termsOf(r);
  if (role == Qt::TextAlignmentRole && index.column() != Task && index.column() != Why) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case Number:
      return countText(r.number);
    case Task: {
      const auto name = m_tasks.find(r.task_key);
      return name == m_tasks.end() ? QString::fromStdString(r.task_key.substr(0, 8)) : name->second;
    }
    case Why:
      return whyOf(r);
    case Trials:
      return countText(r.trials);
    case Best:
      return secondsText(r.best_s);
    case Network:
      return secondsText(r.network_s);
    default:
      return {};
  }
}

QVariant RoundModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  static const char* const kTitles[] = {QT_TR_NOOP("Round"), QT_TR_NOOP("Task"), QT_TR_NOOP("Trials"), QT_TR_NOOP("Best"), QT_TR_NOOP("Network"), QT_TR_NOOP("Why")};
  static const char* const kHelp[] = {QT_TR_NOOP("Number of the round in its session"),
                                      QT_TR_NOOP("The task that the scheduler gave the round to"),
                                      QT_TR_NOOP("Trials of the round"),
                                      QT_TR_NOOP("Best time of the task after the round"),
                                      QT_TR_NOOP("Estimated time of the network after the round: the sum of weight \u00d7 best over the session's tasks"),
                                      QT_TR_NOOP("Why this task; the scheduler's numbers stand in the tooltip of each row")};
  if (section < 0 || section >= ColumnCount) return {};
  if (role == Qt::DisplayRole) return tr(kTitles[section]);
  return role == Qt::ToolTipRole ? QVariant(tr(kHelp[section])) : QVariant();
}

}  // namespace tw::widgets
