// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/session_model.h"

#include <QDateTime>
#include <algorithm>
#include <cmath>

#include "engine/base/json.h"
#include "widgets/common/format.h"
#include "db/comparison.h"
#include "widgets/records/time_kind.h"

namespace tw::widgets {
namespace {

constexpr int kRightAligned[] = {SessionModel::Best, SessionModel::Trials, SessionModel::Seed, SessionModel::Duration};

bool isRightAligned(int column) { return std::find(std::begin(kRightAligned), std::end(kRightAligned), column) != std::end(kRightAligned); }

std::optional<int64_t> seedOf(const db::SessionRow& row) {
  if (!row.options.is_object() || !row.options.contains("seed") || !row.options["seed"].is_number()) return std::nullopt;
  return row.options["seed"].get<int64_t>();
}

/// By when it began: the time alone for one of today.
QString raceTitle(const std::string& race) {
  const QDateTime began = QDateTime::fromString(QString::fromStdString(race), Qt::ISODate);
  return began.isValid() ? SessionModel::tr("Race %1").arg(timeText(static_cast<double>(began.toSecsSinceEpoch()))) : SessionModel::tr("Race %1").arg(QString::fromStdString(race));
}

}  // namespace

SessionModel::SessionModel(QObject* parent) : QAbstractItemModel(parent) { build(); }

std::string SessionModel::raceOf(const db::SessionRow& row) {
  return row.options.is_object() && row.options.contains("race") && row.options["race"].is_string() ? row.options["race"].get<std::string>() : std::string();
}

void SessionModel::setSessions(std::vector<db::SessionRow> sessions, std::map<int64_t, QString> modelNames) {
  beginResetModel();
  m_sessions = std::move(sessions);
  m_modelNames = std::move(modelNames);
  build();
  endResetModel();
}

void SessionModel::setFacts(std::map<int64_t, Facts> facts) {
  // Positions depend on them where they are sorted by.
  const bool moves = m_sortColumn == Best || m_sortColumn == Task;
  if (moves) beginResetModel();
  m_facts = std::move(facts);
  if (moves) {
    build();
    endResetModel();
  } else {
    for (size_t n = 1; n < m_nodes.size(); ++n) tellOf(static_cast<int>(n));
  }
}

void SessionModel::tellOf(int node) {
  const int row = m_nodes[static_cast<size_t>(node)].row;
  Q_EMIT dataChanged(createIndex(row, 0, static_cast<quintptr>(node)), createIndex(row, ColumnCount - 1, static_cast<quintptr>(node)));
}

void SessionModel::setLive(SessionId id, int64_t trials, double best_s) {
  const QModelIndex at = indexOf(id);
  if (!at.isValid()) return;
  db::SessionRow& row = m_sessions[static_cast<size_t>(m_nodes[static_cast<size_t>(nodeOf(at))].session)];
  row.trials = trials;
  m_facts[id.value].best_s = best_s;
  for (int n = nodeOf(at); n > 0; n = m_nodes[static_cast<size_t>(n)].parent) tellOf(n);
}

int SessionModel::nodeUnder(int parent, const QString& title) {
  for (const int child : m_nodes[static_cast<size_t>(parent)].children) {
    const Node& node = m_nodes[static_cast<size_t>(child)];
    if (node.session < 0 && node.title == title) return child;
  }
  const auto added = static_cast<int>(m_nodes.size());
  m_nodes.push_back({title, -1, parent, 0, {}});
  m_nodes[static_cast<size_t>(parent)].children.push_back(added);
  return added;
}

void SessionModel::build() {
  m_nodes.assign(1, {});
  for (size_t s = 0; s < m_sessions.size(); ++s) {
    const db::SessionRow& row = m_sessions[s];
    int parent = 0;
    if (const std::string race = raceOf(row); !race.empty())
      parent = nodeUnder(nodeUnder(0, raceTitle(race)), QString::fromStdString(row.tuner));
    else if (!row.group.empty())
      parent = nodeUnder(0, QString::fromStdString(row.group));
    const auto node = static_cast<int>(m_nodes.size());
    m_nodes.push_back({{}, static_cast<int>(s), parent, 0, {}});
    m_nodes[static_cast<size_t>(parent)].children.push_back(node);
  }
  for (Node& node : m_nodes) {
    std::vector<std::pair<QVariant, int>> keyed;
    for (const int child : node.children) keyed.emplace_back(key(child, m_sortColumn), child);
    const auto before = [](const auto& a, const auto& b) { return QVariant::compare(a.first, b.first) == QPartialOrdering::Less; };
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) { return m_order == Qt::AscendingOrder ? before(a, b) : before(b, a); });
    for (size_t i = 0; i < keyed.size(); ++i) {
      node.children[i] = keyed[i].second;
      m_nodes[static_cast<size_t>(keyed[i].second)].row = static_cast<int>(i);
    }
  }
}

void SessionModel::sort(int column, Qt::SortOrder order) {
  m_sortColumn = column < 0 ? Id : column, m_order = column < 0 ? Qt::DescendingOrder : order;
  beginResetModel();
  build();
  endResetModel();
}

void SessionModel::collect(int node, std::vector<int>& sessions) const {
  const Node& n = m_nodes[static_cast<size_t>(node)];
  if (n.session >= 0) sessions.push_back(n.session);
  for (const int child : n.children) collect(child, sessions);
}

double SessionModel::bestOf(int session) const {
  const auto facts = m_facts.find(m_sessions[static_cast<size_t>(session)].id.value);
  return facts == m_facts.end() ? std::numeric_limits<double>::infinity() : facts->second.best_s;
}

QVariant SessionModel::key(int node, int column) const {
  std::vector<int> sessions;
  collect(node, sessions);
  if (sessions.empty()) return {};
  const db::SessionRow& first = m_sessions[static_cast<size_t>(sessions.front())];
  switch (column) {
    case Id: {
      int64_t newest = 0;
      for (const int s : sessions) newest = std::max(newest, m_sessions[static_cast<size_t>(s)].id.value);
      return QVariant::fromValue<qlonglong>(newest);
    }
    case Best: {
      double best = std::numeric_limits<double>::infinity();
      for (const int s : sessions) best = std::min(best, bestOf(s));
      return best;
    }
    case Trials: {
      qlonglong trials = 0;
      for (const int s : sessions) trials += m_sessions[static_cast<size_t>(s)].trials;
      return trials;
    }
    case Seed:
      return QVariant::fromValue<qlonglong>(seedOf(first).value_or(-1));
    case Started:
      return first.started_s;
    case Duration:
      return first.worked_s();
    default:
      return sessionText(first, sessions.front(), column);
  }
}

const db::SessionRow* SessionModel::session(const QModelIndex& index) const {
  const int s = index.isValid() ? m_nodes[static_cast<size_t>(nodeOf(index))].session : -1;
  return s < 0 ? nullptr : &m_sessions[static_cast<size_t>(s)];
}

QModelIndex SessionModel::indexOf(SessionId id) const {
  for (size_t n = 1; n < m_nodes.size(); ++n)
    if (m_nodes[n].session >= 0 && m_sessions[static_cast<size_t>(m_nodes[n].session)].id == id) return createIndex(m_nodes[n].row, 0, static_cast<quintptr>(n));
  return {};
}

std::vector<SessionId> SessionModel::sessionsUnder(const QModelIndex& index) const {
  std::vector<int> all;
  if (index.isValid()) collect(nodeOf(index), all);
  std::vector<SessionId> ids;
  for (const int s : all) ids.push_back(m_sessions[static_cast<size_t>(s)].id);
  return ids;
}

QString SessionModel::groupPath(const QModelIndex& index) const {
  QString path;
  for (int n = nodeOf(index); n > 0; n = m_nodes[static_cast<size_t>(n)].parent)
    if (m_nodes[static_cast<size_t>(n)].session < 0) path.prepend(m_nodes[static_cast<size_t>(n)].title + QLatin1Char('\n'));
  return session(index) ? QString() : path;
}

void SessionModel::setCompared(const std::vector<SessionId>& sessions) {
  m_compared = sessions;
  for (size_t n = 1; n < m_nodes.size(); ++n) {
    const QModelIndex at = createIndex(m_nodes[n].row, Id, static_cast<quintptr>(n));
    Q_EMIT dataChanged(at, at, {Qt::CheckStateRole});
  }
}

bool SessionModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || index.column() != Id) return false;
  if (role == Qt::EditRole && session(index)) {
    Q_EMIT renamed(session(index)->id, value.toString().simplified());
    return true;
  }
  if (role != Qt::CheckStateRole) return false;
  Q_EMIT compareToggled(sessionsUnder(index), value.toInt() == Qt::Checked);
  return true;
}

Qt::ItemFlags SessionModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
  if (index.column() == Id) flags |= Qt::ItemIsUserCheckable;
  if (index.column() == Id && session(index)) flags |= Qt::ItemIsEditable;
  return flags;
}

QModelIndex SessionModel::index(int row, int column, const QModelIndex& parent) const {
  const std::vector<int>& children = m_nodes[static_cast<size_t>(nodeOf(parent))].children;
  if (parent.column() > 0 || row < 0 || column < 0 || column >= ColumnCount || static_cast<size_t>(row) >= children.size()) return {};
  return createIndex(row, column, static_cast<quintptr>(children[static_cast<size_t>(row)]));
}

QModelIndex SessionModel::parent(const QModelIndex& index) const {
  const int above = index.isValid() ? m_nodes[static_cast<size_t>(nodeOf(index))].parent : 0;
  return above == 0 ? QModelIndex() : createIndex(m_nodes[static_cast<size_t>(above)].row, 0, static_cast<quintptr>(above));
}

int SessionModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(m_nodes[static_cast<size_t>(nodeOf(parent))].children.size());
}

QVariant SessionModel::groupText(const Node& node, const std::vector<int>& sessions, int column) const {
  switch (column) {
    case Id:
      return node.title;
    case Model:
    case Task:
    case Tuner: {
      const QVariant first = sessionText(m_sessions[static_cast<size_t>(sessions.front())], sessions.front(), column);
      QStringList all;
      for (const int s : sessions) all << sessionText(m_sessions[static_cast<size_t>(s)], s, column).toString();
      all.removeDuplicates();
      return all.size() == 1 ? first : column == Tuner ? QVariant(tr("%n tuner(s)", nullptr, static_cast<int>(all.size()))) : QVariant();
    }
    case Seed:
      return QString(QChar(0x00D7)) + QString::number(sessions.size());
    case Best: {
      std::vector<double> bests;
      for (const int s : sessions) bests.push_back(bestOf(s));
      // A tuner of a race is judged by its median, a race and a group by what they found.
      const double value = node.parent != 0 ? db::median_or_never(bests) : *std::min_element(bests.begin(), bests.end());
      return std::isfinite(value) ? (node.parent != 0 ? tr("median %1").arg(secondsText(value)) : secondsText(value)) : dashText();
    }
    case Trials: {
      int64_t trials = 0;
      for (const int s : sessions) trials += m_sessions[static_cast<size_t>(s)].trials;
      return countText(trials);
    }
    default:
      return {};
  }
}

QVariant SessionModel::sessionText(const db::SessionRow& s, int session, int column) const {
  const auto facts = m_facts.find(s.id.value);
  switch (column) {
    case Id:
      return s.name.empty() ? QString::number(s.id.value) : QStringLiteral("%1  %2").arg(s.id.value).arg(QString::fromStdString(s.name));
    case Model: {
      const auto it = m_modelNames.find(s.model.value);
      return it == m_modelNames.end() ? QString() : it->second;
    }
    case Task:
      return facts == m_facts.end() ? QString() : facts->second.task;
    case Tuner:
      return QString::fromStdString(s.tuner);
    case Seed: {
      const auto seed = seedOf(s);
      return seed ? QString::number(*seed) : dashText();
    }
    case Best:
      return std::isfinite(bestOf(session)) ? secondsText(bestOf(session)) : dashText();
    case Times:
      return timeKindText(s.kind);
    case State:
      if (s.state == "running") return tr("running");
      if (s.state == "done") return tr("done");
      if (s.state == "cancelled") return tr("cancelled");
      if (s.state == "interrupted") return tr("interrupted");
      return QString::fromStdString(s.state);
    case Trials:
      return countText(s.trials);
    case Started:
      return timeText(s.started_s);
    case Duration:
      return s.worked_s() > 0 ? durationText(s.worked_s()) : dashText();
    case Target:
      return QString::fromStdString(s.target);
    default:
      return {};
  }
}

QVariant SessionModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Node& node = m_nodes[static_cast<size_t>(nodeOf(index))];
  if (role == Qt::TextAlignmentRole) return QVariant((isRightAligned(index.column()) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role == Qt::CheckStateRole && index.column() == Id) {
    const std::vector<SessionId> under = sessionsUnder(index);
    const auto ticked = std::count_if(under.begin(), under.end(), [&](SessionId id) { return std::find(m_compared.begin(), m_compared.end(), id) != m_compared.end(); });
    return static_cast<int>(ticked == 0 ? Qt::Unchecked : ticked == static_cast<std::ptrdiff_t>(under.size()) ? Qt::Checked : Qt::PartiallyChecked);
  }
  const db::SessionRow* s = session(index);
  if (role == Qt::EditRole && s && index.column() == Id) return QString::fromStdString(s->name);
  if (role == Qt::ToolTipRole) {
    if (index.column() == Id) return tr("Tick sessions to put them side by side in Compare and Tuning curve").toHtmlEscaped();
    if (index.column() == Best && s && m_facts.contains(s->id.value) && m_facts.at(s->id.value).ofNetwork)
      return tr("The network's estimated time when the session ended: every task's best time, as often as the network runs it").toHtmlEscaped();
    return s ? QString::fromStdString(dump_json(s->options)).toHtmlEscaped() : QString();
  }
  if (role != Qt::DisplayRole) return {};
  if (s) return sessionText(*s, node.session, index.column());
  std::vector<int> sessions;
  collect(nodeOf(index), sessions);
  return groupText(node, sessions, index.column());
}

QVariant SessionModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole)) return {};
  const bool help = role == Qt::ToolTipRole;
  switch (section) {
    case Id:
      return help ? tr("Number of the session and the name that you gave it; ticked ones are compared") : tr("Session");
    case Model:
      return help ? tr("The network that was tuned") : tr("Model");
    case Task:
      return help ? tr("What was tuned: one task of the network, or how many") : tr("Task");
    case Tuner:
      return help ? tr("The search strategy that proposed the trials") : tr("Tuner");
    case Seed:
      return help ? tr("Of the random numbers: the same seed asks for the same trials") : tr("Seed");
    case Best:
      return help ? tr("Best time found: of the task, or of the whole network by estimate; of a tuner in a race the median over its seeds") : tr("Best");
    case Times:
      return help ? tr("Whether times were measured here, are those of a formula, of recorded trials, or what a log says") : tr("Times");
    case State:
      return help ? tr("Whether it ended by itself, was stopped, or was cut off and can go on") : tr("State");
    case Trials:
      return help ? tr("Candidates that were built and run") : tr("Trials");
    case Started:
      return help ? tr("When it began") : tr("Started");
    case Duration:
      return help ? tr("From its beginning to its end, pauses included") : tr("Duration");
    case Target:
      return help ? tr("What the kernels are for") : tr("Target");
    default:
      return {};
  }
}

}  // namespace tw::widgets
