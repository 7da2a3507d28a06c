// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

class QComboBox;
class QStandardItemModel;
class QTreeView;

namespace tw::widgets {
class DeviceModel;
class ElidedLabel;
class EmptyState;
}  // namespace tw::widgets

namespace tw::app {

/// The devices of a farm: who measures what and how fast, how each of them is, and how many jobs wait.
class DevicesView : public QWidget {
  Q_OBJECT
 public:
  explicit DevicesView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new DevicesView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void showFarms();
  void showSurvey();
  void showQueues();
  void showState();

  Services& m_services;
  QComboBox* m_farm;
  widgets::ElidedLabel* m_summary;
  widgets::DeviceModel* m_model;
  QStandardItemModel* m_queues;
  QTreeView *m_table, *m_queueTable;
  widgets::EmptyState* m_state;
};

}  // namespace tw::app
