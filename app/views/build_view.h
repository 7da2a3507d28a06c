// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"
#include "engine/api/network_finals.h"

class QLabel;
class QTabWidget;
class QTreeWidget;

namespace tw::widgets {
class ArenaChart;
class EmptyState;
class ErrorLabel;
}  // namespace tw::widgets

namespace tw::app {

/// The network as it is built: which record each kernel comes from, what it takes alone and in its place, the plan of its memory; its time as it ran and whether its
/// results are right; and how it does beside the default schedules.
class BuildView : public QWidget {
  Q_OBJECT
 public:
  explicit BuildView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new BuildView(services, parent); }

 private:
  QWidget* makeBar();
  void show();
  void showKernels();
  void showMemory();
  void showRun(const OpenModelPtr& model, const api::NetworkFinals& finals);
  /// What the selected node's call makes, and the selected task's row.
  void showSelection();
  QString runText() const;
  void showRan();
  Services& m_services;
  QLabel *m_summary = nullptr, *m_ran = nullptr, *m_run = nullptr;
  widgets::ErrorLabel* m_wrong = nullptr;  ///< that its results are not the reference's
  QTabWidget* m_tabs;
  QTreeWidget* m_kernels;
  widgets::ArenaChart* m_memory;
  widgets::EmptyState* m_state;
  std::optional<api::NetworkFinals> m_finals;  ///< of the open model
};

}  // namespace tw::app
