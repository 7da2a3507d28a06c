// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/device_model.h"

#include <algorithm>

#include "widgets/common/format.h"

namespace tw::widgets {
namespace {

bool isText(int column) {
  switch (column) {
    case DeviceModel::Device:
    case DeviceModel::Kind:
    case DeviceModel::State:
    case DeviceModel::Trial:
    case DeviceModel::Failures:
    case DeviceModel::Target:
      return true;
    default:
      return false;
  }
}

QString newest(const QList<double>& series, double unit) { return series.isEmpty() || series.back() <= 0 ? dashText() : numberText(series.back() / unit, 3); }

}  // namespace

void DeviceModel::setDevices(std::vector<DeviceRow> devices) {
  const bool same = std::equal(devices.begin(), devices.end(), m_devices.begin(), m_devices.end(),
                               [](const DeviceRow& a, const DeviceRow& b) { return a.device == b.device && a.kind == b.kind; });
  if (!same) beginResetModel();
  m_devices = std::move(devices);
  if (!same) return endResetModel();
  if (!m_devices.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

QString DeviceModel::text(const DeviceRow& d, int column) const {
  switch (column) {
    case Device:
      return d.device;
    case Kind:
      return d.kind;
    case State:
      return d.state;
    case Trial:
      return d.trial.isEmpty() ? dashText() : d.trial;
    case Rate:
      return d.perSecond < 0 ? dashText() : numberText(d.perSecond, 3);
    case Measured:
      return countText(d.measured);
    case Failures:
      return d.failures.isEmpty() ? dashText() : d.failures;
    case Arithmetic:
      return newest(d.arithmetic, 1e9);
    case Memory:
      return newest(d.memory, 1e9);
    case Temperature:
      return d.temperature > 0 ? numberText(d.temperature, 3) : dashText();
    case Clock:
      return d.clock > 0 ? numberText(d.clock / 1e9, 3) : dashText();
    case ToSend:
      return countText(d.toSend);
    case FreeDisk:
      return d.freeBytes > 0 ? bytesText(d.freeBytes) : dashText();
    default:
      return d.target;
  }
}

QVariant DeviceModel::data(const QModelIndex& index, int role) const {
  const DeviceRow& d = m_devices[static_cast<size_t>(index.row())];
  const int column = index.column();
  if (role == SeriesRole) return column == Arithmetic ? QVariant::fromValue(d.arithmetic) : column == Memory ? QVariant::fromValue(d.memory) : QVariant();
  if (role == Qt::TextAlignmentRole) return isText(column) ? QVariant() : QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole && isText(column)) return text(d, column).toHtmlEscaped();  // what is long is cut
  return role == Qt::DisplayRole ? QVariant(text(d, column)) : QVariant();
}

QVariant DeviceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  static const char* const kTitles[] = {QT_TR_NOOP("Device"),     QT_TR_NOOP("Kind"),           QT_TR_NOOP("State"),         QT_TR_NOOP("Measures"),    QT_TR_NOOP("Trials/s"),
                                        QT_TR_NOOP("Measured"),   QT_TR_NOOP("Failures"),       QT_TR_NOOP("GFLOP/s"), QT_TR_NOOP("GB/s"), QT_TR_NOOP("\u00b0C"),
                                        QT_TR_NOOP("GHz"),        QT_TR_NOOP("To send"),        QT_TR_NOOP("Free disk"),     QT_TR_NOOP("Target")};
  static const char* const kHelp[] = {QT_TR_NOOP("Name of the device"),
                                      QT_TR_NOOP("Devices of a kind are alike: sessions ask for a kind, and any of its devices measures"),
                                      QT_TR_NOOP("What it does; a device in quarantine takes no jobs, and says why"),
                                      QT_TR_NOOP("The trial that it is measuring"),
                                      QT_TR_NOOP("Trials a second since this view looks, the last four minutes at most"),
                                      QT_TR_NOOP("Trials since its agent began"),
                                      QT_TR_NOOP("Failed trials by kind, since its agent began"),
                                      QT_TR_NOOP("What its reference kernel of multiply-adds reaches on one core, and what it reached before: a device that falls behind itself is too hot or disturbed"),
                                      QT_TR_NOOP("What its reference kernel reads from memory in a second, and what it read before"),
                                      QT_TR_NOOP("Temperature of its hottest part"),
                                      QT_TR_NOOP("Clock of its first processor now"),
                                      QT_TR_NOOP("Results that it keeps because the queue did not take them yet"),
                                      QT_TR_NOOP("Free room on the disk of its folder"),
                                      QT_TR_NOOP("What code it runs")};
  if (role == Qt::DisplayRole) return tr(kTitles[section]);
  return role == Qt::ToolTipRole ? QVariant(tr(kHelp[section])) : QVariant();
}

}  // namespace tw::widgets
