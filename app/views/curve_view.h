// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

class QComboBox;
class QLabel;

namespace tw::widgets {
class CurveChart;
class EmptyState;
}  // namespace tw::widgets

namespace tw::app {

/// The live tuning curve of the selected task.
class CurveView : public QWidget {
  Q_OBJECT
 public:
  explicit CurveView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new CurveView(services, parent); }
  widgets::CurveChart* chart() { return m_chart; }

 private:
  void showStore();
  void showGrowth();
  Services& m_services;
  widgets::CurveChart* m_chart;
  widgets::EmptyState* m_state;
  QComboBox* m_unit;
  QLabel* m_summary;
};

}  // namespace tw::app
