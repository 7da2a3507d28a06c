// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <map>
#include <string>

#include "app/views/view.h"
#include "engine/farm/messages.h"

class QAction;
class QComboBox;
class QStandardItemModel;
class QToolButton;
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
  void makeCommands();
  /// Which of them the device in focus can be told.
  void showCommands();
  void command(const std::string& name);
  const farm::Presence* current() const;

  Services& m_services;
  QComboBox* m_farm;
  widgets::ElidedLabel* m_summary;
  widgets::DeviceModel* m_model;
  QStandardItemModel* m_queues;
  QTreeView *m_table, *m_queueTable;
  widgets::EmptyState* m_state;
  QToolButton* m_tell;
  std::map<std::string, QAction*> m_commands;
};

}  // namespace tw::app
