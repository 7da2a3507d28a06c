// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QList>
#include <QString>
#include <vector>

namespace tw::widgets {

/// One device of a farm as its table shows it. Numbers that are not known are 0, the rate negative.
struct DeviceRow {
  QString device, kind, state, trial, failures, target;
  double perSecond = -1;      ///< trials
  qint64 measured = 0, toSend = 0;
  double temperature = 0;     ///< in degrees Celsius
  double clock = 0;           ///< in Hz
  double freeBytes = 0;       ///< of its disk
  QList<double> arithmetic;   ///< what its reference kernels reached, in FLOP/s, the newest last
  QList<double> memory;       ///< and in bytes a second
};

/// The devices of a farm. Rows of the same devices change in place, so that a selection stays.
class DeviceModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Device, Kind, State, Trial, Rate, Measured, Failures, Arithmetic, Memory, Temperature, Clock, ToSend, FreeDisk, Target, ColumnCount };
  /// QList<double> of the columns Arithmetic and Memory: the curve beside the number.
  static constexpr int SeriesRole = Qt::UserRole + 1;

  using QAbstractTableModel::QAbstractTableModel;
  void setDevices(std::vector<DeviceRow> devices);

  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_devices.size()); }
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  QString text(const DeviceRow& d, int column) const;
  std::vector<DeviceRow> m_devices;
};

}  // namespace tw::widgets
