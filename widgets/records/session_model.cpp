// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/session_model.h"

#include <algorithm>

#include "engine/base/json.h"
#include "widgets/common/format.h"
#include "widgets/records/time_kind.h"

namespace tw::widgets {

SessionModel::SessionModel(QObject* parent) : QAbstractTableModel(parent) {}

void SessionModel::setSessions(std::vector<db::SessionRow> sessions, std::map<int64_t, QString> modelNames) {
  beginResetModel();
  m_sessions = std::move(sessions);
  m_modelNames = std::move(modelNames);
  std::sort(m_sessions.begin(), m_sessions.end(), [](const auto& a, const auto& b) { return a.id.value > b.id.value; });
  endResetModel();
}

int SessionModel::rowOf(SessionId id) const {
  for (size_t i = 0; i < m_sessions.size(); ++i) {
    if (m_sessions[i].id == id) return static_cast<int>(i);
  }
  return -1;
}

void SessionModel::setCompared(const std::vector<SessionId>& sessions) {
  m_compared = sessions;
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, Id), index(rowCount() - 1, Id), {Qt::CheckStateRole});
}

bool SessionModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || index.row() >= rowCount() || index.column() != Id || role != Qt::CheckStateRole) return false;
  Q_EMIT compareToggled(session(index.row()).id, value.toInt() == Qt::Checked);
  return true;
}

Qt::ItemFlags SessionModel::flags(const QModelIndex& index) const {
  return QAbstractTableModel::flags(index) | (index.isValid() && index.column() == Id ? Qt::ItemIsUserCheckable : Qt::NoItemFlags);
}

int SessionModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_sessions.size()); }

int SessionModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant SessionModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const db::SessionRow& s = m_sessions[static_cast<size_t>(index.row())];
  if (role == Qt::TextAlignmentRole)
    return QVariant((index.column() == Id || index.column() == Trials || index.column() == Duration ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role == Qt::CheckStateRole && index.column() == Id)
    return static_cast<int>(std::find(m_compared.begin(), m_compared.end(), s.id) == m_compared.end() ? Qt::Unchecked : Qt::Checked);
  if (role == Qt::ToolTipRole && index.column() == Id) return tr("Tick sessions to put them side by side in Compare and Tuning curve").toHtmlEscaped();
  if (role == Qt::ToolTipRole) return QString::fromStdString(dump_json(s.options)).toHtmlEscaped();
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case Id:
      return QString::number(s.id.value);
    case Model: {
      const auto it = m_modelNames.find(s.model.value);
      return it == m_modelNames.end() ? QString() : it->second;
    }
    case Tuner:
      return QString::fromStdString(s.tuner);
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
      return s.ended_s > s.started_s ? durationText(s.ended_s - s.started_s) : QString(QChar(0x2014));
    case Target:
      return QString::fromStdString(s.target);
    default:
      return {};
  }
}

QVariant SessionModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case Id:
      return tr("#");
    case Model:
      return tr("Model");
    case Tuner:
      return tr("Tuner");
    case Times:
      return tr("Times");
    case State:
      return tr("State");
    case Trials:
      return tr("Trials");
    case Started:
      return tr("Started");
    case Duration:
      return tr("Duration");
    case Target:
      return tr("Target");
    default:
      return {};
  }
}

}  // namespace tw::widgets
