// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/trial_model.h"

#include <QApplication>
#include <QBrush>
#include <QFont>
#include <algorithm>
#include <cmath>
#include <limits>

#include "widgets/common/format.h"
#include "widgets/common/in_background.h"
#include "widgets/theme/theme.h"
#include "widgets/tuning/status_text.h"

namespace tw::widgets {
namespace {

double sortKey(const TrialColumns& t, int row, int column) {
  switch (column) {
    case TrialModel::Result:
      return static_cast<double>(t.status(row));
    case TrialModel::Time:
    case TrialModel::VersusBest:
      return t.seconds(row);
    case TrialModel::Gflops:
      return t.ok(row) && t.seconds(row) > 0 ? t.flops() / t.seconds(row) : 0;
    case TrialModel::Config:
    case TrialModel::Knobs:
      return static_cast<double>(t.configIndex(row));
    case TrialModel::Predicted:
      return std::isnan(t.predicted(row)) ? -std::numeric_limits<double>::infinity() : static_cast<double>(t.predicted(row));
    case TrialModel::Build:
      return t.buildSeconds(row);
    case TrialModel::Run:
      return t.runSeconds(row);
    case TrialModel::When:
      return t.timestamp(row);
    default:
      return static_cast<double>(t.number(row));
  }
}

const std::string* sortText(const TrialColumns& t, int row, int column) {
  if (column == TrialModel::Space) return &t.space(row);
  return column == TrialModel::Message ? &t.message(row) : nullptr;
}

/// Rows that the query keeps, in order. Empty if stopped.
std::vector<int> arranged(const TrialColumns& t, TrialMatcher matcher, int column, Qt::SortOrder order, const std::stop_token& stop) {
  std::vector<int> rows;
  for (int row = 0; row < t.size(); ++row) {
    if (row % 4096 == 0 && stop.stop_requested()) return {};
    if (matcher(t, row)) rows.push_back(row);
  }
  if (rows.empty()) return rows;  // there may be no row to ask for its text
  const bool down = order == Qt::DescendingOrder;
  if (column == TrialModel::Number) {
    if (down) std::reverse(rows.begin(), rows.end());
    return rows;
  }
  if (sortText(t, 0, column)) {
    std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) {
      const int c = sortText(t, a, column)->compare(*sortText(t, b, column));
      return down ? c > 0 : c < 0;
    });
    return rows;
  }
  std::vector<std::pair<double, int>> keyed;
  keyed.reserve(rows.size());
  for (const int row : rows) keyed.emplace_back(down ? -sortKey(t, row, column) : sortKey(t, row, column), row);
  std::sort(keyed.begin(), keyed.end());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = keyed[i].second;
  return rows;
}

}  // namespace

TrialModel::TrialModel(QObject* parent) : QAbstractTableModel(parent), m_matcher(std::make_unique<TrialMatcher>(m_query, 0)) {}

TrialModel::~TrialModel() { m_stop.request_stop(); }

void TrialModel::setStore(TrialStorePtr store) {
  m_stop.request_stop();
  m_arranging = false;
  beginResetModel();
  m_store = std::move(store);
  m_rows.clear();
  m_seen = 0;
  endResetModel();
  arrange();
}

void TrialModel::setSpaces(SpaceMap spaces) {
  m_spaces = std::move(spaces);
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, Knobs), index(rowCount() - 1, Knobs));
}

void TrialModel::setQuery(const TrialQuery& query) {
  m_query = query;
  arrange();
}

void TrialModel::sort(int column, Qt::SortOrder order) {
  if (column < 0) return;
  m_sortColumn = column;
  m_sortOrder = order;
  arrange();
}

void TrialModel::arrange() {
  m_stop.request_stop();
  m_stop = {};
  m_seenBest = bestSeconds();
  m_matcher = std::make_unique<TrialMatcher>(m_query, m_seenBest);
  const bool was = m_arranging;
  if (!m_store || m_store->size() <= kAtOnce) {
    m_arranging = false;
    take(m_store ? arranged(*m_store, *m_matcher, m_sortColumn, m_sortOrder, {}) : std::vector<int>(), m_store ? m_store->size() : 0);
  } else {
    m_arranging = true;
    const auto work = [snapshot = TrialColumns(*m_store), matcher = *m_matcher, column = m_sortColumn, order = m_sortOrder, stop = m_stop.get_token()] {
      return arranged(snapshot, matcher, column, order, stop);
    };
    inBackground(this, work, [this, seen = m_store->size(), stop = m_stop.get_token()](std::vector<int> rows) {
      if (stop.stop_requested()) return;
      m_arranging = false;
      take(std::move(rows), seen);
      Q_EMIT arrangingChanged();
    });
  }
  if (was != m_arranging || m_arranging) Q_EMIT arrangingChanged();
}

void TrialModel::take(std::vector<int> rows, int seen) {
  m_seen = seen;
  if (rows != m_rows) {
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
  }
  sync();
}

void TrialModel::sync() {
  if (!m_store || m_arranging || m_store->size() == m_seen) return;
  if (m_query.usesBest() && bestSeconds() != m_seenBest) return arrange();
  std::vector<int> fresh;
  for (; m_seen < m_store->size(); ++m_seen) {
    if ((*m_matcher)(*m_store, m_seen)) fresh.push_back(m_seen);
  }
  if (fresh.empty()) return;
  if (m_sortColumn != Number || m_sortOrder != Qt::AscendingOrder) return insertSorted(fresh);
  beginInsertRows({}, rowCount(), rowCount() + static_cast<int>(fresh.size()) - 1);
  m_rows.insert(m_rows.end(), fresh.begin(), fresh.end());
  endInsertRows();
}

bool TrialModel::isBefore(int a, int b) const {
  const bool down = m_sortOrder == Qt::DescendingOrder;
  if (const std::string* x = sortText(*m_store, a, m_sortColumn)) {
    const int c = x->compare(*sortText(*m_store, b, m_sortColumn));
    return down ? c > 0 : c < 0;
  }
  const double x = sortKey(*m_store, a, m_sortColumn), y = sortKey(*m_store, b, m_sortColumn);
  return down ? x > y : x < y;
}

void TrialModel::insertSorted(const std::vector<int>& fresh) {
  for (const int row : fresh) {
    const auto at = std::upper_bound(m_rows.begin(), m_rows.end(), row, [this](int a, int b) { return isBefore(a, b); });
    const int place = static_cast<int>(at - m_rows.begin());
    beginInsertRows({}, place, place);
    m_rows.insert(at, row);
    endInsertRows();
  }
}

int TrialModel::rowOfNumber(qint64 number) const {
  const int wanted = m_store ? m_store->rowOf(number) : -1;
  if (wanted < 0) return -1;
  if (m_sortColumn == Number) {
    const bool down = m_sortOrder == Qt::DescendingOrder;
    const auto at = std::lower_bound(m_rows.begin(), m_rows.end(), wanted, [down](int a, int b) { return down ? a > b : a < b; });
    return at != m_rows.end() && *at == wanted ? static_cast<int>(at - m_rows.begin()) : -1;
  }
  const auto at = std::find(m_rows.begin(), m_rows.end(), wanted);
  return at == m_rows.end() ? -1 : static_cast<int>(at - m_rows.begin());
}

int TrialModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_rows.size()); }

int TrialModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

double TrialModel::bestSeconds() const {
  return m_store && !m_store->improvements().empty() ? m_store->improvements().back().seconds : std::numeric_limits<double>::infinity();
}

namespace {

std::vector<std::pair<QString, QString>> namedKnobs(const TrialColumns& trials, int row, const SpaceMap& spaces) {
  const TrialColumns::KnobLayout& layout = trials.layout(trials.layoutId(row));
  std::vector<std::pair<QString, QString>> knobs;
  for (size_t k = 0; k < layout.names.size(); ++k) {
    const std::string& text = trials.text(trials.knobValueId(row, k));
    space::Knob knob;
    knob.kind = layout.kinds[k];
    knob.axes = axesOf(spaces, std::string(trials.space(row)), layout.names[k]);
    const auto value = knobValueOf(knob.kind, text);
    knobs.emplace_back(QString::fromStdString(layout.names[k]), value ? knobValueText(knob, *value) : QString::fromStdString(text));
  }
  return knobs;
}

}  // namespace

QString TrialModel::text(int row, int column) const {
  const TrialStore& s = *m_store;
  switch (column) {
    case Number:
      return countText(s.number(row));
    case Session:
      return QStringLiteral("%1 / %2").arg(s.session(row).value).arg(s.numberInSession(row));
    case Result:
      return statusGlyph(s.status(row)) + QLatin1Char(' ') + statusText(s.status(row));
    case Time:
      return s.timed(row) ? (s.censored(row) ? QString(QChar(0x2265)) : QString()) + secondsText(s.seconds(row)) : dashText();
    case Gflops:
      return gflopsText(s.flops(), s.seconds(row));
    case VersusBest:
      return s.timed(row) ? numberText(s.seconds(row) / bestSeconds(), 3) : dashText();
    case Config:
      return s.configIndex(row) < 0 ? QString(QChar(0x2014)) : countText(s.configIndex(row));
    case Space:
      return QString::fromStdString(s.space(row));
    case Knobs: {
      if (s.layoutId(row) != TrialStore::kNoLayout) return knobsText(namedKnobs(s, row, m_spaces));
      const auto space = m_spaces.find(s.space(row));
      return space == m_spaces.end() ? QString() : pointText(*space->second, s.configIndex(row));
    }
    case Predicted:
      return numberText(static_cast<double>(s.predicted(row)), 3);
    case Build:
      return numberText(s.buildSeconds(row) * 1e3, 3);
    case Run:
      return numberText(s.runSeconds(row) * 1e3, 3);
    case When:
      return timeText(s.timestamp(row));
    case Message:
      return QString::fromStdString(s.message(row));
    default:
      return {};
  }
}

QVariant TrialModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const int row = storeRow(index.row()), column = index.column();
  const bool isBest = !m_store->improvements().empty() && m_store->improvements().back().row == row;
  switch (role) {
    case Qt::DisplayRole:
      return text(row, column);
    case Qt::ToolTipRole:
      if (column == Knobs) return text(row, Knobs).toHtmlEscaped().replace(QStringLiteral("  "), QStringLiteral("<br>"));
      return column == Message || column == Result ? QString::fromStdString(m_store->message(row)).toHtmlEscaped() : QVariant();
    case Qt::TextAlignmentRole:
      return column == Result || column == Space || column == Knobs || column == Message ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
                                                                                         : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      if (!m_store->ok(row) && (column == Result || column == Message)) return QBrush(themeOf(QApplication::palette()).error);
      return {};
    case Qt::FontRole:
      if (isBest) {
        QFont font;
        font.setBold(true);
        return font;
      }
      return {};
    default:
      return {};
  }
}

void TrialModel::setTimes(TimeKind kind) {
  if (kind == m_times) return;
  m_times = kind;
  Q_EMIT headerDataChanged(Qt::Horizontal, Time, Gflops);
}

QVariant TrialModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::ToolTipRole) {
    switch (section) {
      case Session:
        return tr("The session of the trial and its number there");
      case VersusBest:
        return tr("Time of this trial divided by the best so far");
      case Config:
        return tr("Position in the configuration space");
      case Predicted:
        return tr("Score that the tuner's cost model gave before the trial, higher is better; only scores of one model can be compared");
      case Time:
        return withTimeKind(tr("Fastest sample, or what the finals decided; ≥ marks trials that were stopped early as clearly slower"), m_times);
      default:
        return {};
    }
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Number:
      return tr("#");
    case Session:
      return tr("Session");
    case Result:
      return tr("Result");
    case Time:
      return tr("Time");
    case Gflops:
      return tr("GFLOP/s");
    case VersusBest:
      return tr("÷ best");
    case Config:
      return tr("Config");
    case Space:
      return tr("Space");
    case Knobs:
      return tr("Knobs");
    case Predicted:
      return tr("Predicted");
    case Build:
      return tr("Build [ms]");
    case Run:
      return tr("Run [ms]");
    case When:
      return tr("When");
    case Message:
      return tr("Message");
    default:
      return {};
  }
}

}  // namespace tw::widgets
